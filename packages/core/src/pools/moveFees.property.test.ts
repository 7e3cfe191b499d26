// Goal: the stated cost of moving a pool is what whoever moves it loses to the pool, never more.
// Method: the move is made and taken back in the pool's own arithmetic, for random pools with several ranges.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { feesOfMoving, priceMovedBy } from './moveFees.ts'
import type { InitializedTick, PoolState } from './poolState.ts'
import { quoteExactInput, quoteExactOutput } from './quotePool.ts'
import { sqrtPriceX96FromAmounts } from './spotPrice.ts'
import { maxSqrtPriceX96, minSqrtPriceX96, sqrtPriceX96AtTick, tickAtSqrtPriceX96 } from './tickMath.ts'

/** Ranges around the price on top of one over everything. */
function poolOf(args: {
  sqrtPriceX96: bigint
  feePips: number
  full: bigint
  ranges: readonly { below: number; above: number; liquidity: bigint }[]
}): PoolState {
  const { sqrtPriceX96, feePips, full, ranges } = args
  const tick = tickAtSqrtPriceX96(sqrtPriceX96)
  const net = new Map<number, bigint>()
  const add = (index: number, liquidity: bigint) => net.set(index, (net.get(index) ?? 0n) + liquidity)
  add(-887_220, full)
  add(887_220, -full)
  let liquidity = full
  const grid = Math.floor(tick / 60) * 60
  for (const range of ranges) {
    add(grid - 60 * range.below, range.liquidity)
    add(grid + 60 * (range.above + 1), -range.liquidity)
    liquidity += range.liquidity
  }
  const ticks: InitializedTick[] = [...net]
    .filter(([, liquidityNet]) => liquidityNet !== 0n)
    .map(([index, liquidityNet]) => ({ index, liquidityNet }))
    .sort((a, b) => a.index - b.index)
  return {
    address: `0x${'aa'.repeat(20)}`,
    token0: `0x${'01'.repeat(20)}`,
    token1: `0x${'02'.repeat(20)}`,
    feePips,
    tickSpacing: 60,
    sqrtPriceX96,
    tick,
    liquidity,
    ticks,
    blockHash: `0x${'11'.repeat(32)}`,
  }
}

const pools = fc
  .record({
    sqrtPriceX96: fc.bigInt({ min: 2n ** 80n, max: 2n ** 112n }),
    feePips: fc.constantFrom(100, 500, 3_000, 10_000),
    full: fc.bigInt({ min: 10n ** 20n, max: 10n ** 28n }),
    ranges: fc.array(
      fc.record({
        below: fc.integer({ min: 0, max: 12 }),
        above: fc.integer({ min: 0, max: 12 }),
        liquidity: fc.bigInt({ min: 10n ** 18n, max: 10n ** 28n }),
      }),
      { maxLength: 4 },
    ),
  })
  .map(poolOf)

