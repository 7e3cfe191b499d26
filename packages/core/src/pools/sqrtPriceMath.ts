/**
 * Token amounts of a price move within constant liquidity L:
 * Δtoken0 = L·(1/√a − 1/√b) and Δtoken1 = L·(√b − √a).
 * In every function `lower` and `upper` are √price·2⁹⁶ with 0 < lower ≤ upper.
 * @source Uniswap V3 Core whitepaper, 6.2.3
 */
export function amount0Down(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
  return ((liquidity << 96n) * (upperX96 - lowerX96)) / (lowerX96 * upperX96)
}

/** See `amount0Down`. */
export function amount0Up(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
  const divisor = lowerX96 * upperX96
  return ((liquidity << 96n) * (upperX96 - lowerX96) + divisor - 1n) / divisor
}

/** See `amount0Down`. */
export function amount1Down(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
  return (liquidity * (upperX96 - lowerX96)) >> 96n
}

/** See `amount0Down`. */
export function amount1Up(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
  return (liquidity * (upperX96 - lowerX96) + q96Minus1) >> 96n
}

/**
 * Price after `amount` of token0 came in: L·√P / (L + amount·√P), rounded up. If the product exceeds the pool's 256-bit
 * words, the pool divides first and rounds more coarsely; so does this function.
 */
export function priceAfterToken0In(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  const liquidityX96 = liquidity << 96n
  const divisor = liquidityX96 + amount * sqrtPriceX96
  if (divisor < uint256Limit) return divideUpPositive(liquidityX96 * sqrtPriceX96, divisor)
  return divideUpPositive(liquidityX96, liquidityX96 / sqrtPriceX96 + amount)
}

/** Price after `amount` of token1 came in: √P + amount/L, rounded down. */
export function priceAfterToken1In(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  return sqrtPriceX96 + (amount << 96n) / liquidity
}

/** Price after `amount` of token0 went out: L·√P / (L − amount·√P), rounded up. The amount must be there. */
export function priceAfterToken0Out(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  const liquidityX96 = liquidity << 96n
  return divideUpPositive(liquidityX96 * sqrtPriceX96, liquidityX96 - amount * sqrtPriceX96)
}

/** Price after `amount` of token1 went out: √P − amount/L, rounded down. The amount must be there. */
export function priceAfterToken1Out(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  return sqrtPriceX96 - divideUpPositive(amount << 96n, liquidity)
}

const q96Minus1 = (1n << 96n) - 1n
const uint256Limit = 1n << 256n

/** `divideUp` without its checks, for the innermost loop: both sides are known to be above zero. */
function divideUpPositive(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}
