import { bpsDenominator, divideUp, type UsdX18, usdValueDown } from '@causeway/core'
import type { MarketSnapshot } from '../market/snapshot.ts'
import { QuoteError } from './errors.ts'
import type { LegQuote } from './legs.ts'
import { requirePrice } from './marketAccess.ts'

/** Value change inside pool legs, fees of the solver not included; negative is a loss. */
export type LegImpact = { readonly usd: UsdX18; readonly inputUsd: UsdX18; readonly lossBps: bigint }

const noImpact: LegImpact = { usd: 0n, inputUsd: 0n, lossBps: 0n }

/** A pool that gives this much more than the market is broken or being set up. */
const gainBpsMax = 500n

/** Impact of all pool legs together. @source quote-api.md 6.3 (swapImpact) */
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
      {
        data: { reason: 'pool_deviation' },
      },
    )
  }
}
