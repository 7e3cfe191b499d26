import { bpsUp, convertUp } from '@causeway/core'
import type { ChainMarket, GasShape, MarketSnapshot } from '@causeway/market'
import { requireChain, requirePrice } from './marketAccess.ts'
import type { QuotableChain, QuotableCurrency } from './registry.ts'
import type { QuoteRequest } from './request.ts'

/** Extra units per initialised tick that a swap crosses: two cold storage slots and arithmetic. */
const unitsPerTickCrossed = 30_000n

/** Gas units of a transaction shape, with what its swap crosses and its calls need on top. */
export function gasUnits(
  market: ChainMarket,
  shape: GasShape,
  extra: { ticksCrossed?: number; callUnits?: bigint } = {},
): bigint {
  return (
    market.gasUnits[shape] + BigInt(extra.ticksCrossed ?? 0) * unitsPerTickCrossed + (extra.callUnits ?? 0n)
  )
}

/** Expected cost in wei: execution at the expected price plus the L1 data fee. */
export function gasCostWei(
  market: ChainMarket,
  shape: GasShape,
  extra: { ticksCrossed?: number; callUnits?: bigint } = {},
): bigint {
  return gasUnits(market, shape, extra) * market.gasPrice.expectedWei + market.l1DataFeeWei[shape]
}

/** What the solver charges for a cost: the expectation raised by the chain's markup, rounded up. */
export function chargedWei(expectedWei: bigint, markupBps: number): bigint {
  return expectedWei + bpsUp(expectedWei, BigInt(markupBps))
}

/** The transaction that pays `currencyOut` on the destination. */
export function fillShape(payout: QuotableCurrency, hasPoolLeg: boolean): GasShape {
  if (hasPoolLeg) return 'fill-swap'
  return payout.isNative ? 'fill-native' : 'fill-erc20'
}

/**
 * The transaction by which the solver makes a deposit of what it is given; undefined where the user sends
 * the deposit. @throws Error for a permit of a currency without permits
 */
export function relayedShape(
  { usePermit, useDepositAddress }: Pick<QuoteRequest, 'usePermit' | 'useDepositAddress'>,
  { permit, isNative }: QuotableCurrency,
): GasShape | undefined {
  if (useDepositAddress) return sweepShape(isNative)
  if (!usePermit) return undefined
  if (permit === 'none') throw new Error('a currency without permits was let through')
  return `permit-${permit}`
}

/** The transaction that empties a deposit address. */
export function sweepShape(isNative: boolean): GasShape {
  return isNative ? 'sweep-native' : 'sweep-erc20'
}

function refundShape(currency: QuotableCurrency): GasShape {
  return currency.isNative ? 'refund-native' : 'refund-erc20'
}

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
