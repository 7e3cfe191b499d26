// Goal: what is held never exceeds what a sponsor has, its policies and the caps, in whatever order requests come. Method:
// facts as the database tells them, changed one at a time.
import type { HoldRequest } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { transferId } from '../transfers/transferId.ts'
import { decideHolds, refusalOf } from './decideHolds.ts'
import { type HoldFacts, type KnownHold, openKey, type RequotableHold, usageKey } from './holdFacts.ts'
import { HoldState } from './holdState.ts'

const caps = { holdsPerUser: 3, holdsPerKey: 5, unsettledShareBps: 5_000n }
const account = { id: 1n, isFrozen: false, postedMicroUsd: 100n, heldMicroUsd: 40n }
const facts: HoldFacts = {
  isHalted: false,
  at: '2026-11-30T12:00:00.000000Z',
  account,
  hasDue: false,
  unsettledMicroUsd: 0n,
  openByKey: new Map(),
  openByUser: new Map(),
  settledUsers: new Set(),
  atDeposit: new Set(),
  known: new Map(),
  open: [],
  policies: new Map(),
  usage: new Map(),
}

const idOf = (name: string): string => `0x${name}`
function requestNamed(name: string, change: Partial<HoldRequest> = {}): HoldRequest {
  return {
    requestId: idOf(name),
    sponsor: 'sponsor',
    apiKeyId: 'key',
    user: `user ${name}`,
    recipient: `user ${name}`,
    originChainId: 1,
    destinationChainId: 10,
    components: ['execution'],
    amountMicroUsd: 10n,
    lifetimeSeconds: 60,
    requoteKey: `quote ${name}`,
    ...change,
  }
}
function decide(requests: readonly HoldRequest[], change: Partial<HoldFacts> = {}, isPinned = false) {
  return decideHolds({ ...facts, ...change }, requests, { caps, isPinned })
}
const statuses = (requests: readonly HoldRequest[], change: Partial<HoldFacts> = {}, isPinned = false) =>
  decide(requests, change, isPinned).outcomes.map(({ status }) => status)
const a = requestNamed('a')
const b = requestNamed('b')

describe('a balance', () => {
  test('holds what is left of it, in the order of requests, and not a unit more', () => {
    const all = requestNamed('a', { amountMicroUsd: 60n })
    expect(statuses([all])).toEqual(['reserved'])
    expect(statuses([{ ...all, amountMicroUsd: 61n }])).toEqual(['insufficient_balance'])
    expect(statuses([{ ...all, amountMicroUsd: 61n }, a, { ...b, amountMicroUsd: 51n }])).toEqual([
      'insufficient_balance',
      'reserved',
      'insufficient_balance',
    ])
    expect(statuses([a], { account: undefined })).toEqual(['insufficient_balance'])
    expect(decide([{ ...all, amountMicroUsd: 61n }]).atDeposit).toEqual([])
  })

  test('that is frozen holds nothing, and while the ledger is halted none does', () => {
    expect(statuses([a], { account: { ...account, isFrozen: true } })).toEqual(['sponsor_frozen'])
    expect(decide([a], { isHalted: true }).outcomes).toEqual([
      { status: 'policy_refused', rule: 'LEDGER_HALTED' },
    ])
  })

  test('is worth sweeping where its sums refused, not where it is frozen', () => {
    const much = requestNamed('a', { amountMicroUsd: 61n })
    const isWorth = (requests: readonly HoldRequest[], change: Partial<HoldFacts>) =>
      decide(requests, change).isWorthSweeping
    expect(isWorth([much, b], { hasDue: true })).toBe(true)
    expect(isWorth([much], { hasDue: false })).toBe(false)
    expect(isWorth([b], { hasDue: true })).toBe(false)
    expect(isWorth([much], { hasDue: true, account: { ...account, isFrozen: true } })).toBe(false)
  })
})

