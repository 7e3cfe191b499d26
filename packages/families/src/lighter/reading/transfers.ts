import type { DepositFact, Hex, TransferFact } from '@causeway/core'
import { lighterCurrency } from '@causeway/core/encodings'
import type { LighterTransfer } from './answers.ts'

const zeroId: Hex = `0x${'0'.repeat(64)}`
/** End of a memo that holds a shorter text or an address, padded on the right: then it is no order id. */
const paddedId = /0{24}$/
const idCharacters = zeroId.length

/**
 * The deposit of a transfer to a depository; none for other transfers, and for one of a depository to itself.
 * @source rule F-159
 */
export function findDeposits(
  transfer: LighterTransfer | undefined,
  depositories: readonly string[],
): readonly DepositFact[] {
  if (transfer === undefined) return []
  const { toAccountIndex, fromAccountIndex, assetIndex, toRouteType, amount, memo } = transfer
  const depository = toAccountIndex.toString()
  if (!depositories.includes(depository) || fromAccountIndex === toAccountIndex) return []
  return [
    {
      onchainIndex: '0',
      depository,
      depositId: memo.length === idCharacters && !paddedId.test(memo) ? memo : zeroId,
      depositor: fromAccountIndex.toString(),
      currency: lighterCurrency(assetIndex, toRouteType),
      amount,
    },
  ]
}

/** True if the memo is the order id. @source rule P-40 */
export function referencesOrder(transfer: LighterTransfer | undefined, orderId: Hex): boolean {
  return transfer?.memo === orderId.toLowerCase()
}

/**
 * Sums what a transfer paid to each recipient of a payment: one sum per distinct recipient and currency. A depository's
 * payout pays no order (`fromOthers`), and a transfer to oneself pays nothing.
 * @param targets canonical
 * @source rule F-160
 */
export function sumTransfers(
  transfer: LighterTransfer | undefined,
  targets: readonly { readonly recipient: string; readonly currency: string }[],
  depositories: readonly string[],
): readonly TransferFact[] {
  const unique = new Map(targets.map((target) => [`${target.recipient} ${target.currency}`, target]))
  const paid =
    transfer === undefined || transfer.fromAccountIndex === transfer.toAccountIndex ? undefined : transfer
  return [...unique.values()].map(({ recipient, currency }) => {
    const isPaid =
      paid !== undefined && paid.toAccountIndex.toString() === recipient && paymentCurrency(paid) === currency
    if (!isPaid) return { recipient, currency, amount: 0n }
    const isPayout = depositories.includes(paid.fromAccountIndex.toString())
    return {
      recipient,
      currency,
      ...(isPayout ? { amount: 0n, fromOthers: paid.amount } : { amount: paid.amount }),
    }
  })
}

/**
 * Routes (0: perps, 1: spot) on which transfers of an asset (1: ETH, 3: USDC) count as payments; others pay nothing.
 * @source rule F-160
 */
const payingRoutes: ReadonlyMap<bigint, readonly bigint[]> = new Map([
  [1n, [1n]],
  [3n, [0n, 1n]],
])

function paymentCurrency({ assetIndex, toRouteType }: LighterTransfer): string | undefined {
  const pays = payingRoutes.get(assetIndex)?.includes(toRouteType) === true
  return pays ? lighterCurrency(assetIndex, toRouteType) : undefined
}
