import type { Hex, SqlTx } from '@causeway/core'
import { type QuotedAmounts, quotedAmountsSchema } from '../history/quotedAmounts.ts'
import { parseExecution } from '../orders/execution.ts'
import { toBytes } from '../orders/orderColumns.ts'
import type { RequestStatus } from '../status/requestProgress.ts'
import type { SelfExecution } from './callMatch.ts'

/** A request that its user executes alone, without solver and order. */
export type SelfExecutedRequest = {
  readonly requestId: Hex
  readonly execution: SelfExecution
  readonly recipient: string
  readonly quoted: QuotedAmounts
  readonly status: RequestStatus
  readonly deadlineSeconds: number
}

/** Reads and locks such a request until the transaction ends; undefined for any other request. */
export async function lockSelfExecuted(tx: SqlTx, requestId: Hex): Promise<SelfExecutedRequest | undefined> {
  const [row] = await tx.query<{
    readonly execution: unknown
    readonly user_address: string
    readonly recipient: string
    readonly quoted: unknown
    readonly status: RequestStatus
    readonly deadline: bigint
  }>(
    `select execution, user_address, recipient, quoted, status, extract(epoch from deadline)::bigint as deadline
     from orders where request_id = $1 and execution is not null for update`,
    [toBytes(requestId)],
  )
  if (row === undefined) return undefined
  const execution = parseExecution(row.execution)
  if (execution.by !== 'user') return undefined
  const { calls, afterBlock } = execution
  return {
    requestId,
    // CAST: calls are quoted only to users whose address is 20 bytes of hex.
    execution: { user: row.user_address.toLowerCase() as Hex, calls, afterBlock },
    recipient: row.recipient,
    quoted: quotedAmountsSchema.parse(row.quoted),
    status: row.status,
    deadlineSeconds: Number(row.deadline),
  }
}
