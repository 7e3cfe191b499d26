import type { MarketSnapshot } from '../market/snapshot.ts'
import { requirePrice } from './marketAccess.ts'
import type { RoutePrices } from './pricedRoute.ts'
import type { QuotableCurrency } from './registry.ts'
import type { Route } from './route.ts'

/** @throws QuoteError PRICE_FETCH_FAILED when any of them has no usable price */
export function routePrices(
  snapshot: MarketSnapshot,
  route: Route,
  feeCurrency: QuotableCurrency,
): RoutePrices {
  return {
    currencyIn: requirePrice(snapshot, route.currencyIn),
    currencyOut: requirePrice(snapshot, route.currencyOut),
    feeCurrency: requirePrice(snapshot, feeCurrency),
    originNative: requirePrice(snapshot, route.origin.native),
    destinationNative: requirePrice(snapshot, route.destination.native),
  }
}
