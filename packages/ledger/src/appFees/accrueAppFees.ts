import { DomainError, type Hex, type SqlTx } from '@causeway/core'
import { type LedgerAsset, openAccount, registerAsset } from '../transfers/accounts.ts'
import { transferId } from '../transfers/transferId.ts'
import { writeTransfer } from '../transfers/transfers.ts'

export type AppFeeAccrual = {
  /** Lower-case wallet that may claim the fee. */
  readonly recipient: string
  /** Smallest units of the fee currency. */
  readonly amount: bigint
}

/** The request has accrued app fees before, with other amounts. */
class AppFeesDifferError extends DomainError {
  readonly code = 'APP_FEES_DIFFER'
  readonly kind = 'conflict'

  constructor() {
    super('The app fees of this request were accrued with other amounts.')
  }
}

/**
 * Books what each recipient is owed for one request that succeeded, in the fee currency; a sponsor's balance never pays
 * app fees. Fees of zero are left out, those of one recipient added up. Repeating a request changes nothing.
 * @throws AppFeesDifferError
 * @source rules Q-fees-05, Q-limits-06, L-41, L-77
 */
export async function accrueAppFees(
  tx: SqlTx,
  args: { requestId: Hex; asset: LedgerAsset; fees: readonly AppFeeAccrual[] },
): Promise<void> {
  const { requestId, asset, fees } = args
  const totals = new Map<string, bigint>()
  for (const { recipient, amount } of fees) totals.set(recipient, (totals.get(recipient) ?? 0n) + amount)
  const assetId = await registerAsset(tx, asset)
  const debitAccount = await openAccount(tx, { kind: 'app_fee_due', owner: 'users', assetId })
  // Locks accounts in one order, so that two requests with the same recipients cannot deadlock.
  for (const [recipient, amount] of [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (amount === 0n) continue
    const outcome = await writeTransfer(tx, {
      id: transferId('app_fee', `${requestId}:${assetId}:${recipient}`),
      kind: 'posted',
      debitAccount,
      creditAccount: await openAccount(tx, { kind: 'app_fee', owner: recipient, assetId }),
      amount,
      code: 'app_fee',
      actor: 'settlement',
      requestId,
    })
    // No limit or freeze applies to these accounts, so any other outcome means another amount.
    if (outcome !== 'done' && outcome !== 'exists') throw new AppFeesDifferError()
  }
}
