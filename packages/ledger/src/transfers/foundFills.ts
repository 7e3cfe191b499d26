import type { Hex, SqlTx } from '@causeway/core'
import { openAccount } from './accounts.ts'
import { transferId } from './transferId.ts'
import { type TransferOutcome, writeTransfer } from './transfers.ts'

/** Accounts among which solvers' earnings are spread, as holds spread them, so that debits do not wait for one row. */
const earnedShards = 16n

/**
 * Debits a sponsor for the fill of an order whose hold was lost with the database's last rows. Repeating it books
 * nothing again, because the transfer's id is derived from the order.
 * @param args.amountMicroUsd above zero
 * @param args.evidence kept with the transfer: what proves the fill
 * @returns `insufficient`, `frozen` and `conflict` wrote nothing
 */
export async function bookFoundFill(
  tx: SqlTx,
  args: {
    readonly orderId: Hex
    readonly requestId: Hex
    readonly sponsor: string
    readonly amountMicroUsd: bigint
    readonly actor: string
    readonly evidence: Readonly<Record<string, unknown>>
  },
): Promise<TransferOutcome> {
  const { orderId, requestId, sponsor, amountMicroUsd: amount, actor, evidence } = args
  const debitAccount = await openAccount(tx, { kind: 'sponsor', owner: sponsor })
  const owner = String(BigInt(orderId) % earnedShards)
  const creditAccount = await openAccount(tx, { kind: 'solver_earned', owner })
  return writeTransfer(tx, {
    id: transferId('found_fill', orderId),
    kind: 'posted',
    ...{ code: 'found_fill', debitAccount, creditAccount, amount, actor, requestId, evidence },
  })
}
