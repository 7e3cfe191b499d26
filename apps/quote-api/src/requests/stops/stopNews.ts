import type { SqlDatabase } from '@causeway/core'
import type { SolverTerms } from './solverTerms.ts'
import { type ChainStop, type StopRow, selectStops, toStop } from './stopStore.ts'
import { selectTerms, toTerms } from './termsStore.ts'

/** All that a process reads again and again to know which chains are stopped. */
type StopNews = {
  /** As `readStops`. */
  readonly stops: readonly ChainStop[]
  /** As `readTerms`. */
  readonly terms: readonly (SolverTerms | undefined)[]
  /** Unix milliseconds by the database's clock, at a moment between question and answer. */
  readonly clockMs: number
}

/** Reads it in one statement, since every process asks twice a second. */
export async function readStopNews(database: Pick<SqlDatabase, 'query'>): Promise<StopNews> {
  const [row] = await database.query<{
    stops: readonly StopRow[]
    terms: readonly unknown[]
    clockMs: bigint
  }>(
    `select (select coalesce(json_agg(s order by since, chain_id), '[]') from (${selectStops}) s) as stops,
       (select coalesce(json_agg(t.terms), '[]') from (${selectTerms}) t) as terms,
       (extract(epoch from clock_timestamp()) * 1000)::int8 as "clockMs"`,
  )
  if (row === undefined) throw new Error('a statement without a table has one row')
  return { stops: row.stops.map(toStop), terms: row.terms.map(toTerms), clockMs: Number(row.clockMs) }
}
