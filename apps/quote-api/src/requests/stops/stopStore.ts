import type { SqlDatabase, SqlTx } from '@causeway/core'
import { recordAction } from '../../access/adminAction.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** Stands for all chains where a stop names one. */
export const everyChain = 0

/**
 * An operator's stop holds until an operator ends it; a solver's until it has not been repeated for a minute; a watcher's
 * until it has read the chain again; a head's until there is another block; the oracles' until enough of them sign for it again;
 * one of terms until the solver and this service agree on them; a network's until it is as the files say.
 */
export const stopTellers = ['operator', 'solver', 'watcher', 'oracles', 'head', 'terms', 'network'] as const
type StopTeller = (typeof stopTellers)[number]

export type ChainStop = {
  /** `everyChain` for all. */
  readonly chainId: number
  readonly toldBy: StopTeller
  readonly reason: string
  /** `cli:<account>`, `admin`, `solver` or `quote-api`. */
  readonly actor: string
  readonly since: Date
}

/** Stops in force, oldest first. */
export async function readStops(database: Queries): Promise<readonly ChainStop[]> {
  const rows = await database.query<{
    chain_id: bigint
    told_by: StopTeller
    reason: string
    actor: string
    since: Date
  }>(
    `select chain_id, told_by, reason, actor, since from chain_stop
     where ends_at is null or ends_at > clock_timestamp()
     union all select chain_id, 'watcher', 'its newest blocks cannot be read for deposits', 'quote-api', read_at
       from deposit_sight where read_at + patience_ms * interval '1 millisecond' < clock_timestamp()
     union all select chain_id, 'head', 'it makes no blocks', 'quote-api', moved_at
       from deposit_cursor c join deposit_sight s using (chain_id)
       where c.moved_at + s.head_patience_ms * interval '1 millisecond' < s.read_at
     order by since, chain_id`,
  )
  return rows.map(({ chain_id: chainId, told_by: toldBy, reason, actor, since }) => ({
    ...{ chainId: Number(chainId), toldBy, reason, actor, since },
  }))
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

/** A stop or a go of an operator, or a stop that waits for one. */
export type StopAction = {
  /** `everyChain` for all. */
  readonly chainId: number
  /** As the audit names the chain. */
  readonly name: string
  readonly actor: string
  readonly reason: string
}

/** Stops a chain until an operator ends it; the audit line is of the same commit. */
export async function stopChain(tx: SqlTx, { chainId, name, actor, reason }: StopAction): Promise<void> {
  const [row] = await tx.query<{ is_new: boolean }>(
    `insert into chain_stop (chain_id, told_by, reason, actor) values ($1, 'operator', $2, $3)
     on conflict (chain_id, told_by) do update set reason = $2, actor = $3
     returning xmax = 0 as is_new`,
    [chainId, reason, actor],
  )
  const outcome = row?.is_new === true ? 'done' : 'unchanged'
  await recordAction(tx, { actor, action: 'stop', subject: name, details: { reason }, outcome })
}

/** Ends an operator's stop; of `everyChain` that of every chain. @returns the stops that ended */
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

/** A solver says again and again what it does not pay on; whoever says nothing more is forgotten. */
const solverStopSeconds = 60

/** Chains on which a solver pays nothing at the moment. What it does not name, another one may have named. */
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

/** SQL: these tellers end everything on their chain, also what is sold already. */
export const endsWork = (toldBy: string): string => `${toldBy} in ('operator', 'oracles')`

/**
 * Condition on a row of `work_item`: the chain that it is done on is stopped, or the one that its request's money is
 * deposited on.
 */
export const isStoppedWork = `exists (select from chain_stop s where ${endsWork('s.told_by')} and (s.chain_id in
  (${everyChain}, work_item.chain_id)
  or s.chain_id = (select o.origin_chain_id from orders o where o.request_id = work_item.request_id)))`

/** A process that obeys the stops has read them. @param reader from a closed set */
export async function noteReader(database: Queries, reader: string): Promise<void> {
  await database.query(
    `insert into stop_reader (reader, read_at) values ($1, clock_timestamp())
     on conflict (reader) do update set read_at = clock_timestamp()`,
    [reader],
  )
}

/** True if the reader has read the stops since a moment of this database's clock. */
export async function hasReadSince(database: Queries, reader: string, since: Date): Promise<boolean> {
  const rows = await database.query('select from stop_reader where reader = $1 and read_at > $2', [
    reader,
    since,
  ])
  return rows.length > 0
}

/** Time since it read them last, by the database's clock; undefined: never. */
export async function secondsSinceRead(database: Queries, reader: string): Promise<number | undefined> {
  const [row] = await database.query<{ seconds: number }>(
    `select extract(epoch from clock_timestamp() - read_at)::float8 as seconds from stop_reader where reader = $1`,
    [reader],
  )
  return row?.seconds
}