test('what is approved says its id, attempt, policy and whether its user ever settled', () => {
  const policies = new Map([['key', { version: 7, rules: { active: true } }]])
  const { approved, outcomes } = decide([a, b], { policies, settledUsers: new Set(['user b']) })
  const id = transferId('hold', '0xa:0')
  expect(outcomes[0]).toEqual({ status: 'reserved', holdId: id })
  expect(approved).toMatchObject([
    { id, request: a, attempt: 0, policyVersion: 7, isUnsettled: true },
    { request: b, isUnsettled: false },
  ])
  expect(decide([a]).approved).toMatchObject([{ policyVersion: undefined }])
})

describe('a request id that is known', () => {
  const [{ bodyHash = '' } = {}] = decide([a]).approved
  const hold: KnownHold = { id: 'earlier', attempt: 2, bodyHash, isPosted: false, isLive: true }
  const knowing = (change: Partial<KnownHold> = {}) => ({
    known: new Map([[a.requestId, { ...hold, ...change }]]),
  })

  test('holds once', () => {
    expect(decide([a], knowing()).outcomes).toEqual([{ status: 'already_reserved', holdId: 'earlier' }])
    expect(statuses([a], knowing({ isLive: false }))).toEqual(['already_resolved'])
    expect(statuses([a], knowing({ isLive: false, isPosted: true }), true)).toEqual(['already_resolved'])
  })

  test('L-45: is held anew for its deposit where its hold has ended unpaid', () => {
    const { outcomes, approved } = decide([a], knowing({ isLive: false }), true)
    const id = transferId('hold', '0xa:3')
    expect(outcomes).toEqual([{ status: 'reserved', holdId: id }])
    expect(approved).toMatchObject([{ attempt: 3, id }])
  })

  test.each<[string, Partial<HoldRequest>]>([
    ['sponsor', { sponsor: 'other' }],
    ['key', { apiKeyId: 'other' }],
    ['user', { user: 'other' }],
    ['recipient', { recipient: 'other' }],
    ['origin', { originChainId: 2 }],
    ['destination', { destinationChainId: 11 }],
    ['fees', { components: ['execution', 'relay'] }],
    ['amount', { amountMicroUsd: 11n }],
    ['lifetime', { lifetimeSeconds: 61 }],
    ['re-quote key', { requoteKey: 'other' }],
  ])('with another %s is a conflict', (_what, change) => {
    expect(statuses([{ ...a, ...change }], knowing())).toEqual(['conflict'])
  })

  test('L-1: that holds nothing before its deposit is told so again, and held at its deposit', () => {
    const atDeposit = new Set([a.requestId])
    expect(statuses([a], { atDeposit })).toEqual(['at_deposit'])
    expect(decide([a], { atDeposit }).atDeposit).toEqual([])
    expect(statuses([a], { atDeposit }, true)).toEqual(['reserved'])
  })
})

