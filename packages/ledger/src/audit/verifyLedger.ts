import type { SqlTx } from '@causeway/core'
import { verifyCheckpoints } from './checkpoints.ts'
import type { Invariant, LedgerFinding } from './finding.ts'
import { type InvariantCheck, invariantChecks } from './invariantChecks.ts'

/**
 * Checks the books; without findings, invariants I1 to I9 hold. `cheap` reads counters and open rows, in one
 * statement; `all` also replays the whole history, one statement per invariant, and compares it with the checkpoints.
 * Writes nothing. To replay a long history the connection needs a statement timeout of minutes.
 */
export async function verifyLedger(
  tx: SqlTx,
  { depth = 'all' }: { depth?: 'cheap' | 'all' } = {},
): Promise<readonly LedgerFinding[]> {
  const findings = await findViolations(tx, cheapSql)
  if (depth === 'cheap') return findings
  for (const sql of replayingSql) findings.push(...(await findViolations(tx, sql)))
  return [...findings, ...(await verifyCheckpoints(tx))]
}

type FindingRow = {
  readonly invariant: Invariant
  readonly problem: string
  readonly figures: LedgerFinding['figures']
}

async function findViolations(tx: SqlTx, sql: string): Promise<LedgerFinding[]> {
  const rows = await tx.query<FindingRow>(sql)
  return rows.map(({ invariant, problem, figures }) => ({ invariant, problem, figures }))
}

/** A statement that returns findings. `json_each_text` keeps every digit of an amount, and the names of the columns. */
const findingsOf = ({ invariant, problem, sql }: InvariantCheck): string => `
  select '${invariant}' as invariant, '${problem}' as problem,
    (select json_object_agg(key, coalesce(value, 'none')) from json_each_text(row_to_json(found))) as figures
  from (${sql}) found`

const cheapSql = invariantChecks
  .filter(({ isReplaying }) => !isReplaying)
  .map(findingsOf)
  .join(' union all ')
const replayingSql = invariantChecks.filter(({ isReplaying }) => isReplaying).map(findingsOf)
