import type { Hex, SqlTx } from '@causeway/core'
import { openAccount } from './accounts.ts'
import { transferId } from './transferId.ts'
import { type TransferOutcome, writeTransfer } from './transfers.ts'

/** Number of `solver_earned` accounts; holds spread earnings among them too, so that debits do not wait for one row. */
const earnedShards = 16n

/**
 * Debits a sponsor for a fill that was found after the database had lost its last rows, and with them the order's hold.
 * Repeating it changes nothing, because the transfer's id is derived from the order.
 * @param args.amountMicroUsd above zero
 * @param args.evidence proof of the fill, stored with the transfer
 * @returns `done` or `exists`; with any other outcome nothing was written
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
    code: 'found_fill',
    debitAccount,
    creditAccount,
    amount,
    actor,
    requestId,
    evidence,
  })
}
