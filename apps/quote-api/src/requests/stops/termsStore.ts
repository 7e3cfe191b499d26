import type { SqlDatabase } from '@causeway/core'
import { type SolverTerms, solverTermsSchema } from './solverTerms.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** Name under which all solvers without a name are stored. */
export const namelessSolver = ''

/** Age at which terms are forgotten: a solver that runs repeats its own. */
const freshSeconds = 60
/** Interval at which unchanged terms are written again, so that repeating them costs few writes. */
const noteEverySeconds = 5

/**
 * Stores the terms that a solver reported last, unless the same were stored a moment ago, and deletes those of silent solvers.
 * @param terms undefined if the solver reports none
 */
export async function keepTerms(
  database: Queries,
  solver: string,
  terms: SolverTerms | undefined,
): Promise<void> {
  await database.query(
    `with gone as (delete from solver_terms
       where solver <> $1 and told_at < clock_timestamp() - ${freshSeconds} * interval '1 second')
     insert into solver_terms (solver, terms, told_at) select $1, $2::jsonb, clock_timestamp()
     where not exists (select from solver_terms where solver = $1 and terms is not distinct from $2::jsonb
       and told_at > clock_timestamp() - ${noteEverySeconds} * interval '1 second')
     on conflict (solver) do update set terms = excluded.terms, told_at = excluded.told_at`,
    [solver, terms === undefined ? null : JSON.stringify(terms)],
  )
}

/** SQL that selects the terms of each solver that reported lately. */
export const selectTerms = `select terms from solver_terms
     where told_at > clock_timestamp() - ${freshSeconds} * interval '1 second' order by solver`

/** Terms as stored; undefined if the solver reports none, or another release stored them. */
export const toTerms = (terms: unknown): SolverTerms | undefined => solverTermsSchema.safeParse(terms).data

/** Terms of each solver that reported lately. */
export async function readTerms(database: Queries): Promise<readonly (SolverTerms | undefined)[]> {
  return (await database.query<{ terms: unknown }>(selectTerms)).map(({ terms }) => toTerms(terms))
}
