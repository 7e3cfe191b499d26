import type { Hex, SqlDatabase } from '@causeway/core'
import type { SettlementStage } from '../status/requestProgress.ts'

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
