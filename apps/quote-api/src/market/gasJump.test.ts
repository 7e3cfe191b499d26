import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gasPrice } from '../../test/marketSupport/fixtures.ts'
import { settleGas } from './gasJump.ts'

const settled = (samples: readonly number[]) =>
  Number(settleGas(samples.map((wei) => gasPrice(BigInt(wei)))).expectedWei)

describe('settleGas', () => {
  test.each([
    ['a first sample', [7], 7],
    ['a step within four times up', [10, 40], 40],
    ['a step within four times down', [40, 10], 10],
    ['not a spike of ten times', [10, 11, 110], 11],
    ['a spike that a second sample repeats', [10, 110, 100], 100],
    ['the old level after a spike that went away', [10, 110, 11], 11],
    ['not a fall to nothing', [100, 100, 1], 100],
    ['a fall that a second sample repeats', [100, 1, 1], 1],
    ['not the second sample when it jumps', [10, 41], 10],
    ['the middle of three that all disagree', [10, 100, 1_000], 100],
    ['only the last three', [1, 1, 50, 50, 51], 51],
  ])('takes %s', (_name, samples, expected) => {
    expect(settled(samples)).toBe(expected)
  })

  test('is always one of the last three samples', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 6 }),
        (samples) => {
          expect(samples.slice(-3)).toContain(settled(samples))
        },
      ),
    )
  })

  test('refuses to settle nothing', () => {
    expect(() => settleGas([])).toThrow(RangeError)
  })
})
