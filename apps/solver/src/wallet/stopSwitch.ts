import type { SqlDatabase, SqlTx } from '@causeway/core'
import { acceptExposure } from './exposure.ts'

export type StopState = { readonly isStopped: boolean; readonly reason: string | undefined }

/** A line of the audit: somebody used the switch, said `go`, or restored the database. */
export type StopDeed = {
  readonly at: Date
  readonly actor: string
  readonly action: 'stop' | 'resume' | 'go' | 'restore'
  readonly outcome: 'done' | 'unchanged'
  readonly reason: string
}

/** The operator's switch, one row of the database: while it is thrown, no process of this solver signs anything new. */
export interface StopSwitch {
  read(): Promise<StopState>
  /** Throws or releases the switch, and writes the audit in the same transaction. @param state.actor `cli:<account>` */
  set(state: { readonly isStopped: boolean; readonly reason: string; readonly actor: string }): Promise<void>
  /**
   * Takes the present unattested payments out of the limits, and writes the audit.
   * @param action.chain undefined for all chains @returns number of payments
   */
  go(action: {
    readonly chain: { readonly key: string; readonly chainId: number } | undefined
    readonly reason: string
    readonly actor: string
  }): Promise<number>
  /** The audit, newest first, at most 200 lines. */
  deeds(): Promise<readonly StopDeed[]>
}

const reasonMax = 1_000

export function createStopSwitch(database: SqlDatabase): StopSwitch {
  return {
    async read() {
      const [row] = await database.query<{ is_stopped: boolean; reason: string }>(
        'select is_stopped, reason from stop_switch',
      )
      return { isStopped: row?.is_stopped === true, reason: row?.reason }
    },
    async set({ isStopped, reason: fullReason, actor }) {
      const reason = fullReason.slice(0, reasonMax)
      await database.transaction(async (tx) => {
        const [before] = await tx.query<{ is_stopped: boolean }>(
          'select is_stopped from stop_switch for update',
        )
        await tx.query(
          `insert into stop_switch (is_stopped, reason) values ($1, $2)
           on conflict (is_only) do update set is_stopped = $1, reason = $2, changed_at = clock_timestamp()`,
          [isStopped, reason],
        )
        const outcome = (before?.is_stopped ?? false) === isStopped ? 'unchanged' : 'done'
        await writeDeed(tx, { actor, action: isStopped ? 'stop' : 'resume', outcome, reason })
      })
    },
    go: ({ chain, reason, actor }) =>
      database.transaction(async (tx) => {
        const accepted = await acceptExposure(tx, chain?.chainId)
        await writeDeed(tx, {
          actor,
          action: 'go',
          outcome: accepted > 0 ? 'done' : 'unchanged',
          reason: `${chain?.key ?? 'all'}: ${reason}`,
        })
        return accepted
      }),
    deeds: () =>
      database.query<StopDeed>(
        'select at, actor, action, outcome, reason from operator_action order by id desc limit 200',
      ),
  }
}

/** Writes the audit of a restore, in the transaction that fills the database. */
export function recordRestore(
  tx: SqlTx,
  { actor, path }: { readonly actor: string; readonly path: string },
): Promise<void> {
  return writeDeed(tx, { actor, action: 'restore', outcome: 'done', reason: path })
}

async function writeDeed(tx: SqlTx, { actor, action, outcome, reason }: Omit<StopDeed, 'at'>): Promise<void> {
  await tx.query('insert into operator_action (actor, action, outcome, reason) values ($1, $2, $3, $4)', [
    actor,
    action,
    outcome,
    reason.slice(0, reasonMax),
  ])
}
