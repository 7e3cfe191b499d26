import type { Hex, SqlDatabase } from '@causeway/core'
import type { Run } from '../../jobs/runJobs.ts'
import type { SettlementStage } from '../status/requestProgress.ts'
import { workAtOnce } from '../work/followWork.ts'

const dueMax = 500

/**
 * Works off the requests of a stage that are due, some at once. One that fails does not keep the others.
 * @throws AggregateError of what failed, after all were tried
 */
export async function dueRequests(
  database: Pick<SqlDatabase, 'query'>,
  options: { stage: SettlementStage; atOnce: number; run: Run },
  work: (requestId: Hex) => Promise<void>,
): Promise<void> {
  await workAtOnce(await listDueRequests(database, options.stage, dueMax), options, work)
}

/** Requests of a stage that are due, those that wait longest first. */
export async function listDueRequests(
  database: Pick<SqlDatabase, 'query'>,
  stage: SettlementStage,
  limit: number,
): Promise<readonly Hex[]> {
  const rows = await database.query<{ request_id: Buffer }>(
    `select request_id from settlement where stage = $1 and next_at <= statement_timestamp()
     order by next_at limit $2`,
    [stage, limit],
  )
  return rows.map(({ request_id }): Hex => `0x${request_id.toString('hex')}`)
}
