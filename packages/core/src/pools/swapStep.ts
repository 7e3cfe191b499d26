import {
  amount0Down,
  amount0Up,
  amount1Down,
  amount1Up,
  priceAfterToken0In,
  priceAfterToken0Out,
  priceAfterToken1In,
  priceAfterToken1Out,
} from './sqrtPriceMath.ts'

/** A swap under way. One object per quote, changed in place: steps are the innermost loop. */
export type SwapProgress = {
  sqrtPriceX96: bigint
  liquidity: bigint
  /** Exact input: input not yet taken, fee included. Exact output: output not yet given. */
  remaining: bigint
  /** Exact input: output so far. Exact output: input so far, fee included. */
  counted: bigint
}

const feeDenominator = 1_000_000n

/**
 * One step of a swap with an exact input: moves the price to the target, or as far as the input lasts. `zeroForOne`:
 * token0 goes in and the price falls.
 * The fee of a step that reaches the target rounds up; otherwise all input that moved no price is the fee.
 * @source Uniswap V3 Core whitepaper, 6.2.3
 */
export function stepExactInput(
  swap: SwapProgress,
  targetX96: bigint,
  zeroForOne: boolean,
  feePips: bigint,
): void {
  const { sqrtPriceX96, liquidity, remaining } = swap
  const keptPips = feeDenominator - feePips
  const usable = (remaining * keptPips) / feeDenominator
  const neededInput = zeroForOne
    ? amount0Up(targetX96, sqrtPriceX96, liquidity)
    : amount1Up(sqrtPriceX96, targetX96, liquidity)
  if (usable >= neededInput) {
    swap.sqrtPriceX96 = targetX96
    swap.remaining = remaining - neededInput - feeUp(neededInput, feePips, keptPips)
  } else {
    swap.sqrtPriceX96 = zeroForOne
      ? priceAfterToken0In(sqrtPriceX96, liquidity, usable)
      : priceAfterToken1In(sqrtPriceX96, liquidity, usable)
    swap.remaining = 0n
  }
  swap.counted += zeroForOne
    ? amount1Down(swap.sqrtPriceX96, sqrtPriceX96, liquidity)
    : amount0Down(sqrtPriceX96, swap.sqrtPriceX96, liquidity)
}

/** One step of a swap with an exact output: moves the price to the target, or until enough was given. See `stepExactInput`. */
export function stepExactOutput(
  swap: SwapProgress,
  targetX96: bigint,
  zeroForOne: boolean,
  feePips: bigint,
): void {
  const { sqrtPriceX96, liquidity, remaining } = swap
  const availableOutput = zeroForOne
    ? amount1Down(targetX96, sqrtPriceX96, liquidity)
    : amount0Down(sqrtPriceX96, targetX96, liquidity)
  if (remaining >= availableOutput) {
    swap.sqrtPriceX96 = targetX96
    swap.remaining = remaining - availableOutput
  } else {
    swap.sqrtPriceX96 = zeroForOne
      ? priceAfterToken1Out(sqrtPriceX96, liquidity, remaining)
      : priceAfterToken0Out(sqrtPriceX96, liquidity, remaining)
    swap.remaining = 0n
  }
  const amountIn = zeroForOne
    ? amount0Up(swap.sqrtPriceX96, sqrtPriceX96, liquidity)
    : amount1Up(sqrtPriceX96, swap.sqrtPriceX96, liquidity)
  swap.counted += amountIn + feeUp(amountIn, feePips, feeDenominator - feePips)
}

/** The fee that comes on top of an input: input·fee/(1 − fee), rounded up. */
function feeUp(amount: bigint, feePips: bigint, keptPips: bigint): bigint {
  return (amount * feePips + keptPips - 1n) / keptPips
}
