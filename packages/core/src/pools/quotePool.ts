import type { PoolQuote, PoolState } from './poolState.ts'
import { type SwapProgress, stepExactInput, stepExactOutput } from './swapStep.ts'
import { maxSqrtPriceX96, minSqrtPriceX96, sqrtPriceX96AtTick } from './tickMath.ts'
import { nextStop, nextTickOrEnd, passStop, startWalk } from './tickWalk.ts'

/** The pool takes amounts as signed 256-bit integers. */
const amountLimit = 1n << 255n
const lowestPriceX96 = minSqrtPriceX96 + 1n
const highestPriceX96 = maxSqrtPriceX96 - 1n

/**
 * Result of a swap of `amountIn`, exact to the last unit: equal to QuoterV2's `quoteExactInputSingle` without a price
 * limit. If liquidity ends first, `amountIn` is the amount taken. A swap of nothing moves nothing, though the pool
 * would refuse it.
 *
 * @throws RangeError on an amount below zero or of 2²⁵⁵ and more, or ticks that contradict the liquidity
 */
export function quoteExactInput(state: PoolState, zeroForOne: boolean, amountIn: bigint): PoolQuote {
  const { swap, crossed } = runSwap(state, zeroForOne, amountIn, stepExactInput)
  return {
    amountIn: amountIn - swap.remaining,
    amountOut: swap.counted,
    sqrtPriceX96After: swap.sqrtPriceX96,
    initializedTicksCrossed: crossed,
    exhausted: swap.remaining !== 0n,
  }
}

/**
 * Cost of a swap that gives `amountOut`: equal to QuoterV2's `quoteExactOutputSingle` without a price limit. If
 * liquidity ends first (where QuoterV2 reverts), `amountOut` is all the pool can give and `exhausted` is true.
 * @throws RangeError as `quoteExactInput`
 */
export function quoteExactOutput(state: PoolState, zeroForOne: boolean, amountOut: bigint): PoolQuote {
  const { swap, crossed } = runSwap(state, zeroForOne, amountOut, stepExactOutput)
  return {
    amountIn: swap.counted,
    amountOut: amountOut - swap.remaining,
    sqrtPriceX96After: swap.sqrtPriceX96,
    initializedTicksCrossed: crossed,
    exhausted: swap.remaining !== 0n,
  }
}

/** Steps from stop to stop until the amount or the range of prices ends. */
function runSwap(
  state: PoolState,
  zeroForOne: boolean,
  amount: bigint,
  step: typeof stepExactInput,
): { readonly swap: SwapProgress; readonly crossed: number } {
  if (amount < 0n || amount >= amountLimit) throw new RangeError('the amount is out of range')
  const { sqrtPriceX96, liquidity } = state
  const swap: SwapProgress = { sqrtPriceX96, liquidity, remaining: amount, counted: 0n }
  const feePips = BigInt(state.feePips)
  const limitX96 = zeroForOne ? lowestPriceX96 : highestPriceX96
  const walk = startWalk(state, zeroForOne)
  let crossed = 0
  // Without a price the pool was never initialised: it has nothing to give.
  if (sqrtPriceX96 === 0n) return { swap, crossed }
  while (
    swap.remaining !== 0n &&
    (zeroForOne ? swap.sqrtPriceX96 > limitX96 : swap.sqrtPriceX96 < limitX96)
  ) {
    // Without liquidity no stop before the next tick moves any amount.
    const stop = swap.liquidity === 0n ? nextTickOrEnd(walk) : nextStop(walk)
    const stopX96 = sqrtPriceX96AtTick(stop)
    const beyondLimit = zeroForOne ? stopX96 < limitX96 : stopX96 > limitX96
    step(swap, beyondLimit ? limitX96 : stopX96, zeroForOne, feePips)
    // The amount ended before the stop, or the price limit lay before it.
    if (swap.sqrtPriceX96 !== stopX96) break
    const addedLiquidity = passStop(walk, stop)
    if (addedLiquidity === undefined) continue
    crossed++
    swap.liquidity += addedLiquidity
    if (swap.liquidity < 0n) throw new RangeError('the ticks contradict the liquidity')
  }
  return { swap, crossed }
}
