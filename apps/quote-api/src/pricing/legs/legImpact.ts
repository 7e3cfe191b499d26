import { bpsDenominator, divideUp, type UsdX18, usdValueDown } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../errors.ts'
import { requirePrice } from '../market/marketAccess.ts'
import { type LegQuote, legName } from './legs.ts'

/** Change of value inside pool legs, without the solver's fees. */
export type LegImpact = {
  /** Worth of the output less that of the input; negative is a loss. */
  readonly usd: UsdX18
  readonly inputUsd: UsdX18
  /** The loss as a part of the input, rounded up; negative is a gain. */
  readonly lossBps: bigint
}

const noImpact: LegImpact = { usd: 0n, inputUsd: 0n, lossBps: 0n }

/** Impact of all pool legs together. @source rule Q-details-07 */
export function legImpact(snapshot: MarketSnapshot, legs: readonly (LegQuote | undefined)[]): LegImpact {
  let usd = 0n
  let inputUsd = 0n
  for (const quote of legs) {
    if (quote === undefined || quote.leg.kind !== 'pool') continue
    const paid = usdValueDown(quote.amountIn, requirePrice(snapshot, quote.leg.from))
    usd += usdValueDown(quote.amountOut, requirePrice(snapshot, quote.leg.to)) - paid
    inputUsd += paid
  }
  if (inputUsd === 0n) return noImpact
  return { usd, inputUsd, lossBps: divideUp(-usd * bpsDenominator, inputUsd) }
}

/** Sum over all legs of the bps by which their pools are below the agreed price. */
export function adverseBpsOf(legs: readonly (LegQuote | undefined)[]): bigint {
  return legs.reduce((sum, leg) => sum + (leg?.adverseBps ?? 0n), 0n)
}

/**
 * A pool in which half of the value is lost is not deep enough for the amount. Smaller losses are left to
 * `checkImpact`.
 */
const depthLossBps = 5_000n

/**
 * Refuses an amount that is more than a pool holds, unless the caller accepts any impact.
 * @throws QuoteError INSUFFICIENT_LIQUIDITY
 */
export function checkDepth(
  snapshot: MarketSnapshot,
  quote: LegQuote,
  { override }: { override: boolean },
): void {
  if (override) return
  // Rounding takes at most one unit. One is added, so that rounding of a dust amount does not count as lack of depth.
  const unrounded = { ...quote, amountOut: quote.amountOut + 1n }
  if (legImpact(snapshot, [unrounded]).lossBps < depthLossBps) return
  const { chain, from, to } = quote.leg
  throw new QuoteError(
    'INSUFFICIENT_LIQUIDITY',
    `Pools on chain ${chain.chainId} hold too little to swap so much ${from.symbol} to ${to.symbol}.`,
    { data: { leg: legName(quote.leg) } },
  )
}

/** A pool that gives this much more than the market is broken or being set up. */
const gainBpsMax = 500n

/**
 * Refuses a swap that loses more than the configured limit, unless the caller accepts it, and one
 * that gains more than any honest pool gives.
 * @throws QuoteError SWAP_IMPACT_TOO_HIGH, PRICE_FETCH_FAILED
 */
export function checkImpact(impact: LegImpact, limits: { maxBps: number; override: boolean }): void {
  if (impact.lossBps > BigInt(limits.maxBps) && !limits.override) {
    throw new QuoteError(
      'SWAP_IMPACT_TOO_HIGH',
      `The swap loses ${impact.lossBps} bps of its value; lower the amount or set overridePriceImpact.`,
      { data: { impactBps: Number(impact.lossBps), limitBps: limits.maxBps } },
    )
  }
  if (impact.lossBps < -gainBpsMax) {
    throw new QuoteError(
      'PRICE_FETCH_FAILED',
      'Pools and price sources disagree too far to quote this swap.',
      { data: { reason: 'pool_deviation' } },
    )
  }
}
