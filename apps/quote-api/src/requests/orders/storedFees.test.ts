// Goal: the fees that a row tells later are those that were quoted. A row holds totals and whole fees; what a
// fee has in one total may stand as one part, and every sum stays what it was.
import { type FeeParts, feeParts, feesByComponent, feesInRequestsV2, feeTotals, noFees } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { feesFromRow, feesRowFields, feesToRow, sharesToRow, storedSharesSchema } from './storedFees.ts'

const fees: fc.Arbitrary<FeeParts> = fc
  .array(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), {
    minLength: feeParts.length,
    maxLength: feeParts.length,
  })
  .map((amounts) => {
    const parts = { ...noFees }
    for (const [index, { name }] of feeParts.entries()) parts[name] = amounts[index] ?? 0n
    return parts
  })

const read = (row: object, app: bigint) => feesFromRow(z.object(feesRowFields).parse(row), app)

describe('fees in a row', () => {
  test('come back with every sum as it was, whatever they are', () => {
    fc.assert(
      fc.property(fees, (parts) => {
        const back = read(JSON.parse(JSON.stringify(feesToRow(parts))), parts.app)
        expect(feeTotals(back)).toEqual(feeTotals(parts))
        expect(feesByComponent(back)).toEqual(feesByComponent(parts))
        expect(feesInRequestsV2(back)).toEqual(feesInRequestsV2(parts))
        expect(back).toEqual({ ...parts, platform: parts.platform + parts.surplus, surplus: 0n })
      }),
    )
  })

  test('hold what they always held, and a fee of later only where it is due', () => {
    const parts = { ...noFees, gas: 10n, flat: 20n, skew: -3n, platform: 5n, app: 7n }
    const row = { relayerGas: '10', relayerService: '22', execution: '30', swap: '-3' }
    expect(feesToRow(parts)).toEqual(row)
    expect(feesToRow({ ...parts, rent: 4n })).toEqual({ ...row, relayerGas: '14', rent: '4' })
  })
})

test('a sponsor pays shares that come back as they were, and a row without one paid none of it', () => {
  const shares = { execution: 1n, swap: 2n, relay: 3n, rent: 4n }
  const { rent, ...older } = sharesToRow(shares)
  expect(storedSharesSchema.parse({ ...older, rent })).toEqual(shares)
  expect(storedSharesSchema.parse(older)).toEqual({ ...shares, rent: 0n })
  expect(() => storedSharesSchema.parse({ ...older, relay: 'much' })).toThrow()
})
