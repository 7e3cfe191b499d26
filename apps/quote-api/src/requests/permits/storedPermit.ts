import type { Hex, PermitTerms, SqlDatabase } from '@causeway/core'
import type { RequestStatus } from '../history/requestFilter.ts'
import { parseExecution } from '../orders/execution.ts'
import { toBytes } from '../orders/orderColumns.ts'

export type StoredPermit = {
  readonly terms: PermitTerms
  readonly originChainId: number
  readonly status: RequestStatus
}

/** What a request asked its user to sign; `undefined` for an unknown request, `none` where nothing is signed. */
export async function readPermit(
  database: Pick<SqlDatabase, 'query'>,
  requestId: Hex,
  lock: '' | 'for update' = '',
): Promise<StoredPermit | 'none' | undefined> {
  const [row] = await database.query<{
    readonly execution: unknown
    readonly origin_chain_id: bigint
    readonly status: RequestStatus
  }>(`select execution, origin_chain_id, status from orders where request_id = $1 ${lock}`, [
    toBytes(requestId),
  ])
  if (row === undefined) return undefined
  if (row.execution === null) return 'none'
  const execution = parseExecution(row.execution)
  if (execution.by !== 'permit') return 'none'
  return { terms: execution.terms, originChainId: Number(row.origin_chain_id), status: row.status }
}
