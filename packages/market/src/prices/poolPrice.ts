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

export type PoolPriceInputs = {
  readonly pool: PoolState
  readonly token: Hex
  readonly tokenDecimals: number
  readonly quoteDecimals: number
  readonly quoteUsdX18: UsdX18
}

/**
 * Mid price of `token` in one pool, rounded down: the price of the pool's other token times the ratio
 * in which the pool would trade a vanishing amount. Faults instead of a value: `not_positive`, and
 * `thin_pool` where the price is cheaper to move by `guardBps` than a guard may be.
 * @source Uniswap V3 whitepaper 6.2 (√P)
 */
export function poolPrice(inputs: PoolPriceInputs & { readonly guardBps: bigint }): UsdX18 | SourceFault {
  const { pool, token, tokenDecimals, quoteDecimals, quoteUsdX18, guardBps } = inputs
  if (pool.sqrtPriceX96 <= 0n) return 'not_positive'
  if (costOfMovingUsd(inputs, guardBps) < poolMoveCostMinUsdX18) return 'thin_pool'
  const [tokenAmount, quoteAmount] = tokenFirst(inputs, token === pool.token0)
  const usdX18 = divideDown(
    quoteAmount * quoteUsdX18 * pow10(tokenDecimals),
    tokenAmount * pow10(quoteDecimals),
  )
  return usdX18 > 0n ? usdX18 : 'not_positive'
}

/**
 * The least that moving the pool's price by `bps` and back costs in fees, in the cheaper direction. Both
 * tokens are valued through the other token's price, which the pool cannot move.
 */
export function costOfMovingUsd(inputs: PoolPriceInputs, bps: bigint): UsdX18 {
  const { pool, token, quoteDecimals, quoteUsdX18 } = inputs
  const tokenIsZero = token === pool.token0
  const [tokenAmount, quoteAmount] = tokenFirst(inputs, tokenIsZero)
  const costs = [true, false].map((upwards) => {
    const { fee0, fee1 } = feesOfMoving(pool, bps, upwards)
    const [tokenFee, quoteFee] = tokenIsZero ? [fee0, fee1] : [fee1, fee0]
    const inQuote = quoteFee + divideDown(tokenFee * quoteAmount, tokenAmount)
    return divideDown(inQuote * quoteUsdX18, pow10(quoteDecimals))
  })
  return costs.reduce(minBigint)
}

function tokenFirst({ pool }: PoolPriceInputs, tokenIsZero: boolean): readonly [bigint, bigint] {
  const { amount0, amount1 } = spotPrice(pool)
  return tokenIsZero ? [amount0, amount1] : [amount1, amount0]
}
