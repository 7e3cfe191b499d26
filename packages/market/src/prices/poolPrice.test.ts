// Goal: the mid price of a pool is exact. Method: pools at known prices, and the ratio computed the long way.
import type { Hex, PoolState } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { oneUsdX18 } from './guards.ts'
import { costOfMovingUsd, poolPrice } from './poolPrice.ts'

const weth: Hex = '0x4200000000000000000000000000000000000006'
const usdc: Hex = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const q96 = 2n ** 96n
const guardBps = 300n

function pool(overrides: Partial<PoolState>): PoolState {
  return {
    address: '0x00000000000000000000000000000000000000aa',
    token0: weth,
    token1: usdc,
    feePips: 500,
    tickSpacing: 10,
    sqrtPriceX96: q96,
    tick: 0,
    liquidity: 10n ** 24n,
    ticks: [],
    blockHash: `0x${'11'.repeat(32)}`,
    ...overrides,
  }
}

describe('poolPrice', () => {
  // 1 ETH = 2 500 USDC: token1 per token0 in smallest units is 2 500·10⁶ / 10¹⁸ = (5·10⁻⁵)².
  const sqrtAt2500 = (q96 * 5n) / 100_000n

  test('prices the first token by the second', () => {
    const price = poolPrice({
      pool: pool({ sqrtPriceX96: sqrtAt2500 }),
      token: weth,
      tokenDecimals: 18,
      quoteDecimals: 6,
      quoteUsdX18: oneUsdX18,
      guardBps,
    })
    expect(typeof price === 'bigint' && near(price, 2_500n * oneUsdX18)).toBe(true)
  })

  test('prices the second token by the first', () => {
    const price = poolPrice({
      pool: pool({ sqrtPriceX96: sqrtAt2500 }),
      token: usdc,
      tokenDecimals: 6,
      quoteDecimals: 18,
      quoteUsdX18: 2_500n * oneUsdX18,
      guardBps,
    })
    expect(typeof price === 'bigint' && near(price, oneUsdX18)).toBe(true)
  })

  test('follows the price of the other token', () => {
    const args = {
      pool: pool({ sqrtPriceX96: sqrtAt2500 }),
      token: weth,
      tokenDecimals: 18,
      quoteDecimals: 6,
      guardBps,
    } as const
    const price = poolPrice({ ...args, quoteUsdX18: (oneUsdX18 * 98n) / 100n })
    expect(typeof price === 'bigint' && near(price, 2_450n * oneUsdX18)).toBe(true)
  })

  test('guards only where moving it by the distance of the guard costs enough, on either side', () => {
    // At 2 500, √P·L of the quote token is L·5·10⁻⁵ smallest units of USDC; 3 % there and back takes about
    // twice 0.05 % of 1.5 % of it.
    const liquidityFor = (usd: bigint) => (usd * 1_000_000n * 100_000n) / 5n
    const eth = {
      tokenDecimals: 18,
      quoteDecimals: 6,
      quoteUsdX18: oneUsdX18,
      token: weth,
      guardBps,
    } as const
    const reversed = {
      token: usdc,
      tokenDecimals: 6,
      quoteDecimals: 18,
      quoteUsdX18: 2_500n * oneUsdX18,
      guardBps,
    } as const
    const at = (usd: bigint) => pool({ sqrtPriceX96: sqrtAt2500, liquidity: liquidityFor(usd) })
    for (const side of [eth, reversed]) {
      expect(poolPrice({ ...side, pool: at(100_000n) })).toBe('thin_pool')
      expect(poolPrice({ ...side, pool: at(32_000_000n) })).toBe('thin_pool')
      expect(typeof poolPrice({ ...side, pool: at(36_000_000n) })).toBe('bigint')
      expect(poolPrice({ ...side, pool: at(0n) })).toBe('thin_pool')
    }
    const costUsdX18 = costOfMovingUsd({ ...eth, pool: at(100_000n) }, 290n)
    expect(costUsdX18 > (oneUsdX18 * 140n) / 100n && costUsdX18 < (oneUsdX18 * 150n) / 100n).toBe(true)
  })

  test('guards at a cost of exactly 500 USD', () => {
    const eth = { token: weth, tokenDecimals: 18, quoteDecimals: 6, quoteUsdX18: oneUsdX18, guardBps }
    const at = (liquidity: bigint) => ({ ...eth, pool: pool({ sqrtPriceX96: sqrtAt2500, liquidity }) })
    let [low, high] = [0n, 10n ** 24n]
    while (high - low > 1n) {
      const middle = (low + high) / 2n
      if (costOfMovingUsd(at(middle), guardBps) < 500n * oneUsdX18) low = middle
      else high = middle
    }
    expect(costOfMovingUsd(at(high), guardBps)).toBe(500n * oneUsdX18)
    expect(poolPrice(at(high))).toBeTypeOf('bigint')
    expect(poolPrice(at(low))).toBe('thin_pool')
  })

  test.each([
    ['above', { index: -198_070, liquidityNet: -2n * 10n ** 18n }],
    ['below', { index: -198_090, liquidityNet: 2n * 10n ** 18n }],
  ])('guards by its cheaper side: a pool that is empty %s its price is thin', (_name, edge) => {
    const eth = { token: weth, tokenDecimals: 18, quoteDecimals: 6, quoteUsdX18: oneUsdX18, guardBps }
    const state = pool({ sqrtPriceX96: sqrtAt2500, tick: -198_080, liquidity: 2n * 10n ** 18n })
    expect(poolPrice({ ...eth, pool: state })).toBeTypeOf('bigint')
    expect(poolPrice({ ...eth, pool: { ...state, ticks: [edge] } })).toBe('thin_pool')
  })

  test('a token that is worth less than the last digit has no price, however deep its pool', () => {
    const state = pool({ sqrtPriceX96: 2n ** 64n, liquidity: 2n ** 120n })
    const dust = { token: weth, tokenDecimals: 0, quoteDecimals: 6, quoteUsdX18: oneUsdX18, guardBps }
    expect(poolPrice({ ...dust, pool: state })).toBe('not_positive')
  })

  test('a pool that was never initialised has no price', () => {
    const args = {
      token: weth,
      tokenDecimals: 18,
      quoteDecimals: 6,
      quoteUsdX18: oneUsdX18,
      guardBps,
    } as const
    expect(poolPrice({ ...args, pool: pool({ sqrtPriceX96: 0n }) })).toBe('not_positive')
  })

  test('is the exact ratio rounded down, for any pool', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 2n ** 64n, max: 2n ** 128n }),
        fc.integer({ min: 0, max: 24 }),
        fc.integer({ min: 0, max: 24 }),
        fc.bigInt({ min: 1n, max: 10n ** 24n }),
        (sqrtPriceX96, tokenDecimals, quoteDecimals, quoteUsdX18) => {
          const state = pool({ sqrtPriceX96, liquidity: 2n ** 200n })
          const price = poolPrice({
            pool: state,
            token: weth,
            tokenDecimals,
            quoteDecimals,
            quoteUsdX18,
            guardBps,
          })
          if (typeof price !== 'bigint') return
          const numerator = sqrtPriceX96 ** 2n * quoteUsdX18 * 10n ** BigInt(tokenDecimals)
          const denominator = 2n ** 192n * 10n ** BigInt(quoteDecimals)
          expect(price * denominator <= numerator && numerator < (price + 1n) * denominator).toBe(true)
        },
      ),
    )
  })
})

/** Equal up to the rounding of √P. */
function near(a: bigint, b: bigint): boolean {
  const difference = a > b ? a - b : b - a
  return difference * 10n ** 12n < b
}
