import { isLighterPayment, lighterAsset } from '@causeway/core/encodings'
import type { PaymentTerms, PlannedPayment } from '../../shared/payingChain.ts'
import { lighterAmountMax } from '../rules/quoting/lighterQuoting.ts'
import type { UnsignedTransfer } from './lighterSigner.ts'
import { closingMemo } from './ownLane.ts'

/** Smallest units that a closing moves from the wallet's perps side to its spot side. */
const closingAmount = 1n

/** Reason for which the exchange does not move a payment. */
export function refuseAmount({ amount, currency }: PlannedPayment): string | undefined {
  const isMoved = amount > 0n && amount <= lighterAmountMax && isLighterPayment(currency)
  return isMoved ? undefined : 'an amount is none of this chain'
}

/** The part of a transfer that the terms of its payment decide. `to`: index of the paid account. */
export type PlannedTransfer = Pick<UnsignedTransfer, 'amount' | 'memo'> & {
  readonly to: string
  readonly routes: Pick<UnsignedTransfer, 'assetIndex' | 'fromRouteType' | 'toRouteType'>
}

/**
 * The transfer of a payment, with the order id as its memo; or of a closing: the smallest amount between two sides of
 * the wallet, with a memo that names the closed payment. Pure.
 */
export function transferOf(
  wallet: string,
  { id, mark, orderId = id, payments: [payment] }: PaymentTerms,
): PlannedTransfer {
  if (mark === 'closed' || payment === undefined) {
    // `0`: USDC of the perps side; `3`: USDC of the spot side.
    const perps = lighterAsset('0')
    const spot = lighterAsset('3')
    const routes = {
      assetIndex: perps.assetIndex,
      fromRouteType: perps.routeType,
      toRouteType: spot.routeType,
    }
    return { to: wallet, routes, amount: closingAmount, memo: closingMemo(id) }
  }
  const { assetIndex, routeType } = lighterAsset(payment.currency)
  const routes = { assetIndex, fromRouteType: routeType, toRouteType: routeType }
  return { to: payment.recipient, routes, amount: payment.amount, memo: orderId }
}
