import { divideDown, type Hex, type PoolState, pow10, spotPrice, type UsdX18 } from '@causeway/core'
import { poolDepthMinUsdX18 } from './guards.ts'
import type { SourceFault } from './source.ts'

const q96 = 2n ** 96n

/**
 * Mid price of `token` in one pool, rounded down: the price of the pool's other token times the ratio
 * in which the pool would trade a vanishing amount. Faults instead of a value: `not_positive`,
 * `thin_pool`.
 * @source Uniswap V3 whitepaper 6.2 (√P), 6.2.1 (virtual reserves)
 */
export function poolPrice(args: {
  readonly pool: PoolState
  readonly token: Hex
  readonly tokenDecimals: number
  readonly quoteDecimals: number
  readonly quoteUsdX18: UsdX18
}): UsdX18 | SourceFault {
  const { pool, token, tokenDecimals, quoteDecimals, quoteUsdX18 } = args
  if (pool.sqrtPriceX96 <= 0n) return 'not_positive'
  const tokenIsZero = token === pool.token0
  const { amount0, amount1 } = spotPrice(pool)
  const [tokenAmount, quoteAmount] = tokenIsZero ? [amount0, amount1] : [amount1, amount0]
  const quoteReserve = tokenIsZero
    ? divideDown(pool.liquidity * pool.sqrtPriceX96, q96)
    : divideDown(pool.liquidity * q96, pool.sqrtPriceX96)
  if (divideDown(quoteReserve * quoteUsdX18, pow10(quoteDecimals)) < poolDepthMinUsdX18) return 'thin_pool'
  const usdX18 = divideDown(
    quoteAmount * quoteUsdX18 * pow10(tokenDecimals),
    tokenAmount * pow10(quoteDecimals),
  )
  return usdX18 > 0n ? usdX18 : 'not_positive'
}