describe('feesOfMoving', () => {
  test('is what there and back loses to the pool, for any pool, distance and direction', () => {
    fc.assert(
      fc.property(pools, fc.integer({ min: 10, max: 1_500 }), fc.boolean(), (pool, bps, upwards) => {
        const stated = feesOfMoving(pool, BigInt(bps), upwards)
        const targetX96 = priceMovedBy(pool.sqrtPriceX96, BigInt(bps), upwards)
        const there = reach(pool, targetX96)
        const moved = { ...pool, ...there.after }
        const back = reach(moved, pool.sqrtPriceX96)
        // Loss of each token: amount in on one way less amount out on the other.
        const [lost0, lost1] = upwards
          ? [back.amountIn - there.amountOut, there.amountIn - back.amountOut]
          : [there.amountIn - back.amountOut, back.amountIn - there.amountOut]
        expect(isNear(lost0, stated.fee0), `token0 ${lost0} ${stated.fee0}`).toBe(true)
        expect(isNear(lost1, stated.fee1), `token1 ${lost1} ${stated.fee1}`).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('of a pool with 100,000 USD around its price is about 1.45 USD for 2.9 %', () => {
    // 1 ETH = 2,500 USDC; √P·L is 100,000 USDC.
    const sqrtPriceX96 = sqrtPriceX96FromAmounts({ amount0: 10n ** 18n, amount1: 2_500n * 10n ** 6n })
    const liquidity = ((100_000n * 10n ** 6n) << 96n) / sqrtPriceX96
    const pool = poolOf({ sqrtPriceX96, feePips: 500, full: liquidity, ranges: [] })
    const { fee0, fee1 } = feesOfMoving(pool, 290n, true)
    const usdc = fee1 + (fee0 * 2_500n * 10n ** 6n) / 10n ** 18n
    expect(usdc).toBeGreaterThan(1_400_000n)
    expect(usdc).toBeLessThan(1_480_000n)
  })

  test('a pool without price costs nothing to move', () => {
    const pool = { ...poolOf({ sqrtPriceX96: 2n ** 96n, feePips: 500, full: 10n ** 20n, ranges: [] }) }
    expect(feesOfMoving({ ...pool, sqrtPriceX96: 0n }, 300n, true)).toEqual({ fee0: 0n, fee1: 0n })
  })
})

test('a price is moved to the last one that a pool can hold, and no further', () => {
  expect(priceMovedBy(maxSqrtPriceX96 - 1n, 100n, true)).toBe(maxSqrtPriceX96 - 1n)
  expect(priceMovedBy(minSqrtPriceX96 + 1n, 100n, false)).toBe(minSqrtPriceX96 + 1n)
  expect(priceMovedBy(2n ** 96n, 100n, true)).toBe(sqrtPriceX96FromAmounts({ amount0: 100n, amount1: 101n }))
  expect(priceMovedBy(2n ** 96n, 100n, false)).toBe(sqrtPriceX96FromAmounts({ amount0: 100n, amount1: 99n }))
})

test('ticks that take more liquidity than there is are refused', () => {
  const pool = poolOf({ sqrtPriceX96: 2n ** 96n, feePips: 500, full: 10n ** 20n, ranges: [] })
  const ticks = [{ index: 60, liquidityNet: -(10n ** 20n) - 1n }]
  expect(() => feesOfMoving({ ...pool, ticks }, 1_000n, true)).toThrow(RangeError)
})

/** The least swap that brings the price to a target, found by halving, and the pool behind it. */
function reach(pool: PoolState, targetX96: bigint) {
  const zeroForOne = targetX96 < pool.sqrtPriceX96
  const arrives = (amountIn: bigint) => {
    const after = quoteExactInput(pool, zeroForOne, amountIn).sqrtPriceX96After
    return zeroForOne ? after <= targetX96 : after >= targetX96
  }
  let high = 1n
  while (!arrives(high)) high *= 2n
  let low = high / 2n
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    if (arrives(middle)) high = middle
    else low = middle
  }
  const { amountIn, amountOut } = quoteExactInput(pool, zeroForOne, high)
  expect(quoteExactOutput(pool, zeroForOne, amountOut).amountIn <= amountIn).toBe(true)
  const tick = tickAtSqrtPriceX96(targetX96)
  const crossed = pool.ticks.filter(({ index }) =>
    zeroForOne ? index <= pool.tick && index > tick : index > pool.tick && index <= tick,
  )
  const net = crossed.reduce((sum, { liquidityNet }) => sum + liquidityNet, 0n)
  expect(sqrtPriceX96AtTick(tick) <= targetX96).toBe(true)
  const liquidity = pool.liquidity + (zeroForOne ? -net : net)
  return { amountIn, amountOut, after: { sqrtPriceX96: targetX96, tick, liquidity } }
}

/** Equal but for rounding at every stop and the last unit of the price. */
function isNear(a: bigint, b: bigint): boolean {
  const apart = a > b ? a - b : b - a
  return apart * 10_000n <= b + 10_000_000n
}
