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

// Whoever moves a pool and moves it back pays the fees of both ways, and must earn less than that by what is
// quoted in between. The agreed price of both tokens is the measure, because no pool is part of it: it makes no
// difference for how many blocks a pool stays moved.
//
// - Moved in favour of who asks: what a solver promises is never more than the agreed price gives.
// - Moved against who asks: tolerances count from the agreed price and not from the pool's, a named one from
//   `poolLagBps` below it, for all legs together. So the least output is never further below the agreed price,
//   however the pools stand; a pool beyond the guard is not quoted at all.

/** Amount by which a pool sells `to` for `from` below the agreed price, in bps rounded up; 0 when above it. */
export function adverseBps(
  pool: Pick<PoolState, 'token0' | 'sqrtPriceX96'>,
  swap: { readonly tokenIn: Hex | string; readonly from: PricedCurrency; readonly to: PricedCurrency },
): bigint {
  const { from, to } = swap
  if (pool.sqrtPriceX96 <= 0n) return bpsDenominator
  const { amount0, amount1 } = spotPrice(pool)
  const [taken, given] = swap.tokenIn === pool.token0 ? [amount0, amount1] : [amount1, amount0]
  // given/taken against (P_from/10^d_from)/(P_to/10^d_to), over one denominator.
  const spot = given * to.usdX18 * pow10(from.decimals)
  const agreed = taken * from.usdX18 * pow10(to.decimals)
  return maxBigint(divideUp((agreed - spot) * bpsDenominator, agreed), 0n)
}

/** The automatic tolerance before impact: a pool that stands further off would leave no tolerance at all. */
export function guardBps({ from, to }: Leg): bigint {
  return autoBaseBps[dearerClass(from.assetClass, to.assetClass)]
}

/** Output that a solver may promise for a leg, in smallest units. One-to-one legs give exactly their amount. */
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

/** Every pool of the pair sells too far below the agreed price to be quoted. */
export function poolDeviation({ chain, from, to }: Leg): QuoteError {
  return new QuoteError(
    'PRICE_FETCH_FAILED',
    `The pools of ${from.symbol} and ${to.symbol} on chain ${chain.chainId} are too far from the price of their tokens.`,
    { data: { reason: 'pool_deviation' } },
  )
}
