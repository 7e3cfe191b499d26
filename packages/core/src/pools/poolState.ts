import type { Hex } from '../hex.ts'

/** One initialised tick. Crossing it upwards adds `liquidityNet` (signed) to the active liquidity. */
export type InitializedTick = { readonly index: number; readonly liquidityNet: bigint }

/**
 * All of a Uniswap V3 pool that a swap depends on, as of one block.
 * Prices are token1 per token0 as √·2⁹⁶. Addresses are lower case.
 */
export type PoolState = {
  readonly address: Hex
  readonly token0: Hex
  readonly token1: Hex
  /** Hundredths of a basis point: 3 000 is 0.3 %. */
  readonly feePips: number
  readonly tickSpacing: number
  readonly sqrtPriceX96: bigint
  readonly tick: number
  readonly liquidity: bigint
  /** Every initialised tick of the pool, ascending. */
  readonly ticks: readonly InitializedTick[]
  /** Block the state was read at: equal hashes mean equal states. */
  readonly blockHash: Hex
}

export type PoolQuote = {
  /** Exact input: what is taken, less than asked for when liquidity ends. Exact output: what must be paid. */
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly sqrtPriceX96After: bigint
  readonly initializedTicksCrossed: number
  /** True when the pool could not take all the input or give all the output. */
  readonly exhausted: boolean
}
