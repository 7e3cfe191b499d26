// Goal: what a policy or a cap forbids is refused to the unit and to the hold, what it allows is not, and
// the dry run says the same without leaving a trace. Method: real holds on the migrated schema.
import type { HoldRequest } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createLedger,
  defaultHoldCaps,
  explainPolicy,
  readPolicy,
  readPolicyUsage,
  readPolicyVersions,
  setPolicy,
  verifyLedger,
} from '../src/index.ts'
import { fund, holdNamed, noCaps, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

const reserve = (request: HoldRequest, port = ledger) =>
  bed.database.transaction((tx) => port.reserve(tx, request))

/** A sponsor and a key of the same name, with a policy. */
async function policed(name: string, rules: unknown) {
  await fund(bed.database, name, 1_000n)
  await setPolicy(bed.database, { apiKeyId: name, rules, actor: 'test' })
  let count = 0
  return (change: Partial<HoldRequest> = {}) => {
    count += 1
    return holdNamed(`${name} ${count}`, { sponsor: name, apiKeyId: name, ...change })
  }
}

const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
const wallet = '0xAbCdEf0000000000000000000000000000000001'

describe('a policy refuses by', () => {
  test.each<[rule: string, rules: unknown, allowed: Partial<HoldRequest>, refused: Partial<HoldRequest>]>([
    ['MAX_PER_REQUEST', { maxPerRequest: '10' }, {}, { amountMicroUsd: 11n }],
    ['ORIGIN_CHAINS', { originChains: [8453] }, {}, { originChainId: 10 }],
    ['DESTINATION_CHAINS', { destinationChains: [10, 1] }, {}, { destinationChainId: 8453 }],
    [
      'COMPONENTS',
      { components: ['execution', 'relay'] },
      { components: ['relay'] },
      { components: ['swap'] },
    ],
    ['USER_BLOCKLIST', { userBlocklist: ['bad'] }, { user: 'good' }, { user: 'good', recipient: 'bad' }],
    ['USER_ALLOWLIST', { userAllowlist: ['good'] }, { user: 'good' }, { user: 'good', recipient: 'other' }],
    ['USER_ALLOWLIST', { userAllowlist: [wallet] }, { user: wallet.toLowerCase() }, { user: 'other' }],
  ])('L-43: %s: %j', async (rule, rules, allowed, refused) => {
    const request = await policed(`${rule} ${JSON.stringify(rules)}`.replaceAll(' ', '_'), rules)
    expect(await reserve(request(allowed))).toMatchObject({ status: 'reserved' })
    expect(await reserve(request(refused))).toEqual({ status: 'policy_refused', rule })
  })

  test.each([
    ['INACTIVE', { active: false }],
    ['STARTS_AT', { startsAt: inAnHour }],
    ['ENDS_AT', { endsAt: hourAgo }],
  ])('%s at this time', async (rule, rules) => {
    const request = await policed(rule, rules)
    expect(await reserve(request())).toEqual({ status: 'policy_refused', rule })
    await setPolicy(bed.database, {
      apiKeyId: rule,
      rules: { startsAt: hourAgo, endsAt: inAnHour },
      actor: 'test',
    })
    expect(await reserve(request())).toMatchObject({ status: 'reserved' })
  })

  test.each([
    ['MAX_TOTAL', { maxTotal: '25' }],
    ['MAX_TOTAL_24H', { maxTotal24h: '25' }],
    ['MAX_COUNT', { maxCount: 2 }],
    ['MAX_COUNT_24H', { maxCount24h: 2 }],
  ])('%s over all users', async (rule, rules) => {
    const request = await policed(rule, rules)
    expect(await reserve(request())).toMatchObject({ status: 'reserved' })
    expect(await reserve(request())).toMatchObject({ status: 'reserved' })
    expect(await reserve(request())).toEqual({ status: 'policy_refused', rule })
  })

  test.each([
    ['MAX_PER_USER', { maxPerUser: '20' }],
    ['MAX_PER_USER_24H', { maxPerUser24h: '20' }],
    ['MAX_COUNT_PER_USER', { maxCountPerUser: 2 }],
    ['MAX_COUNT_PER_USER_24H', { maxCountPerUser24h: 2 }],
  ])('%s, as user or as recipient', async (rule, rules) => {
    const request = await policed(rule, rules)
    expect(await reserve(request({ user: 'a' }))).toMatchObject({ status: 'reserved' })
    expect(await reserve(request({ user: 'b', recipient: 'a' }))).toMatchObject({ status: 'reserved' })
    expect(await reserve(request({ user: 'a', recipient: 'c' }))).toEqual({ status: 'policy_refused', rule })
    expect(await reserve(request({ user: 'b', recipient: 'c' }))).toMatchObject({ status: 'reserved' })
  })
})

describe('usage', () => {
  const used = async (apiKeyId: string) =>
    (await readPolicyUsage(bed.database, apiKeyId))
      .filter(({ user }) => user === undefined)
      .map(({ day, usedMicroUsd, count }) => [day === undefined, usedMicroUsd, count])

  test('is given back by a void, an expiry and a partial post', async () => {
    const request = await policed('given', { maxTotal: '40' })
    const [voided, expired, posted, kept] = [request(), request(), request(), request()]
    for (const hold of [voided, expired, posted, kept]) {
      expect(await reserve(hold)).toMatchObject({ status: 'reserved' })
    }
    expect(await reserve(request())).toEqual({ status: 'policy_refused', rule: 'MAX_TOTAL' })
    expect(await used('given')).toEqual([
      [true, 40n, 4n],
      [false, 40n, 4n],
    ])
    await ledger.void(bed.database, { requestId: voided.requestId, reason: 'test' })
    await ledger.post(bed.database, { requestId: posted.requestId, amountMicroUsd: 3n, evidence: {} })
    await bed.database.query('update hold set expires_at = created_at where request_id = $1', [
      Buffer.from(expired.requestId.slice(2), 'hex'),
    ])
    await bed.database.transaction((tx) => ledger.expireDue(tx, { limit: 10 }))
    expect(await used('given')).toEqual([
      [true, 13n, 2n],
      [false, 13n, 2n],
    ])
    expect(await reserve(request({ amountMicroUsd: 27n }))).toMatchObject({ status: 'reserved' })
    expect(await reserve(request({ amountMicroUsd: 1n }))).toMatchObject({ rule: 'MAX_TOTAL' })
  })

  test('of a re-quote counts once', async () => {
    const request = await policed('moved', { maxTotal: '10', maxCount: 1 })
    for (let quote = 0; quote < 3; quote += 1) {
      expect(await reserve(request({ user: 'u', requoteKey: 'same' }))).toMatchObject({ status: 'reserved' })
    }
    expect(await reserve(request({ user: 'u', requoteKey: 'another' }))).toMatchObject({ rule: 'MAX_TOTAL' })
  })

  test('L-42: of an earlier day counts for ever, not for today', async () => {
    const request = await policed('days', { maxTotal24h: '10', maxTotal: '20' })
    await reserve(request())
    await bed.database.query(
      `update policy_usage set window_start = window_start - interval '1 day'
       where api_key_id = 'days' and window_start > '-infinity'`,
    )
    await bed.database.query(
      `update hold set created_at = created_at - interval '1 day' where api_key_id = 'days'`,
    )
    expect(await reserve(request())).toMatchObject({ status: 'reserved' })
    expect(await reserve(request())).toMatchObject({ rule: 'MAX_TOTAL' })
  })

  test('holds in the books when every key is done', async () => {
    expect(await verifyLedger(bed.database)).toEqual([])
  })
})

describe('versions of a policy', () => {
  test('are kept, the newest decides', async () => {
    const request = await policed('versions', { maxPerRequest: '5' })
    expect(await reserve(request())).toMatchObject({ rule: 'MAX_PER_REQUEST' })
    expect(await setPolicy(bed.database, { apiKeyId: 'versions', rules: {}, actor: 'other' })).toBe(2)
    expect(await reserve(request())).toMatchObject({ status: 'reserved' })
    expect(await readPolicy(bed.database, 'versions')).toMatchObject({ version: 2, actor: 'other' })
    const versions = await readPolicyVersions(bed.database, 'versions')
    expect(versions.map(({ version, rules }) => [version, rules.maxPerRequest])).toEqual([
      [2, undefined],
      [1, 5n],
    ])
    expect(await readPolicy(bed.database, 'no policy')).toBeUndefined()
  })

  test.each([
    ['an unknown rule', { maxTotl: '1' }, 'maxTotl'],
    ['a number for money', { maxTotal: 1 }, 'maxTotal'],
    ['a negative amount', { maxTotal: '-1' }, 'maxTotal'],
    ['an unknown component', { components: ['app'] }, 'components'],
    ['a time without zone', { startsAt: '2030-01-01T00:00:00' }, 'startsAt'],
  ])('with %s are refused by name', async (_name, rules, field) => {
    const set = setPolicy(bed.database, { apiKeyId: 'bad', rules, actor: 'test' })
    await expect(set).rejects.toMatchObject({ code: 'INVALID_POLICY' })
    await expect(set).rejects.toMatchObject({ data: { problems: expect.stringContaining(field) } })
    expect(await readPolicy(bed.database, 'bad')).toBeUndefined()
  })
})

describe('the dry run', () => {
  test('names every rule with its figures, decides as the reservation does, and changes nothing', async () => {
    const request = await policed('dry', { maxTotal: '25', maxCountPerUser: 1, originChains: [8453] })
    await reserve(request({ user: 'u' }))
    const before = await bed.database.query('select * from account order by id')
    const next = request({ user: 'u', amountMicroUsd: 16n })
    const explained = await explainPolicy(bed.database, next, { caps: noCaps })
    expect(explained).toMatchObject({ outcome: 'policy_refused', policyVersion: 1 })
    expect(explained.refusedBy).toEqual({
      kind: 'policy',
      rule: 'MAX_TOTAL',
      passed: false,
      limit: 25n,
      used: 10n,
      requested: 16n,
    })
    expect(explained.checks.map(({ rule, passed }) => [rule, passed])).toEqual([
      ['LEDGER_HALTED', true],
      ['NOT_FROZEN', true],
      ['INACTIVE', true],
      ['ORIGIN_CHAINS', true],
      ['MAX_TOTAL', false],
      ['MAX_COUNT_PER_USER', false],
      ['AVAILABLE', true],
      ['HOLDS_PER_USER', true],
      ['HOLDS_PER_KEY', true],
      ['UNSETTLED_SHARE', true],
    ])
    expect(await bed.database.query('select * from account order by id')).toEqual(before)
    expect(await reserve(next)).toEqual({ status: 'policy_refused', rule: 'MAX_TOTAL' })
    const allowed = request({ user: 'v', amountMicroUsd: 15n })
    expect(await explainPolicy(bed.database, allowed, { caps: noCaps })).toMatchObject({
      outcome: 'reserved',
      refusedBy: undefined,
    })
    expect(await reserve(allowed)).toMatchObject({ status: 'reserved' })
  })
})

describe('quotes without deposit cannot starve a sponsor:', () => {
  const capped = createLedger()

  async function fill(sponsor: string, requests: readonly HoldRequest[]) {
    await fund(bed.database, sponsor, 100_000n)
    const outcomes = []
    for (const request of requests) outcomes.push((await reserve(request, capped)).status)
    return outcomes
  }
  const holds = (sponsor: string, count: number, change: (n: number) => Partial<HoldRequest>) =>
    Array.from({ length: count }, (_, n) => holdNamed(`${sponsor} ${n}`, { sponsor, ...change(n) }))

  test('L-1: a user has three holds, whether as user or as recipient', async () => {
    const outcomes = await fill(
      'three',
      holds('three', 5, (n) => (n % 2 === 0 ? { user: 'u' } : { user: `other ${n}`, recipient: 'u' })),
    )
    expect(outcomes).toEqual(['reserved', 'reserved', 'reserved', 'at_deposit', 'at_deposit'])
  })

  test('users who never settled lock half of it together, and a deposit makes room', async () => {
    const outcomes = await fill(
      'half',
      holds('half', 6, () => ({ amountMicroUsd: 10_000n })),
    )
    expect(outcomes).toEqual([...Array.from({ length: 5 }, () => 'reserved'), 'at_deposit'])
    const until = new Date(Date.now() + 3_600_000)
    await capped.pin(bed.database, { requestId: requestIdOf('half 0'), until })
    const next = holdNamed('half next', { sponsor: 'half', amountMicroUsd: 10_000n })
    expect(await reserve(next, capped)).toMatchObject({ status: 'reserved' })
  })

  test('L-47: one request of a small balance is held, whatever its share', async () => {
    const outcomes = await fill('lone', [
      holdNamed('lone a', { sponsor: 'lone', amountMicroUsd: 90_000n }),
      holdNamed('lone b', { sponsor: 'lone', amountMicroUsd: 1n }),
      holdNamed('lone c', { sponsor: 'lone', amountMicroUsd: 10_001n }),
    ])
    expect(outcomes).toEqual(['reserved', 'at_deposit', 'insufficient_balance'])
  })

  test('L-47: a user whose request was settled is held beyond the share, and no other by his name', async () => {
    const spam = holds('known', 5, () => ({ amountMicroUsd: 9_990n }))
    await fill('known', [holdNamed('known first', { sponsor: 'known', user: 'known', amountMicroUsd: 10n })])
    const requestId = requestIdOf('known first')
    const settled = await capped.post(bed.database, { requestId, amountMicroUsd: 10n, evidence: {} })
    expect(settled).toEqual({ status: 'resolved' })
    for (const request of spam) expect(await reserve(request, capped)).toMatchObject({ status: 'reserved' })
    const more = (id: string, change: Partial<HoldRequest>) =>
      reserve(holdNamed(id, { sponsor: 'known', amountMicroUsd: 10_000n, ...change }), capped)
    expect(await more('known stranger', {})).toEqual({ status: 'at_deposit' })
    expect(await more('known recipient', { recipient: 'known' })).toEqual({ status: 'at_deposit' })
    expect(await more('known again', { user: 'known' })).toMatchObject({ status: 'reserved' })
  })

  test('L-47: a user whose hold ended without a settlement has settled nothing', async () => {
    const { requestId } = holdNamed('void first')
    await fill('void', [holdNamed('void first', { sponsor: 'void', user: 'u', amountMicroUsd: 10n })])
    await capped.void(bed.database, { requestId, reason: 'refund' })
    const outcomes = await fill(
      'void',
      holds('void', 6, () => ({ amountMicroUsd: 9_990n })),
    )
    expect(outcomes.at(-1)).toBe('at_deposit')
    const again = holdNamed('void again', { sponsor: 'void', user: 'u', amountMicroUsd: 9_990n })
    expect(await reserve(again, capped)).toEqual({ status: 'at_deposit' })
  })

  test('L-1, L-45: beyond a cap the deposit reserves, once and pinned, while the balance lasts', async () => {
    const spam = holds('later', 3, () => ({ user: 'spammer', amountMicroUsd: 20_000n }))
    expect(await fill('later', spam)).toEqual(['reserved', 'reserved', 'at_deposit'])
    const late = holds('later user', 3, () => ({ sponsor: 'later', amountMicroUsd: 25_000n }))
    for (const request of late) {
      expect(await reserve(request, capped)).toEqual({ status: 'at_deposit' })
      expect(await reserve(request, capped)).toEqual({ status: 'at_deposit' })
    }
    expect(await ledger.balance(bed.database, 'later')).toMatchObject({ heldMicroUsd: 40_000n })
    const until = new Date(Date.now() + 3_600_000)
    const deposit = async ({ requestId }: HoldRequest) =>
      bed.database.transaction((tx) => capped.reserveAgain(tx, { requestId, until }))
    const outcomes = []
    for (const request of [...late, ...late]) outcomes.push((await deposit(request)).status)
    const [first, again] = [
      ['reserved', 'reserved', 'insufficient_balance'],
      ['already_reserved', 'already_reserved', 'insufficient_balance'],
    ]
    expect(outcomes).toEqual([...first, ...again])
    expect(await ledger.balance(bed.database, 'later')).toMatchObject({ heldMicroUsd: 90_000n })
    expect(await verifyLedger(bed.database)).toEqual([])
  })

  test('L-1: what a user holds open to one chain takes nothing from another', async () => {
    const four = (user: string, to: number) =>
      holds('places', 4, () => ({ user, destinationChainId: to, amountMicroUsd: 1n })).map((request, n) => ({
        ...request,
        requestId: requestIdOf(`${user} ${to} ${n}`),
        requoteKey: `${user} ${to} ${n}`,
      }))
    const expected = ['reserved', 'reserved', 'reserved', 'at_deposit']
    expect(await fill('places', [...four('u', 10), ...four('u', 42_161)])).toEqual([...expected, ...expected])
    const together = [...four('v', 10), ...four('v', 42_161)]
    const outcomes = await bed.database.transaction((tx) => capped.reserveBatch(tx, together))
    expect(outcomes.map(({ status }) => status)).toEqual([...expected, ...expected])
  })

  test('the policy of a key names its own share', async () => {
    const policy = { apiKeyId: 'strict', rules: { unsettledShareBps: 1_000 }, actor: 'test' }
    await setPolicy(bed.database, policy)
    const outcomes = await fill(
      'strict',
      holds('strict', 3, () => ({ apiKeyId: 'strict', amountMicroUsd: 5_000n })),
    )
    expect(outcomes).toEqual(['reserved', 'reserved', 'at_deposit'])
  })

  test('L-1: a key has a thousand holds to each chain', async () => {
    await fund(bed.database, 'thousand', 1_000_000n)
    const many = holds('thousand', defaultHoldCaps.holdsPerKey + 2, () => ({ amountMicroUsd: 1n }))
    const outcomes = await bed.database.transaction((tx) => capped.reserveBatch(tx, many))
    const refused = outcomes.filter(({ status }) => status === 'at_deposit')
    expect([outcomes.length, refused.length]).toEqual([1_002, 2])
    const elsewhere = holdNamed('thousand elsewhere', { sponsor: 'thousand', destinationChainId: 42_161 })
    expect(await reserve(elsewhere, capped)).toMatchObject({ status: 'reserved' })
    const other = holdNamed('thousand other', { sponsor: 'thousand', apiKeyId: 'other' })
    expect(await reserve(other, capped)).toMatchObject({ status: 'reserved' })
  })

  test('a flood of re-quotes holds one place', async () => {
    const outcomes = await fill(
      'flood',
      holds('flood', 20, () => ({ user: 'u', requoteKey: 'same', amountMicroUsd: 5_000n })),
    )
    expect(new Set(outcomes)).toEqual(new Set(['reserved']))
    const { heldMicroUsd } = await ledger.balance(bed.database, 'flood')
    expect(heldMicroUsd).toBe(5_000n)
  })
})
