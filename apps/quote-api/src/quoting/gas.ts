import { bpsUp } from '@causeway/core'
import type { ChainMarket, GasShape } from '../market/snapshot.ts'
import type { QuotableCurrency } from './registry.ts'

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

export function refundShape(currency: QuotableCurrency): GasShape {
  return currency.isNative ? 'refund-native' : 'refund-erc20'
}
