import { bpsUp, type CostedTransaction, convertUp, type NetworkFees } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { requireChain, requirePrice } from './marketAccess.ts'
import type { QuotableChain, QuotableCurrency } from './registry.ts'
import type { QuoteRequest } from './request.ts'

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
  { permit, isNative }: QuotableCurrency,
): CostedTransaction | undefined {
  if (useDepositAddress) return { kind: 'sweep', isNative }
  if (!usePermit) return undefined
  if (permit === 'none') throw new Error('a currency without permits was let through')
  return { kind: `permit-${permit}`, isNative }
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

/**
 * Network fee of emptying a deposit address of a currency, in its smallest units, rounded up.
 * @throws QuoteError PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export function sweepCostIn(
  snapshot: MarketSnapshot,
  chain: Pick<QuotableChain, 'chainId' | 'native'>,
  currency: QuotableCurrency,
): bigint {
  const cost = networkFees(snapshot, chain).costOf({ kind: 'sweep', isNative: currency.isNative })
  return convertUp(cost, requirePrice(snapshot, chain.native), requirePrice(snapshot, currency))
}
