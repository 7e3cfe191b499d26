// Goal: whatever fees are made of, everybody who sums them counts each part once. Attack: a part that enters one
// sum and not another, so that an answer's total differs from what its members add up to.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  feeParts,
  feeRule,
  isSponsored,
  partsBoughtBy,
  sponsoredComponents,
  sponsorRule,
} from './feeRules.ts'
import {
  type FeeParts,
  feesByComponent,
  feesByImpact,
  feesInRequestsV2,
  feesInRequestsV3,
  feeTotals,
  noFees,
  sponsorableFees,
  sumOfFees,
} from './fees.ts'

const amount = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
const fees: fc.Arbitrary<FeeParts> = fc
  .array(amount, { minLength: feeParts.length, maxLength: feeParts.length })
  .map((amounts) => {
    const parts = { ...noFees }
    for (const [index, { name }] of feeParts.entries()) parts[name] = amounts[index] ?? 0n
    return parts
  })

const sumOf = (sums: Readonly<Record<string, bigint>>) =>
  Object.values(sums).reduce((all, one) => all + one, 0n)

test('each part is of one fee, under a name of its own', () => {
  expect(new Set(feeParts.map(({ name }) => name)).size).toBe(feeParts.length)
})

test('every way to tell the fees adds up to the same', () => {
  fc.assert(
    fc.property(fees, (parts) => {
      const all = sumOfFees(parts)
      const { relayerGas, relayerService, relayer, app } = feeTotals(parts)
      expect(relayer).toBe(relayerGas + relayerService)
      expect(relayer + app).toBe(all)
      expect(sumOf(feesByComponent(parts))).toBe(all)
      expect(sumOf(feesByImpact(parts))).toBe(all)
      expect(sumOf(feesInRequestsV3(parts))).toBe(all)
      expect(sumOf(feesInRequestsV2(parts))).toBe(relayer)
    }),
  )
})

test('a sponsor is asked for the fees that can be sponsored, less what stays with the user', () => {
  fc.assert(
    fc.property(fees, (parts) => {
      const own = feeParts.filter(({ component, isUsersOwn }) => isUsersOwn || !isSponsored(component))
      const kept = own.reduce((sum, { name }) => sum + parts[name], 0n)
      const sponsorable = sponsorableFees(parts)
      expect(Object.keys(sponsorable)).toEqual(sponsoredComponents)
      expect(sumOf(sponsorable)).toBe(sumOfFees(parts) - kept)
    }),
  )
})

test('a cap pays for the fees in their order, and the app fee is never drawn from a sponsor', () => {
  expect(sponsoredComponents).toEqual(['execution', 'swap', 'relay', 'rent'])
  expect(feeRule('app').sponsor).toBe('never')
})

test('Q-30: a word buys its parts, and the rent or a surplus only under its own name', () => {
  expect(partsBoughtBy('execution')).toEqual(['gas', 'flat'])
  expect(partsBoughtBy('swap')).toEqual(['skew'])
  expect(partsBoughtBy('relay')).toEqual(['platform'])
  expect(partsBoughtBy('rent')).toEqual(['rent'])
  expect(partsBoughtBy('app')).toEqual([])
  expect(partsBoughtBy('gas')).toEqual(['gas'])
  expect(partsBoughtBy('relayer')).toEqual(['gas', 'flat', 'skew', 'platform'])
})

test('Q-30: the rent has a field of its own, and stops the quote where it is not bought', () => {
  expect(sponsorRule('rent')).toMatchObject({
    selectedBy: 'subsidizeRent',
    requiredElse: 'RENT_NOT_SUBSIDIZED',
  })
  for (const component of ['execution', 'swap', 'relay'] as const)
    expect(sponsorRule(component).selectedBy).toBe('subsidizeFees')
})
