import type { PoolState } from './poolState.ts'
import { sqrtPriceX96FromAmounts } from './spotPrice.ts'
import { amount0Down, amount1Down } from './sqrtPriceMath.ts'
import { maxSqrtPriceX96, minSqrtPriceX96, sqrtPriceX96AtTick } from './tickMath.ts'
import { nextTickOrEnd, passStop, startWalk } from './tickWalk.ts'

/** Fees in smallest units of both tokens. */
export type MoveFees = { readonly fee0: bigint; readonly fee1: bigint }

const feeDenominator = 1_000_000n
const bpsDenominator = 10_000n

/**
 * Least cost of manipulating a pool as a price source: the fees of moving its price by `bps` upwards or downwards and
 * back, rounded down. Who moves it for longer than a block loses to arbitrage as well. Only liquidity between the two
 * prices counts; a pool without a price costs nothing.
 * @param bps below 10,000 when `upwards` is false
 * @throws RangeError when the ticks contradict the liquidity
 * @source Uniswap V3 Core whitepaper, 6.2.3
 */
export function feesOfMoving(state: PoolState, bps: bigint, upwards: boolean): MoveFees {
  if (state.sqrtPriceX96 <= 0n) return { fee0: 0n, fee1: 0n }
  const { amount0, amount1 } = amountsBetween(state, priceMovedBy(state.sqrtPriceX96, bps, upwards))
  const feePips = BigInt(state.feePips)
  // The fee comes on top of an amount: the pool takes it from all that is paid in.
  const feeOf = (amount: bigint) => (amount * feePips) / (feeDenominator - feePips)
  return { fee0: feeOf(amount0), fee1: feeOf(amount1) }
}

/** The pool price that is `bps` higher or lower, within what a pool can hold. */
export function priceMovedBy(sqrtPriceX96: bigint, bps: bigint, upwards: boolean): bigint {
  // The square of √price·2⁹⁶ is the price times 2¹⁹².
  const moved = sqrtPriceX96FromAmounts({
    amount0: bpsDenominator << 192n,
    amount1: sqrtPriceX96 * sqrtPriceX96 * (upwards ? bpsDenominator + bps : bpsDenominator - bps),
  })
  if (moved >= maxSqrtPriceX96) return maxSqrtPriceX96 - 1n
  return moved <= minSqrtPriceX96 ? minSqrtPriceX96 + 1n : moved
}

/**
 * Amounts that the pool holds between its price and another one: a swap to that price pays in one of them and takes
 * out the other, and the swap back does the reverse.
 */
function amountsBetween(state: PoolState, targetX96: bigint): { amount0: bigint; amount1: bigint } {
  const downwards = targetX96 < state.sqrtPriceX96
  const walk = startWalk(state, downwards)
  let { sqrtPriceX96: priceX96, liquidity } = state
  let amount0 = 0n
  let amount1 = 0n
  while (priceX96 !== targetX96) {
    // A swap also stops between initialised ticks, but only rounds there: no fee is left out.
    const stop = nextTickOrEnd(walk)
    const stopX96 = sqrtPriceX96AtTick(stop)
    const isLast = downwards ? stopX96 <= targetX96 : stopX96 >= targetX96
    const nextX96 = isLast ? targetX96 : stopX96
    const [lower, upper] = downwards ? [nextX96, priceX96] : [priceX96, nextX96]
    amount0 += amount0Down(lower, upper, liquidity)
    amount1 += amount1Down(lower, upper, liquidity)
    priceX96 = nextX96
    if (isLast) break
    liquidity += passStop(walk, stop) ?? 0n
    if (liquidity < 0n) throw new RangeError('the ticks contradict the liquidity')
  }
  return { amount0, amount1 }
}