describe('L-44: a re-quote', () => {
  const earlier: RequotableHold = {
    id: 'earlier',
    requoteKey: 'same',
    apiKeyId: 'key',
    user: 'u',
    recipient: 'r',
    amountMicroUsd: 40n,
    isCounted: true,
    isToday: true,
    isUnsettled: true,
  }
  const open = { open: [earlier], unsettledMicroUsd: 40n }
  const again = requestNamed('again', { user: 'u', recipient: 'r', requoteKey: 'same' })

  test('has the money of the hold that it replaces', () => {
    const { outcomes, superseded } = decide([{ ...again, amountMicroUsd: 100n }], open)
    expect([outcomes[0]?.status, superseded]).toEqual(['reserved', ['earlier']])
    expect(statuses([{ ...again, amountMicroUsd: 101n }], open)).toEqual(['insufficient_balance'])
  })

  test('that is refused leaves the earlier hold, which counts on', () => {
    const { outcomes, superseded } = decide(
      [{ ...again, amountMicroUsd: 101n }, requestNamed('x', { amountMicroUsd: 61n })],
      open,
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['insufficient_balance', 'insufficient_balance'])
    expect(superseded).toEqual([])
  })

  test('is of the same key and words', () => {
    for (const change of [{ apiKeyId: 'other' }, { requoteKey: 'other' }])
      expect(decide([{ ...again, ...change }], open).superseded).toEqual([])
  })

  test('L-45: is no deposit: it replaces nothing', () => {
    expect(decide([again], open, true).superseded).toEqual([])
  })

  test('takes the place of the earlier one in every count', () => {
    const counts = {
      ...open,
      openByUser: new Map([[openKey('u', again), 3]]),
      openByKey: new Map([[openKey('key', again), 5]]),
    }
    expect(statuses([again], counts)).toEqual(['reserved'])
    const policies = new Map([
      ['key', { version: 1, rules: { active: true, maxCount: 5, maxTotal24h: 90n } }],
    ])
    const usage = new Map([
      [usageKey('key', 'lifetime', ''), { usedMicroUsd: 500n, count: 5n }],
      [usageKey('key', '24h', ''), { usedMicroUsd: 90n, count: 5n }],
    ])
    const counted = { ...counts, policies, usage }
    expect(statuses([{ ...again, amountMicroUsd: 40n }], counted)).toEqual(['reserved'])
    const uncounted = { ...counted, open: [{ ...earlier, isCounted: false }] }
    expect(decide([again], uncounted).outcomes).toEqual([{ status: 'policy_refused', rule: 'MAX_TOTAL_24H' }])
    const ofYesterday = { ...counted, open: [{ ...earlier, isToday: false }] }
    expect(decide([again], ofYesterday).outcomes).toEqual([
      { status: 'policy_refused', rule: 'MAX_TOTAL_24H' },
    ])
  })
})

describe('L-1: a cap', () => {
  const of = (name: string, change: Partial<HoldRequest> = {}) =>
    requestNamed(name, { amountMicroUsd: 1n, ...change })

  test('of three holds of a user counts it as user and as recipient, to one chain', () => {
    const openByUser = new Map([[openKey('u', a), 2]])
    const asUser = of('1', { user: 'u' })
    const asRecipient = of('2', { recipient: 'u' })
    expect(statuses([asUser, asRecipient], { openByUser })).toEqual(['reserved', 'at_deposit'])
    expect(decide([asUser, asRecipient], { openByUser }).atDeposit).toEqual([asRecipient])
    const elsewhere = of('3', { user: 'u', destinationChainId: 11 })
    expect(statuses([asUser, elsewhere], { openByUser })).toEqual(['reserved', 'reserved'])
    expect(statuses([asUser, asRecipient], { openByUser }, true)).toEqual(['reserved', 'reserved'])
  })

  test('of holds of a key is the key’s, to one chain', () => {
    const openByKey = new Map([[openKey('key', a), 4]])
    const requests = [of('1'), of('2'), of('3', { apiKeyId: 'other' }), of('4', { destinationChainId: 11 })]
    expect(statuses(requests, { openByKey })).toEqual(['reserved', 'at_deposit', 'reserved', 'reserved'])
  })

  test('is reported after what the balance refuses, and before nothing else', () => {
    const rules = new HoldState(facts, caps).checks(a, { isPinned: false }).map(({ rule }) => rule)
    expect(rules).toEqual([
      'LEDGER_HALTED',
      'NOT_FROZEN',
      'AVAILABLE',
      'HOLDS_PER_USER',
      'HOLDS_PER_KEY',
      'UNSETTLED_SHARE',
    ])
    expect(new HoldState(facts, caps).checks(a, { isPinned: true })).toHaveLength(3)
    const settled = new HoldState({ ...facts, settledUsers: new Set([a.user]) }, caps)
    expect(settled.checks(a, { isPinned: false }).map(({ rule }) => rule)).toEqual(rules.slice(0, -1))
  })
})

