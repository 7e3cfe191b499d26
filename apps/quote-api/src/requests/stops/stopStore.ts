import type { SqlDatabase, SqlTx } from '@causeway/core'
import { recordAction } from '../../access/adminAction.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** Chain id of a stop that covers all chains. */
export const everyChain = 0

/**
 * Tellers of stops. `terms` and `network` are derived by each process; the others are read by `readStops`.
 * The teller decides when a stop ends. `operator`: by an operator's `go`. `solver`: once it was not repeated
 * for a minute. `watcher`: once deposits of the chain can be read. `head`: with the next block. `oracles`:
 * once enough oracles sign again. `terms`: once solver and service agree. `network`: once the network is as
 * the configuration assumes.
 */
export const stopTellers = ['operator', 'solver', 'watcher', 'oracles', 'head', 'terms', 'network'] as const
type StopTeller = (typeof stopTellers)[number]

/**
 * A stop in force. Its teller decides what it covers: `refusalBy` tells which new quotes are refused, to or
 * from the chain, and by `endsWork` two tellers also stop work on orders that were sold before.
 */
export type ChainStop = {
  /** `everyChain` for all. */
  readonly chainId: number
  readonly toldBy: StopTeller
  readonly reason: string
  /** `cli:<account>`, `admin`, `solver` or `quote-api`. */
  readonly actor: string
  readonly since: Date
}

/** SQL that selects the stops in force, oldest first. */
export const selectStops = `select chain_id, told_by, reason, actor, since from chain_stop
     where ends_at is null or ends_at > clock_timestamp()
     union all select chain_id, 'watcher', 'its newest blocks cannot be read for deposits', 'quote-api', read_at
       from deposit_sight where read_at + patience_ms * interval '1 millisecond' < clock_timestamp()
     union all select chain_id, 'head', 'it makes no blocks', 'quote-api', moved_at
       from deposit_cursor c join deposit_sight s using (chain_id)
       where c.moved_at + s.head_patience_ms * interval '1 millisecond' < s.read_at
     order by since, chain_id`

/** A row of `selectStops`; in JSON the times are texts and the ids numbers. */
export type StopRow = {
  readonly chain_id: bigint | number
  readonly told_by: StopTeller
  readonly reason: string
  readonly actor: string
  readonly since: Date | string
}

export function toStop({ chain_id, told_by: toldBy, reason, actor, since }: StopRow): ChainStop {
  return { chainId: Number(chain_id), toldBy, reason, actor, since: new Date(since) }
}

/**
 * Stops in force, oldest first. A chain makes no blocks (`head`) if its newest block is older than the
 * patience at the last reading; while nothing can be read, only `watcher` tells.
 */
export async function readStops(database: Queries): Promise<readonly ChainStop[]> {
  return (await database.query<StopRow>(selectStops)).map(toStop)
}

/** Advice to an operator about a stop. @param name of the chain, or `all` */
export function stopAdvice(toldBy: StopTeller, name: string): string {
  const advice: Readonly<Record<StopTeller, string>> = {
    operator: `End it: npm run causeway -- go ${name} --reason <text>`,
    solver: 'Ask the solver why: npm run causeway -- solver status',
    head: 'Look whether the chain makes blocks, and whether the endpoints show them: docs/operating/runbook.md.',
    oracles: 'Ask the operators of the oracles what changed; `halted clear` at enough of them ends it.',
    network: 'Look what changed, and correct the quote file where it lasts: docs/operating/networks.md.',
    terms: 'Mend the setting of the service that is wrong, and restart that one: npm run causeway -- doctor',
    watcher: 'Look at the job deposits-<chain> and the endpoints of the chain: docs/operating/runbook.md.',
  }
  return advice[toldBy]
}

/** A stop or `go` with its author. Jobs stop chains too; only an operator can end these stops. */
export type StopAction = {
  /** `everyChain` for all. */
  readonly chainId: number
  /** Name of the chain in the audit log. */
  readonly name: string
  readonly actor: string
  readonly reason: string
}

