import { bpsUp, type CostedTransaction, convertUp, type NetworkFees } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { requireChain, requirePrice } from './marketAccess.ts'
import { permitKindOf } from './permit.ts'
import type { QuotableChain, QuotableCurrency } from './registry.ts'
import type { QuoteRequest } from './request.ts'
import type { Route } from './route.ts'

/**
 * What the network of a chain charges now, as its family reckons.
 * @throws QuoteError SERVICE_UNAVAILABLE, GAS_PRICE_TOO_HIGH
 */
export function networkFees(
  snapshot: MarketSnapshot,
  { chainId }: Pick<QuotableChain, 'chainId'>,
): NetworkFees {
  return requireChain(snapshot, chainId).fees
}

/** What the solver charges for a cost: the expectation raised by the chain's markup, rounded up. */
export function charged(expected: bigint, markupBps: number): bigint {
  return expected + bpsUp(expected, BigInt(markupBps))
}

/**
 * The transaction by which the solver makes a deposit of what it is given; undefined where the user sends
 * the deposit. @throws Error for a permit of a currency without permits
 */
export function relayedDeposit(
  { usePermit, useDepositAddress }: Pick<QuoteRequest, 'usePermit' | 'useDepositAddress'>,
  { origin, currencyIn }: Pick<Route, 'origin' | 'currencyIn'>,
): CostedTransaction | undefined {
  const { isNative, asset } = currencyIn
  if (useDepositAddress) return { kind: 'sweep', isNative }
  if (!usePermit) return undefined
  const permit = permitKindOf(origin, currencyIn)
  if (permit === undefined) throw new Error('a currency without permits was let through')
  const isSwapped = asset.inventory === undefined
  return { kind: permit === 'permit2' && isSwapped ? 'permit-permit2-swap' : `permit-${permit}`, isNative }
}

/**
 * Network fee of paying a currency out on its chain, in its smallest units, rounded up.
 * @throws QuoteError PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export function refundCost(
  snapshot: MarketSnapshot,
  chain: Pick<QuotableChain, 'chainId' | 'native'>,
  currency: QuotableCurrency,
): bigint {
  const cost = networkFees(snapshot, chain).costOf({ kind: 'refund', isNative: currency.isNative })
  const price = requirePrice(snapshot, currency)
  return convertUp(cost, requirePrice(snapshot, chain.native), price)
}
