import { convertUp } from '@causeway/core'
import type { MarketSnapshot } from '../market/snapshot.ts'
import { gasCostWei, refundShape } from './gas.ts'
import { requireChain, requirePrice } from './marketAccess.ts'
import type { QuotableChain, QuotableCurrency } from './registry.ts'

/**
 * Gas of paying a currency out on its chain, in its smallest units, rounded up.
 * @throws QuoteError PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export function refundCost(
  snapshot: MarketSnapshot,
  chain: Pick<QuotableChain, 'chainId' | 'native'>,
  currency: QuotableCurrency,
): bigint {
  const market = requireChain(snapshot, chain.chainId)
  const costWei = gasCostWei(market, refundShape(currency))
  const price = requirePrice(snapshot, currency)
  return convertUp(costWei, requirePrice(snapshot, chain.native), price)
}
