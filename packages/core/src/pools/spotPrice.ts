import type { PoolState } from './poolState.ts'

/** An exact price: `amount0` smallest units of token0 are worth `amount1` smallest units of token1. */
export type PoolPrice = { readonly amount0: bigint; readonly amount1: bigint }

const q192 = 1n << 192n

/** Price at the margin, without the pool's fee: token1 per token0 is `amount1 / amount0`. */
export function spotPrice(state: Pick<PoolState, 'sqrtPriceX96'>): PoolPrice {
  return { amount0: q192, amount1: state.sqrtPriceX96 * state.sqrtPriceX96 }
}

/**
 * The pool price nearest below `amount1 / amount0`: √(amount1/amount0)·2⁹⁶, rounded down.
 * @throws RangeError unless both amounts are positive
 */
export function sqrtPriceX96FromAmounts({ amount0, amount1 }: PoolPrice): bigint {
  if (amount0 <= 0n || amount1 <= 0n) throw new RangeError('both amounts of a price must be positive')
  return squareRootDown((amount1 << 192n) / amount0)
}

/** ⌊√value⌋ by Newton's iteration, which begins at a power of two above the root and falls down to it. */
function squareRootDown(value: bigint): bigint {
  if (value < 2n) return value
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
