import type { SqlDatabase, SqlTx } from '@causeway/core'
import type { Run } from '../../jobs/runJobs.ts'
import { openReadings, PutAsideError, type ReadApart } from './readApart.ts'
import type { WorkItem } from './workItem.ts'

/** Columns that a reading depends on. If they differ once the row is locked, the reading is discarded. */
export type RowVersion = readonly (string | bigint | undefined)[]

/** Parts that a follower contributes to `followWork`. `Due` is listed, `Seen` is read from chains, `Row` is locked. */
export type Follower<Due, Row, Seen> = {
  /** So many are worked on at a time. */
  readonly atOnce: number
  /** Items due now, at most `limit`. */
  list(limit: number): Promise<readonly Due[]>
  /**
   * Outside of any transaction: what the chain says, and of what row it was asked.
   * @param readApart reads each transaction that the row names
   * @returns undefined where there is nothing to follow
   */
  read(due: Due, signal: AbortSignal, readApart: ReadApart): Promise<Reading<Seen> | undefined>
  /** The row as it is now, locked until the transaction ends; undefined where it is not due any more. */
  lock(tx: SqlTx, due: Due): Promise<Row | undefined>
  versionOf(row: Row): RowVersion
  /** Moves the locked row on, by the facts that were read. */
  step(tx: SqlTx, row: Row, facts: Seen): Promise<void>
}

export type Reading<Seen> = { readonly mark: RowVersion; readonly seen: Seen }

/** Chains on which a block was told of since the last run: what waits for one is due at once. */
export type NewBlocks = readonly number[]

/** Gathers chain ids between the runs of one follower. */
export function createNewBlocks(): { add(chainId: number): void; take(): NewBlocks } {
  let chainIds = new Set<number>()
  return {
    add(chainId) {
      chainIds.add(chainId)
    },
    take() {
      const newChainIds = [...chainIds]
      chainIds = new Set()
      return newChainIds
    },
  }
}

/** A run takes no more than this; the rest is due in the next one. */
const dueMax = 500

/**
 * Moves on what is due: reads each with its chain while nothing is locked, then takes its step in one transaction
 * that is fenced and finds the row as it was read. Whatever was changed meanwhile is due again. One that fails, or
 * whose transaction is put aside, keeps nobody else; after the run is aborted nothing is begun and nothing is written.
 * @throws AggregateError of what failed, after all were tried
 */
export async function followWork<Due, Row, Seen>(
  database: Pick<SqlDatabase, 'query' | 'transaction'>,
  run: Run,
  follower: Follower<Due, Row, Seen>,
): Promise<void> {
  let due = await follower.list(dueMax)
  if (due.length === 0) return
  const { read, asideCount } = await openReadings(database, run)
  // Rows that wait for what is put aside fill no page.
  if (due.length >= dueMax && asideCount > 0) due = await follower.list(dueMax + asideCount)
  await runConcurrently(due, { atOnce: follower.atOnce, run }, (one) =>
    followOne(database, run, { follower, due: one, readApart: read }),
  )
}

type Followed<Due, Row, Seen> = {
  readonly follower: Follower<Due, Row, Seen>
  readonly due: Due
  readonly readApart: ReadApart
}

async function followOne<Due, Row, Seen>(
  database: Pick<SqlDatabase, 'transaction'>,
  { fence, signal }: Run,
  { follower, due, readApart }: Followed<Due, Row, Seen>,
): Promise<void> {
  const read = await follower.read(due, signal, readApart).catch((error: unknown) => {
    if (error instanceof PutAsideError) return undefined
    throw error
  })
  if (read === undefined || signal.aborted) return
  await database.transaction(async (tx) => {
    await fence(tx)
    const locked = await follower.lock(tx, due)
    if (locked === undefined || !isSame(follower.versionOf(locked), read.mark)) return
    await follower.step(tx, locked, read.seen)
  })
}

/**
 * Like `followWork`, for work that reads no chain: each item has one fenced transaction, whose `step` locks and reads
 * for itself.
 * @throws AggregateError of all failures, after every item was tried
 */
export async function stepWork<Due>(
  database: Pick<SqlDatabase, 'transaction'>,
  run: Run,
  stepper: {
    readonly atOnce: number
    list(limit: number): Promise<readonly Due[]>
    step(tx: SqlTx, due: Due): Promise<void>
  },
): Promise<void> {
  const { atOnce } = stepper
  await runConcurrently(await stepper.list(dueMax), { atOnce, run }, (due) =>
    database.transaction(async (tx) => {
      await run.fence(tx)
      await stepper.step(tx, due)
    }),
  )
}

function isSame(one: RowVersion, other: RowVersion): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index])
}

/** Version of a work item: its reported state and transaction. */
export function versionOfWork({ state, txHash }: WorkItem): RowVersion {
  return [state, txHash]
}

/**
 * Works on some of `items` at once; one that fails does not keep the others.
 * @throws AggregateError of what failed, after all were tried
 */
export async function runConcurrently<Item>(
  items: readonly Item[],
  { atOnce, run }: { readonly atOnce: number; readonly run: Pick<Run, 'signal'> },
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const waiting = [...items]
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (run.signal.aborted) return
      await work(next).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} requests could not be followed`)
}
