import { describe, expect, test } from 'vitest'
import { amountWorth, poolPlans, tickRange } from './poolPlan.ts'

describe('amountWorth', () => {
  test.each([
    ['WETH', 10_000n, 4n * 10n ** 18n],
    ['TIDE', 10_000n, 2_500n * 10n ** 18n],
    ['USDC', 10_000n, 10_000n * 10n ** 6n],
    ['USDX', 1n, 10n ** 6n],
  ] as const)('counts %s at its first feed price', (token, usd, expected) => {
    expect(amountWorth(token, usd)).toBe(expected)
  })
})

describe('tickRange', () => {
  const around = { firstTick: -198_077, tickSpacing: 60 }

  test('puts both ends on the grid of the pool', () => {
    const { tickLower, tickUpper } = tickRange({ lower: -2_600, upper: 2_600, usd: 1n }, around)
    expect([tickLower, tickUpper]).toEqual([-198_060 - 2_580, -198_060 + 2_580])
  })

  test('takes an open end for the last tick of the grid', () => {
    const range = tickRange({ lower: undefined, upper: undefined, usd: 1n }, around)
    expect(range).toEqual({ tickLower: -887_220, tickUpper: 887_220 })
  })
})

test('every pool holds several ranges, some of them on one side of the price only', () => {
  for (const { positions } of poolPlans) {
    const onOneSide = positions.filter(({ lower, upper }) => (lower ?? -1) >= 0 || (upper ?? 1) <= 0)
    expect(positions.length).toBeGreaterThanOrEqual(4)
    expect(onOneSide.length).toBe(2)
  }
})
