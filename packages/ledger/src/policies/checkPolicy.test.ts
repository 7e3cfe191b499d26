// Goal: a policy allows exactly what it states, to the unit and the second. Method: each rule alone, at its edge.
import type { HoldRequest } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { checkPolicy, type UsageOf, usersOf } from './checkPolicy.ts'
import { InvalidPolicyError, type PolicyRules, parsePolicyRules } from './policySchema.ts'

const request: HoldRequest = {
  requestId: '0x01',
  sponsor: 'sponsor',
  apiKeyId: 'key',
  user: 'user',
  recipient: 'recipient',
  originChainId: 1,
  destinationChainId: 10,
  components: ['execution', 'relay'],
  amountMicroUsd: 5n,
  lifetimeSeconds: 60,
  requoteKey: 'quote',
}
const at = new Date('2026-11-30T12:00:00Z')
const unused: UsageOf = () => ({ usedMicroUsd: 0n, count: 0n })
const check = (rules: Partial<PolicyRules>, change: Partial<HoldRequest> = {}, usageOf = unused) =>
  checkPolicy({ active: true, ...rules }, { ...request, ...change }, { at, usageOf }).slice(1)

test('a policy without rules checks that it is active, and nothing else', () => {
  const now = { at, usageOf: unused }
  expect(checkPolicy({ active: true }, request, now)).toEqual([
    { kind: 'policy', rule: 'INACTIVE', passed: true },
  ])
  expect(checkPolicy({ active: false }, request, now)).toEqual([
    { kind: 'policy', rule: 'INACTIVE', passed: false },
  ])
})

test.each<[string, Partial<PolicyRules>, boolean]>([
  ['STARTS_AT', { startsAt: '2026-11-30T12:00:00Z' }, true],
  ['STARTS_AT', { startsAt: '2026-11-30T12:00:01Z' }, false],
  ['ENDS_AT', { endsAt: '2026-11-30T12:00:01Z' }, true],
  ['ENDS_AT', { endsAt: '2026-11-30T12:00:00Z' }, false],
  ['ORIGIN_CHAINS', { originChains: [2, 1] }, true],
  ['ORIGIN_CHAINS', { originChains: [10] }, false],
  ['DESTINATION_CHAINS', { destinationChains: [2, 10] }, true],
  ['DESTINATION_CHAINS', { destinationChains: [1] }, false],
  ['COMPONENTS', { components: ['relay', 'execution', 'swap'] }, true],
  ['COMPONENTS', { components: ['relay'] }, false],
  ['USER_BLOCKLIST', { userBlocklist: ['other'] }, true],
  ['USER_BLOCKLIST', { userBlocklist: ['user'] }, false],
  ['USER_BLOCKLIST', { userBlocklist: ['recipient'] }, false],
  ['USER_ALLOWLIST', { userAllowlist: ['recipient', 'user'] }, true],
  ['USER_ALLOWLIST', { userAllowlist: ['user'] }, false],
  ['USER_ALLOWLIST', { userAllowlist: ['recipient'] }, false],
  ['USER_ALLOWLIST', { userAllowlist: [] }, false],
])('L-43: %s, %j: %s', (rule, rules, passed) => {
  expect(check(rules)).toEqual([{ kind: 'policy', rule, passed }])
})

describe('L-42: a limit counts what was used, by all or by one user, ever or today', () => {
  /** What each subject used: money and number. */
  const uses: Readonly<Record<string, readonly [bigint, bigint]>> = {
    ' lifetime': [100n, 50n],
    ' 24h': [80n, 40n],
    'user lifetime': [30n, 9n],
    'user 24h': [20n, 7n],
    'recipient lifetime': [40n, 8n],
    'recipient 24h': [10n, 6n],
  }
  const usageOf: UsageOf = (subject, window) => {
    const [usedMicroUsd = 0n, count = 0n] = uses[`${subject} ${window}`] ?? []
    return { usedMicroUsd, count }
  }

  test.each([
    ['maxPerRequest', 'MAX_PER_REQUEST', 0n, 5n],
    ['maxTotal', 'MAX_TOTAL', 100n, 5n],
    ['maxTotal24h', 'MAX_TOTAL_24H', 80n, 5n],
    ['maxPerUser', 'MAX_PER_USER', 40n, 5n],
    ['maxPerUser24h', 'MAX_PER_USER_24H', 20n, 5n],
  ] as const)('%s', (name, rule, used, requested) => {
    const limit = used + requested
    const sums = { kind: 'policy', rule, used, requested }
    expect(check({ [name]: limit }, {}, usageOf)).toEqual([{ ...sums, limit, passed: true }])
    expect(check({ [name]: limit - 1n }, {}, usageOf)).toEqual([
      { ...sums, limit: limit - 1n, passed: false },
    ])
  })

  test.each([
    ['maxCount', 'MAX_COUNT', 50n],
    ['maxCount24h', 'MAX_COUNT_24H', 40n],
    ['maxCountPerUser', 'MAX_COUNT_PER_USER', 9n],
    ['maxCountPerUser24h', 'MAX_COUNT_PER_USER_24H', 7n],
  ] as const)('%s', (name, rule, used) => {
    const sums = { kind: 'policy', rule, used, requested: 1n }
    const [most, less] = [Number(used) + 1, Number(used)]
    expect(check({ [name]: most }, {}, usageOf)).toEqual([{ ...sums, limit: used + 1n, passed: true }])
    expect(check({ [name]: less }, {}, usageOf)).toEqual([{ ...sums, limit: used, passed: false }])
  })
})

test('L-1: an address counts once, also where it is user and recipient', () => {
  expect(usersOf({ user: 'a', recipient: 'a' })).toEqual(['a'])
  expect(usersOf({ user: 'a', recipient: 'b' })).toEqual(['a', 'b'])
})

describe('the rules that an operator writes', () => {
  test('are amounts without a sign, and addresses in any case', () => {
    const evm = `0x${'aB'.repeat(20)}`
    expect(parsePolicyRules({ maxTotal: '12', userAllowlist: [evm, `x${evm}`, `${evm}C`] })).toEqual({
      active: true,
      maxTotal: 12n,
      userAllowlist: [evm.toLowerCase(), `x${evm}`, `${evm}C`],
    })
  })

  test('are refused by the names of all that is wrong', () => {
    const wrong = { maxTotal: '-1', maxPerUser: '1x', maxCount: -1, unsettledShareBps: 10_001 }
    const refused = expect.objectContaining({ code: 'INVALID_POLICY', kind: 'invalid_request' })
    expect(() => parsePolicyRules(wrong)).toThrow(refused)
    expect(() => parsePolicyRules(wrong)).toThrow(
      /maxTotal: must be 1 to 30 digits; maxPerUser: must be 1 to 30 digits; maxCount: .*; unsettledShareBps: /,
    )
    expect(() => parsePolicyRules({ originChains: [1, 'x'] })).toThrow(/originChains\.1: /)
    expect(() => parsePolicyRules({ rule: 1 })).toThrow(InvalidPolicyError)
    try {
      parsePolicyRules({ maxCount: -1 })
    } catch (error) {
      expect(error).toMatchObject({ data: { problems: expect.stringContaining('maxCount') } })
    }
  })
})
