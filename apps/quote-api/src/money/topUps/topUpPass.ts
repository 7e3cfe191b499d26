import { type Hex, type SqlDatabase, type SqlTx, UpstreamUnavailableError } from '@causeway/core'
import type { Fence } from '@causeway/database'
import type { ReadingPurpose } from '@causeway/families'
import {
  listSeenTopUps,
  lockTopUpCursor,
  type ObservedTopUp,
  orphanTopUp,
  type TopUpAccount,
  type TopUpCursor,
  type TopUpEvent,
} from '@causeway/ledger'
import type { ReadMemory } from '../../chainReadings/readMemory.ts'
import type { TopUpChain } from './topUpChain.ts'

/** Result of one pass over the chain, for metrics and the log. */
export type TopUpPass = {
  /** Top-ups found near the head: shown as pending, not spendable. */
  readonly seen: readonly ObservedTopUp[]
  /** Top-ups that became final: credited, or put into suspense. */
  readonly final: readonly ObservedTopUp[]
  /** Pending top-ups that left the chain. */
  readonly orphaned: number
  /** Final transfers that differ from ones settled before. Nothing is changed; an operator must look. */
  readonly conflicts: readonly ObservedTopUp[]
  /** Transactions that cannot be read. They are put aside, and tried again apart from the others. */
  readonly aside: readonly Hex[]
  readonly cursor: TopUpCursor
}

/** Dependencies of a pass over one account: custody, or the solver. */
export type TopUpWatcher = {
  readonly chain: TopUpChain
  readonly database: SqlDatabase
  /** First block that may hold a top-up. */
  readonly fromBlock: bigint
  /** Number of newest blocks, half a minute's worth, whose transfers endpoints may list late. */
  readonly lateBlocks: bigint
  /** Fails a transaction once this process no longer leads the job. */
  readonly fence: Fence
  readonly signal: AbortSignal
  /** Marks transactions of this account among all that are put aside. */
  readonly purpose: TopUpPurpose
  /** Tells when a transaction that could not be read is looked at again; kept from pass to pass. */
  readonly memory: Pick<ReadMemory, 'isDue' | 'lookLater'>
}

export type TopUpPurpose = Extract<ReadingPurpose, 'top-ups' | 'solver-top-ups'>

export function accountOf({ chainId, target }: TopUpChain): TopUpAccount {
  return { chainId, custody: target.custody, token: target.token }
}

/** Writes if the cursor is still the one that was read. Another process may have settled or halted since; then it throws. */
export async function writeIfUnmoved(
  { chain, database, fence }: TopUpWatcher,
  cursor: TopUpCursor,
  write: (tx: SqlTx, account: TopUpAccount) => Promise<Omit<TopUpPass, 'cursor'>>,
): Promise<TopUpPass> {
  const account = accountOf(chain)
  return database.transaction(async (tx) => {
    await fence(tx)
    const current = await lockTopUpCursor(tx, account)
    const isUnmoved =
      current?.finalTo === cursor.finalTo &&
      current.finalHash === cursor.finalHash &&
      current.haltedReason === undefined
    if (!isUnmoved) throw new UpstreamUnavailableError('Another process reads the same top-ups.')
    const pass = await write(tx, account)
    // Read again, because `write` may have moved it.
    const moved = await lockTopUpCursor(tx, account)
    return { ...pass, cursor: moved ?? current }
  })
}

/** Orphans pending top-ups whose transfer is gone. @returns how many */
export async function orphanWhere(
  tx: SqlTx,
  account: TopUpAccount,
  isGone: (event: TopUpEvent) => boolean,
): Promise<number> {
  let orphaned = 0
  for (const event of await listSeenTopUps(tx, account)) {
    if (isGone(event) && (await orphanTopUp(tx, event.id))) orphaned += 1
  }
  return orphaned
}
