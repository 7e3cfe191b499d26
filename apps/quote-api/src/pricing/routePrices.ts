import type { MarketSnapshot } from '../market/snapshot.ts'
import { requirePrice, shownPrice } from './marketAccess.ts'
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

/**
 * Prices of a route that its user executes alone: no amount of it depends on them, so a refused one refuses
 * nothing while it can still be shown. A swap asks for the prices of its pool itself.
 * @throws QuoteError PRICE_FETCH_FAILED when one has been missing for too long to be shown
 */
export function shownPrices(snapshot: MarketSnapshot, route: Route): RoutePrices {
  const currencyIn = shownPrice(snapshot, route.currencyIn)
  const originNative = shownPrice(snapshot, route.origin.native)
  return {
    currencyIn,
    currencyOut: shownPrice(snapshot, route.currencyOut),
    feeCurrency: currencyIn,
    originNative,
    destinationNative: originNative,
  }
}
