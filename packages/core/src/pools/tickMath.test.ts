import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  maxSqrtPriceX96,
  maxTick,
  minSqrtPriceX96,
  minTick,
  sqrtPriceX96AtTick,
  tickAtSqrtPriceX96,
} from './tickMath.ts'

const q96 = 2n ** 96n
const tick = fc.integer({ min: minTick, max: maxTick })

/** 1.0001^(tick/2)·2⁹⁶ by integers of 1,000 bits, which is exact far beyond the last digit compared. */
function exactSqrtPriceX96(ofTick: number): bigint {
  const bits = 1_000n
  let power = squareRoot((10_001n << (2n * bits)) / 10_000n)
  let result = 1n << bits
  for (let rest = Math.abs(ofTick); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = (result * power) >> bits
    power = (power * power) >> bits
  }
  return ofTick < 0 ? (1n << (bits + 96n)) / result : (result << 96n) >> bits
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(value.toString(2).length)
  for (;;) {
    const next = (root + value / root) / 2n
    if (next >= root) return root
    root = next
  }
}

describe('sqrtPriceX96AtTick', () => {
  it('gives the protocol constants at both ends and one in the middle', () => {
    expect(sqrtPriceX96AtTick(minTick)).toBe(minSqrtPriceX96)
    expect(sqrtPriceX96AtTick(maxTick)).toBe(maxSqrtPriceX96)
    expect(sqrtPriceX96AtTick(0)).toBe(q96)
  })

  it('is within a ten-billionth of the true power of 1.0001 for each of its bits, both ways', () => {
    for (let bit = 0; bit < 20; bit++) {
      for (const at of [2 ** bit, -(2 ** bit)].filter((each) => Math.abs(each) <= maxTick)) {
        const [ours, exact] = [sqrtPriceX96AtTick(at), exactSqrtPriceX96(at)]
        const gap = ours > exact ? ours - exact : exact - ours
        expect(gap).toBeLessThanOrEqual(exact / 10n ** 10n + 1n)
      }
    }
  })

  it('rises with every tick', () => {
    fc.assert(
      fc.property(fc.integer({ min: minTick, max: maxTick - 1 }), (at) => {
        expect(sqrtPriceX96AtTick(at + 1)).toBeGreaterThan(sqrtPriceX96AtTick(at))
      }),
      { numRuns: 1_000 },
    )
  })

  it.each([minTick - 1, maxTick + 1, Number.NaN])('refuses tick %d', (at) => {
    expect(() => sqrtPriceX96AtTick(at)).toThrow(RangeError)
  })
})

describe('tickAtSqrtPriceX96', () => {
  it('finds the tick of a price that stands exactly on it, and the one below a unit less', () => {
    fc.assert(
      fc.property(fc.integer({ min: minTick + 1, max: maxTick - 1 }), (at) => {
        expect(tickAtSqrtPriceX96(sqrtPriceX96AtTick(at))).toBe(at)
        expect(tickAtSqrtPriceX96(sqrtPriceX96AtTick(at) - 1n)).toBe(at - 1)
      }),
      { numRuns: 2_000 },
    )
  })

  it('brackets any price between its tick and the next', () => {
    fc.assert(
      fc.property(tick, fc.bigInt({ min: 0n, max: 2n ** 64n }), (at, offset) => {
        const price = sqrtPriceX96AtTick(at) + offset
        fc.pre(price < maxSqrtPriceX96)
        const found = tickAtSqrtPriceX96(price)
        expect(sqrtPriceX96AtTick(found)).toBeLessThanOrEqual(price)
        expect(sqrtPriceX96AtTick(found + 1)).toBeGreaterThan(price)
      }),
      { numRuns: 2_000 },
    )
  })

  it('covers the range up to its ends and refuses what is outside', () => {
    expect(tickAtSqrtPriceX96(minSqrtPriceX96)).toBe(minTick)
    expect(tickAtSqrtPriceX96(maxSqrtPriceX96 - 1n)).toBe(maxTick - 1)
    expect(() => tickAtSqrtPriceX96(minSqrtPriceX96 - 1n)).toThrow(RangeError)
    expect(() => tickAtSqrtPriceX96(maxSqrtPriceX96)).toThrow(RangeError)
  })
})
