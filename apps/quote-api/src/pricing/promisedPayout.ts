import { usdValueDown } from '@causeway/core'
import { offerOf, payableWithOffer } from './market/externalLiquidity.ts'
import type { InventoryView } from './market/inventoryView.ts'
import type { QuotePromise } from './openQuotes/openQuotes.ts'
import type { PricedRequest } from './priceRequest.ts'

/**
 * Payout that a priced request promises, and the inventory behind it, for `openQuotes.take`; undefined where no solver
 * pays or the inventory cannot be valued.
 */
export function promisedBy(
  { solver, destinationLeg, amountOut, snapshot, external }: PricedRequest,
  inventoryView: (snapshot: PricedRequest['snapshot']) => InventoryView,
): Omit<QuotePromise, 'nowSeconds' | 'expiresAtSeconds'> | undefined {
  if (solver === undefined) return undefined
  const { payoutCurrency } = solver
  const inventory = inventoryView(snapshot)(payoutCurrency.asset)
  const market = snapshot.price(payoutCurrency.asset.priceKey)
  if (inventory === undefined || 'reason' in market) return undefined
  const price = { decimals: payoutCurrency.decimals, usdX18: market.usdX18 }
  const offer = offerOf(payoutCurrency, external)
  return {
    payingBalance: `${payoutCurrency.asset.id} on ${payoutCurrency.chainId}`,
    // The balance pays the input of a destination leg, or without one the output itself.
    usdX18: usdValueDown(destinationLeg?.amountIn ?? amountOut, price),
    payableUsdX18: payableWithOffer(inventory, { currency: payoutCurrency, price }, offer),
  }
}
