import {
  divideDown,
  feesOfMoving,
  type Hex,
  minBigint,
  type PoolState,
  pow10,
  spotPrice,
  type UsdX18,
} from '@causeway/core'
import { poolMoveCostMinUsdX18 } from './guards.ts'
import type { SourceFault } from './source.ts'

/** A pool of `token`, which is to be priced, and a quote token whose price is known. */
export type PoolPriceInputs = {
  readonly pool: PoolState
  readonly token: Hex
  readonly tokenDecimals: number
  readonly quoteDecimals: number
  /** Price of the quote token. */
  readonly quoteUsdX18: UsdX18
}

/**
 * Mid price of `token` in one pool, rounded down: the price of the quote token times the ratio in which the pool would
 * trade a vanishing amount. Returns a fault instead: `not_positive`, or `thin_pool` where moving the pool's price by
 * `guardBps` and back costs less than `poolMoveCostMinUsdX18`.
 * @source Uniswap V3 whitepaper 6.2 (√P)
 */
export function poolPrice(inputs: PoolPriceInputs & { readonly guardBps: bigint }): UsdX18 | SourceFault {
  const { pool, token, tokenDecimals, quoteDecimals, quoteUsdX18, guardBps } = inputs
  if (pool.sqrtPriceX96 <= 0n) return 'not_positive'
  if (costOfMovingUsd(inputs, guardBps) < poolMoveCostMinUsdX18) return 'thin_pool'
  const [tokenAmount, quoteAmount] = spotAmounts(inputs, token === pool.token0)
  const usdX18 = divideDown(
    quoteAmount * quoteUsdX18 * pow10(tokenDecimals),
    tokenAmount * pow10(quoteDecimals),
  )
  return usdX18 > 0n ? usdX18 : 'not_positive'
}

/**
 * Fees of moving the pool's price by `bps` and back, in the cheaper direction. Fees in `token` are valued through the
 * quote token's price, which the pool cannot move.
 */
export function costOfMovingUsd(inputs: PoolPriceInputs, bps: bigint): UsdX18 {
  const { pool, token, quoteDecimals, quoteUsdX18 } = inputs
  const isToken0 = token === pool.token0
  const [tokenAmount, quoteAmount] = spotAmounts(inputs, isToken0)
  const costs = [true, false].map((upwards) => {
    const { fee0, fee1 } = feesOfMoving(pool, bps, upwards)
    const [tokenFee, quoteFee] = isToken0 ? [fee0, fee1] : [fee1, fee0]
    const costInQuote = quoteFee + divideDown(tokenFee * quoteAmount, tokenAmount)
    return divideDown(costInQuote * quoteUsdX18, pow10(quoteDecimals))
  })
  return costs.reduce(minBigint)
}

/** Amounts of `token` and of the quote token that are worth the same at the pool's price. */
function spotAmounts({ pool }: PoolPriceInputs, isToken0: boolean): readonly [bigint, bigint] {
  const { amount0, amount1 } = spotPrice(pool)
  return isToken0 ? [amount0, amount1] : [amount1, amount0]
}
