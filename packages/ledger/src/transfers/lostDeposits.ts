import type { Hex, SqlTx } from '@causeway/core'
import { type LedgerAsset, openAccount, registerAsset } from './accounts.ts'
import { transferId } from './transferId.ts'
import { writeTransfer } from './transfers.ts'

/**
 * Books the loss of a deposit that was paid for and left its chain in a reorganisation, or reverses that when the
 * deposit is back. Repeating a turn changes nothing.
 * @param args.turn number of the booking of this deposit, from 1: odd ones book a loss, even ones its return
 * @param args.amount of the deposit, in smallest units of its currency
 */
export async function bookLostDeposit(
  tx: SqlTx,
  args: { requestId: Hex; depositId: bigint; turn: number; asset: LedgerAsset; amount: bigint },
): Promise<void> {
  const { requestId, depositId, turn, amount } = args
  const assetId = await registerAsset(tx, args.asset)
  const badDebt = await openAccount(tx, { kind: 'bad_debt', owner: String(args.asset.chainId), assetId })
  const adjustment = await openAccount(tx, { kind: 'adjustment', owner: 'lost deposits', assetId })
  const isLost = turn % 2 === 1
  const outcome = await writeTransfer(tx, {
    id: transferId('lost_deposit', `${depositId}:${turn}`),
    kind: 'posted',
    debitAccount: isLost ? badDebt : adjustment,
    creditAccount: isLost ? adjustment : badDebt,
    amount,
    code: isLost ? 'deposit_lost' : 'deposit_found',
    actor: 'settlement',
    requestId,
    evidence: { depositId: String(depositId) },
  })
  if (outcome !== 'done' && outcome !== 'exists') throw new Error(`a lost deposit was not booked: ${outcome}`)
}
