import type { Hex, SqlDatabase } from '@causeway/core'
import type { SettlementStage } from '../status/requestProgress.ts'

/** Requests in a stage of settlement that are due for a look, those that wait longest first. */
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

/**
 * Requests with a reported fill on chains that have a new block, whether they are due or not. Those reported
 * last come first, since the new block may be the first that can have their transaction.
 */
export async function listReportedFills(
  database: Pick<SqlDatabase, 'query'>,
  newBlocks: readonly number[],
  limit: number,
): Promise<readonly Hex[]> {
  if (newBlocks.length === 0) return []
  const rows = await database.query<{ request_id: Buffer }>(
    `select request_id from work_item w join settlement s using (request_id)
     where w.state = 'reported' and w.kind = 'fill' and w.chain_id = any($1::bigint[]) and s.stage = 'filling'
     order by w.not_before desc limit $2`,
    [newBlocks, limit],
  )
  return rows.map(({ request_id }): Hex => `0x${request_id.toString('hex')}`)
}

/**
 * True if a refund is due that `listReportedWork` would list, or a request in the stage `refunding`.
 * @param newBlocks ids of chains with a new block, whose items are due at once
 */
export async function hasDueRefunds(
  database: Pick<SqlDatabase, 'query'>,
  newBlocks: readonly number[],
): Promise<boolean> {
  const [row] = await database.query<{ is_due: boolean }>(
    `select exists (select from work_item where state = 'reported' and kind = 'refund'
         and (not_before <= statement_timestamp() or chain_id = any($1::bigint[])))
       or exists (select from settlement where stage = 'refunding' and next_at <= statement_timestamp()) as is_due`,
    [newBlocks],
  )
  return row?.is_due === true
}