/** Stops a chain until an operator ends it, and writes the audit record in the same transaction. */
export async function stopChain(tx: SqlTx, { chainId, name, actor, reason }: StopAction): Promise<void> {
  // In PostgreSQL `xmax` is 0 in a row that was inserted, and not in one that was updated.
  const [row] = await tx.query<{ is_new: boolean }>(
    `insert into chain_stop (chain_id, told_by, reason, actor) values ($1, 'operator', $2, $3)
     on conflict (chain_id, told_by) do update set reason = $2, actor = $3
     returning xmax = 0 as is_new`,
    [chainId, reason, actor],
  )
  const outcome = row?.is_new === true ? 'done' : 'unchanged'
  await recordAction(tx, { actor, action: 'stop', subject: name, details: { reason }, outcome })
}

/** Ends an operator's stop of a chain, or for `everyChain` all of them. @returns the chain ids whose stops ended */
export async function endStop(
  tx: SqlTx,
  { chainId, name, actor, reason }: StopAction,
): Promise<readonly number[]> {
  const rows = await tx.query<{ chain_id: bigint }>(
    `delete from chain_stop where told_by = 'operator' and ($1 = ${everyChain} or chain_id = $1)
     returning chain_id`,
    [chainId],
  )
  const outcome = rows.length > 0 ? 'done' : 'unchanged'
  await recordAction(tx, { actor, action: 'go', subject: name, details: { reason }, outcome })
  return rows.map((row) => Number(row.chain_id))
}

/** Lifetime of a solver's stop, which a solver repeats much more often. */
const solverStopSeconds = 60

/** Stores or renews the stops of chains that a solver does not pay on at present; those of other solvers stay. */
export async function keepSolverStops(database: Queries, chainIds: readonly number[]): Promise<void> {
  if (chainIds.length === 0) return
  await database.query(
    `insert into chain_stop (chain_id, told_by, reason, actor, ends_at)
     select distinct id, 'solver', 'the solver pays nothing there', 'solver',
       clock_timestamp() + $2 * interval '1 second' from unnest($1::bigint[]) id
     on conflict (chain_id, told_by) do update set ends_at = excluded.ends_at,
       since = case when chain_stop.ends_at > clock_timestamp() then chain_stop.since else excluded.since end`,
    [chainIds, solverStopSeconds],
  )
}

/** SQL condition: stops of these tellers also stop work on orders that were sold before. */
export const endsWork = (toldBy: string): string => `${toldBy} in ('operator', 'oracles')`

/**
 * SQL condition on a row of `work_item`: such a stop covers the chain of the work, or the one of the request's deposit.
 */
export const isStoppedWork = `exists (select from chain_stop s where ${endsWork('s.told_by')} and (s.chain_id in
  (${everyChain}, work_item.chain_id)
  or s.chain_id = (select o.origin_chain_id from orders o where o.request_id = work_item.request_id)))`

/** Notes that a process, e.g. `solver`, has read the stops, so that an operator knows when it obeys. */
export async function noteReader(database: Queries, reader: string): Promise<void> {
  await database.query(
    `insert into stop_reader (reader, read_at) values ($1, clock_timestamp())
     on conflict (reader) do update set read_at = clock_timestamp()`,
    [reader],
  )
}

/** True if the reader has read the stops after a time of the database's clock. */
export async function hasReadSince(database: Queries, reader: string, since: Date): Promise<boolean> {
  const rows = await database.query('select from stop_reader where reader = $1 and read_at > $2', [
    reader,
    since,
  ])
  return rows.length > 0
}

/** Seconds since the reader last read the stops, by the database's clock; undefined if it never did. */
export async function secondsSinceRead(database: Queries, reader: string): Promise<number | undefined> {
  const [row] = await database.query<{ seconds: number }>(
    `select extract(epoch from clock_timestamp() - read_at)::float8 as seconds from stop_reader where reader = $1`,
    [reader],
  )
  return row?.seconds
}
