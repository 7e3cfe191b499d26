import type { SqlDatabase, SqlTx } from '@causeway/core'
import type { Run } from '../../jobs/runJobs.ts'
import { openReadings, PutAsideError, type ReadApart } from './readApart.ts'
import type { WorkItem } from './workItem.ts'

/** Columns that a reading depends on. If they differ once the row is locked, the reading is discarded. */
export type RowVersion = readonly (string | bigint | undefined)[]

/**
 * The parts of a job that `followWork` runs: `list` finds due items, `read` reads their chains without locks, `lock` locks
 * the row, and `step` acts on what was read.
 */
export type Follower<Due, Row, Facts> = {
  /** Items that are worked on at the same time. */
  readonly atOnce: number
  /** Items due now, at most `limit`. */
  list(limit: number): Promise<readonly Due[]>
  /**
   * Reads the chain outside of any database transaction.
   * @param readApart wraps each reading of a transaction, which is put aside if it cannot be read
   * @returns undefined if there is nothing to act on: the item stays due as it is
   */
  read(due: Due, signal: AbortSignal, readApart: ReadApart): Promise<Reading<Facts> | undefined>
  /** Locks the row until the transaction ends; undefined if it is not due any more. */
  lock(tx: SqlTx, due: Due): Promise<Row | undefined>
  versionOf(row: Row): RowVersion
  /** Acts on the locked row by the facts that were read. */
  step(tx: SqlTx, row: Row, facts: Facts): Promise<void>
}

/** Facts of a chain, and the version of the row for which they were read. */
export type Reading<Facts> = { readonly rowVersion: RowVersion; readonly facts: Facts }

/** Ids of chains with a new block since the last run, where waiting items are due at once. */
export type NewBlocks = readonly number[]

/** Collects the chains with new blocks between two runs of a job. */
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

/** Items of one run; the others are due in the next one. */
const dueMax = 500

/**
 * Runs one pass of a job over its due items. Each is read from its chain without locks. Then one transaction, fenced against a
 * newer leader, locks the row and takes the step, unless the row changed since it was read; such an item is due again. An
 * item that fails, or whose transaction is put aside, does not stop the others. After an abort nothing more is written.
 * @throws AggregateError of all failures, after every item was tried
 */
export async function followWork<Due, Row, Facts>(
  database: Pick<SqlDatabase, 'query' | 'transaction'>,
  run: Run,
  follower: Follower<Due, Row, Facts>,
): Promise<void> {
  let due = await follower.list(dueMax)
  if (due.length === 0) return
  const { read, asideCount } = await openReadings(database, run)
  // Items that wait for a transaction put aside must not fill the page, so more are listed.
  if (due.length >= dueMax && asideCount > 0) due = await follower.list(dueMax + asideCount)
  await runConcurrently(due, { atOnce: follower.atOnce, run }, (item) =>
    followOne(database, run, { follower, due: item, readApart: read }),
  )
}

type FollowedItem<Due, Row, Facts> = {
  readonly follower: Follower<Due, Row, Facts>
  readonly due: Due
  readonly readApart: ReadApart
}

async function followOne<Due, Row, Facts>(
  database: Pick<SqlDatabase, 'transaction'>,
  { fence, signal }: Run,
  { follower, due, readApart }: FollowedItem<Due, Row, Facts>,
): Promise<void> {
  const reading = await follower.read(due, signal, readApart).catch((error: unknown) => {
    if (error instanceof PutAsideError) return undefined
    throw error
  })
  if (reading === undefined || signal.aborted) return
  await database.transaction(async (tx) => {
    await fence(tx)
    const locked = await follower.lock(tx, due)
    if (locked === undefined || !isSame(follower.versionOf(locked), reading.rowVersion)) return
    await follower.step(tx, locked, reading.facts)
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
  return one.length === other.length && one.every((column, index) => column === other[index])
}

/** Version of a work item: its reported state and transaction. */
export function versionOfWork({ state, txHash }: WorkItem): RowVersion {
  return [state, txHash]
}

/**
 * Works on up to `atOnce` items at the same time; one that fails does not stop the others.
 * @throws AggregateError of all failures, after every item was tried
 */
export async function runConcurrently<Item>(
  items: readonly Item[],
  { atOnce, run }: { readonly atOnce: number; readonly run: Pick<Run, 'signal'> },
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const waiting = [...items]
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      if (run.signal.aborted) return
      await work(item).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} requests could not be followed`)
}
