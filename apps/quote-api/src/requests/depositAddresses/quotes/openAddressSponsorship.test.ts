import { expect, test } from 'vitest'
import { brokenLimit, defaultAddressLimits } from './openAddressSponsorship.ts'

const day = 86_400
test.each([
  ['the last of its uses', { uses: 9 }, undefined],
  ['one use more', { uses: 10 }, 'MAX_COUNT_PER_OPEN_ADDRESS'],
  ['the last dollar', { usedMicroUsd: 9_000_000n }, undefined],
  ['one unit more', { usedMicroUsd: 9_000_001n }, 'MAX_TOTAL_PER_OPEN_ADDRESS'],
  ['its last second', { ageSeconds: 7 * day - 1 }, undefined],
  ['its end', { ageSeconds: 7 * day }, 'MAX_SECONDS_PER_OPEN_ADDRESS'],
])('Q-45: an open address that is at %s, where a policy says nothing', (_what, used, rule) => {
  const usage = { uses: 0, usedMicroUsd: 0n, ageSeconds: 0, ...used }
  expect(brokenLimit(usage, defaultAddressLimits, 1_000_000n)).toBe(rule)
})

test('Q-45: a policy that allows nothing ends an address at once', () => {
  const usage = { uses: 0, usedMicroUsd: 0n, ageSeconds: 0 }
  expect(brokenLimit(usage, { ...defaultAddressLimits, maxUses: 0 }, 1n)).toBe('MAX_COUNT_PER_OPEN_ADDRESS')
})