describe('L-47: users who never settled', () => {
  test('hold half of the balance together, and one of them always something', () => {
    const unsettledMicroUsd = 40n
    expect(statuses([a], { unsettledMicroUsd })).toEqual(['reserved'])
    expect(statuses([{ ...a, amountMicroUsd: 11n }], { unsettledMicroUsd })).toEqual(['at_deposit'])
    expect(statuses([{ ...a, amountMicroUsd: 60n }])).toEqual(['reserved'])
    expect(statuses([a, { ...b, amountMicroUsd: 41n }])).toEqual(['reserved', 'at_deposit'])
    const beside = new HoldState({ ...facts, unsettledMicroUsd: 1n }, caps)
    const checks = beside.checks({ ...a, amountMicroUsd: 60n }, { isPinned: false })
    expect(checks.at(-1)).toMatchObject({ limit: 50n, used: 1n, requested: 60n, passed: false })
    const rich = { ...account, heldMicroUsd: 0n }
    expect(statuses([a], { account: { ...rich, postedMicroUsd: 99n }, unsettledMicroUsd })).toEqual([
      'at_deposit',
    ])
  })

  test('are others than those who did: these hold what there is, and count nothing', () => {
    const settledUsers = new Set(['user a'])
    const big = { ...a, amountMicroUsd: 50n }
    expect(statuses([big, b], { settledUsers, unsettledMicroUsd: 40n })).toEqual(['reserved', 'reserved'])
  })

  test('have the share that the policy of their key names', () => {
    const policies = new Map([['key', { version: 1, rules: { active: true, unsettledShareBps: 1_000 } }]])
    expect(statuses([a, b], { policies })).toEqual(['reserved', 'at_deposit'])
    expect(statuses([a, { ...b, apiKeyId: 'other' }], { policies })).toEqual(['reserved', 'reserved'])
  })
})

describe('L-42: a policy', () => {
  const ruled = (rules: object, usage: HoldFacts['usage'] = new Map()) => ({
    policies: new Map([['key', { version: 1, rules: { active: true, ...rules } }]]),
    usage,
  })

  test('counts what is approved for all, for user and recipient, ever and today', () => {
    const both = [requestNamed('1', { user: 'u' }), requestNamed('2', { recipient: 'u' })]
    for (const rules of [
      { maxTotal: 19n },
      { maxTotal24h: 19n },
      { maxPerUser: 19n },
      { maxPerUser24h: 19n },
      { maxCount: 1 },
      { maxCountPerUser24h: 1 },
    ])
      expect(statuses(both, ruled(rules))).toEqual(['reserved', 'policy_refused'])
    expect(statuses(both, ruled({ maxTotal: 20n, maxCount: 2, maxPerUser24h: 20n }))).toEqual([
      'reserved',
      'reserved',
    ])
  })

  test('goes by the usage of its own key, and by the time of the facts', () => {
    const usage = new Map([[usageKey('key', 'lifetime', ''), { usedMicroUsd: 9n, count: 1n }]])
    expect(statuses([a], ruled({ maxTotal: 18n }, usage))).toEqual(['policy_refused'])
    expect(statuses([a], ruled({ maxTotal: 19n }, usage))).toEqual(['reserved'])
    expect(statuses([{ ...a, apiKeyId: 'other' }], ruled({ maxTotal: 0n }, usage))).toEqual(['reserved'])
    expect(statuses([a], ruled({ endsAt: '2026-11-30T12:00:00Z' }))).toEqual(['policy_refused'])
    expect(statuses([a], ruled({ endsAt: '2026-11-30T12:00:01Z' }))).toEqual(['reserved'])
  })
})

test('the first check that fails names the refusal', () => {
  const failed = (kind: 'sponsor' | 'policy' | 'balance' | 'cap') => ({ kind, rule: 'RULE', passed: false })
  const passed = { ...failed('sponsor'), passed: true }
  expect(refusalOf([passed])).toBeUndefined()
  expect(refusalOf([passed, failed('cap'), failed('balance')])).toEqual({ status: 'at_deposit' })
  expect(refusalOf([failed('balance')])).toEqual({ status: 'insufficient_balance' })
  expect(refusalOf([failed('policy')])).toEqual({ status: 'policy_refused', rule: 'RULE' })
  expect(refusalOf([failed('sponsor')])).toEqual({ status: 'sponsor_frozen' })
})
