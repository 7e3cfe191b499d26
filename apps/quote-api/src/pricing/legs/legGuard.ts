import {
  bpsDenominator,
  convertDown,
  convertUp,
  divideUp,
  type Hex,
  maxBigint,
  minBigint,
  type PoolState,
  pow10,
  spotPrice,
} from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../errors.ts'
import { type PricedCurrency, requirePrice } from '../market/marketAccess.ts'
import type { Leg, LegQuote } from './legs.ts'
import { autoBaseBps, dearerClass } from './slippage.ts'

// Guards of quotes against manipulated pools. Whoever moves a pool and moves it back pays the pool's fee
// twice, and a quote in between must earn him less than that. Pools are compared with the agreed price of both tokens,
// the guarded price of the snapshot. No pool is part of it, so it does not matter how long a pool stays moved.
//
// - A pool that was moved in the caller's favour: a solver promises no more than the agreed price gives.
// - A pool that was moved against the caller: his slippage tolerance counts from the agreed price and not from the
//   pool's. Honest pools lag behind the market a little, so a tolerance that he named himself starts `poolLagBps`
//   (slippage.ts) below the agreed price, once for all legs. The least output is therefore never further below the agreed
//   price than the lag and the tolerance together. A pool beyond `guardBps` is not quoted at all.

/** Amount by which a pool sells `to` for `from` below the agreed price, in bps rounded up; 0 when above it. */
export function adverseBps(
  pool: Pick<PoolState, 'token0' | 'sqrtPriceX96'>,
  swap: { readonly tokenIn: Hex | string; readonly from: PricedCurrency; readonly to: PricedCurrency },
): bigint {
  const { from, to } = swap
  // A pool that was never initialized sells nothing.
  if (pool.sqrtPriceX96 <= 0n) return bpsDenominator
  const { amount0, amount1 } = spotPrice(pool)
  const [spotIn, spotOut] = swap.tokenIn === pool.token0 ? [amount0, amount1] : [amount1, amount0]
  // Compares spotOut/spotIn with (P_from/10^d_from)/(P_to/10^d_to), multiplied by both denominators.
  const spot = spotOut * to.usdX18 * pow10(from.decimals)
  const agreed = spotIn * from.usdX18 * pow10(to.decimals)
  return maxBigint(divideUp((agreed - spot) * bpsDenominator, agreed), 0n)
}

/**
 * Greatest `adverseBps` at which a pool is quoted. It equals the automatic tolerance before impact, because a
 * worse pool would use up that whole tolerance.
 */
export function guardBps({ from, to }: Leg): bigint {
  return autoBaseBps[dearerClass(from.assetClass, to.assetClass)]
}

/**
 * Output that a solver may promise for a leg, in smallest units: no more than the agreed price gives. Wrapping and
 * unwrapping give exactly their amount.
 */
export function promisedOut(snapshot: MarketSnapshot, { leg, amountIn, amountOut }: LegQuote): bigint {
  if (leg.kind !== 'pool') return amountOut
  return minBigint(
    amountOut,
    convertDown(amountIn, requirePrice(snapshot, leg.from), requirePrice(snapshot, leg.to)),
  )
}

/** Input that a solver needs to promise a leg's output, in smallest units. */
export function requiredIn(snapshot: MarketSnapshot, { leg, amountIn, amountOut }: LegQuote): bigint {
  if (leg.kind !== 'pool') return amountIn
  return maxBigint(
    amountIn,
    convertUp(amountOut, requirePrice(snapshot, leg.to), requirePrice(snapshot, leg.from)),
  )
}

/** The error where every pool of the pair sells too far below the agreed price to be quoted. */
export function poolDeviation({ chain, from, to }: Leg): QuoteError {
  return new QuoteError(
    'PRICE_FETCH_FAILED',
    `The pools of ${from.symbol} and ${to.symbol} on chain ${chain.chainId} are too far from the price of their tokens.`,
    { data: { reason: 'pool_deviation' } },
  )
}
