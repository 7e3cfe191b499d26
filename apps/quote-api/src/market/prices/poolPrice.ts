import { divideDown, type Hex, type PoolState, pow10, type UsdX18 } from '@causeway/core'
import { poolDepthMinUsdX18 } from './guards.ts'
import type { SourceFault } from './source.ts'

const q96 = 2n ** 96n
const q192 = 2n ** 192n

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
  const { numerator, denominator } = ratio(pool.sqrtPriceX96, tokenIsZero)
  const quoteReserve = tokenIsZero
    ? divideDown(pool.liquidity * pool.sqrtPriceX96, q96)
    : divideDown(pool.liquidity * q96, pool.sqrtPriceX96)
  if (divideDown(quoteReserve * quoteUsdX18, pow10(quoteDecimals)) < poolDepthMinUsdX18) return 'thin_pool'
  const usdX18 = divideDown(
    numerator * quoteUsdX18 * pow10(tokenDecimals),
    denominator * pow10(quoteDecimals),
  )
  return usdX18 > 0n ? usdX18 : 'not_positive'
}

/** Smallest units of the other token per smallest unit of the token. */
function ratio(sqrtPriceX96: bigint, tokenIsZero: boolean): { numerator: bigint; denominator: bigint } {
  const squared = sqrtPriceX96 * sqrtPriceX96
  return tokenIsZero ? { numerator: squared, denominator: q192 } : { numerator: q192, denominator: squared }
}
