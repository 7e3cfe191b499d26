import type { Hex, SqlTx } from '@causeway/core'
import { type LedgerAsset, openAccount, registerAsset } from './accounts.ts'
import { transferId } from './transferId.ts'
import { writeTransfer } from './transfers.ts'

/**
 * Books the loss of a deposit that was paid for and left its chain, or takes that back once it has come back: odd and
 * even `turn`s follow each other. Repeating a turn changes nothing.
 * @param args.amount of the deposit, in smallest units of its currency
 */
export async function bookLostDeposit(
  tx: SqlTx,
  args: { requestId: Hex; depositId: bigint; turn: number; asset: LedgerAsset; amount: bigint },
): Promise<void> {
  const { requestId, depositId, turn, amount } = args
  const assetId = await registerAsset(tx, args.asset)
  const lost = await openAccount(tx, { kind: 'bad_debt', owner: String(args.asset.chainId), assetId })
  const paid = await openAccount(tx, { kind: 'adjustment', owner: 'lost deposits', assetId })
  const isLost = turn % 2 === 1
  const outcome = await writeTransfer(tx, {
    id: transferId('lost_deposit', `${depositId}:${turn}`),
    kind: 'posted',
    ...(isLost ? { debitAccount: lost, creditAccount: paid } : { debitAccount: paid, creditAccount: lost }),
    amount,
    code: isLost ? 'deposit_lost' : 'deposit_found',
    actor: 'settlement',
    requestId,
    evidence: { depositId: String(depositId) },
  })
  if (outcome !== 'done' && outcome !== 'exists') throw new Error(`a lost deposit was not booked: ${outcome}`)
}
