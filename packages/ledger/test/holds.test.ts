// Goal: a hold reserves, is pinned, posted, voided or expires exactly as the rules say, and money only
// moves by it. Method: the port's functions on the migrated schema.
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  clearHalt,
  createLedger,
  explainPolicy,
  haltReservations,
  readHalt,
  resolveTransfer,
  setSponsorFrozen,
  verifyLedger,
} from '../src/index.ts'
import { byTest, fund, holdNamed, noCaps, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
const ledger = createLedger({ caps: noCaps })
const inAnHour = new Date(Date.now() + 3_600_000)
const longAgo = new Date(Date.now() - 3_600_000)

beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

const transaction: TestDatabase['database']['transaction'] = (work) => bed.database.transaction(work)

async function balanceOf(sponsor: string) {
  const { availableMicroUsd, heldMicroUsd } = await ledger.balance(bed.database, sponsor)
  return [availableMicroUsd, heldMicroUsd]
}

/** Moves a hold's end into the past, as time would. */
async function letExpire(name: string): Promise<void> {
  await bed.database.query('update hold set expires_at = $2 where request_id = $1', [
    Buffer.from(requestIdOf(name).slice(2), 'hex'),
    longAgo,
  ])
}

describe('reserving', () => {
  test('holds the amount of an available balance and refuses one unit more', async () => {
    await fund(bed.database, 'reserving', 25n)
    const reserve = (name: string, amountMicroUsd: bigint) =>
      transaction((tx) => ledger.reserve(tx, holdNamed(name, { sponsor: 'reserving', amountMicroUsd })))
    expect(await reserve('reserving 1', 20n)).toMatchObject({ status: 'reserved' })
    expect(await balanceOf('reserving')).toEqual([5n, 20n])
    expect(await reserve('reserving 2', 6n)).toEqual({ status: 'insufficient_balance' })
    expect(await reserve('reserving 3', 5n)).toMatchObject({ status: 'reserved' })
    expect(await balanceOf('reserving')).toEqual([0n, 25n])
  })

  test('from a wallet that never had a balance finds none', async () => {
    const outcome = await transaction((tx) => ledger.reserve(tx, holdNamed('n', { sponsor: 'nobody' })))
    expect(outcome).toEqual({ status: 'insufficient_balance' })
    expect(await ledger.balance(bed.database, 'nobody')).toEqual({
      sponsor: 'nobody',
      availableMicroUsd: 0n,
      heldMicroUsd: 0n,
      pendingMicroUsd: 0n,
    })
  })

  test('a batch approves in its order, for several sponsors in one commit', async () => {
    await fund(bed.database, 'batch a', 25n)
    await fund(bed.database, 'batch b', 10n)
    const batch = [
      holdNamed('batch 1', { sponsor: 'batch b' }),
      holdNamed('batch 2', { sponsor: 'batch a' }),
      holdNamed('batch 3', { sponsor: 'batch b' }),
      holdNamed('batch 4', { sponsor: 'batch a', amountMicroUsd: 16n }),
      holdNamed('batch 5', { sponsor: 'batch a', amountMicroUsd: 15n }),
    ]
    const outcomes = await transaction((tx) => ledger.reserveBatch(tx, batch))
    expect(outcomes.map(({ status }) => status)).toEqual([
      'reserved',
      'reserved',
      'insufficient_balance',
      'insufficient_balance',
      'reserved',
    ])
    expect(await balanceOf('batch a')).toEqual([0n, 25n])
  })

  test('the same request id again changes nothing; with another body it is a conflict', async () => {
    await fund(bed.database, 'repeats', 100n)
    const request = holdNamed('repeats', { sponsor: 'repeats' })
    const changed = { ...request, amountMicroUsd: 11n }
    const outcomes = await transaction((tx) => ledger.reserveBatch(tx, [request, request, changed]))
    expect(outcomes.map(({ status }) => status)).toEqual(['reserved', 'already_reserved', 'conflict'])
    expect(await transaction((tx) => ledger.reserve(tx, request))).toEqual({
      ...outcomes[0],
      status: 'already_reserved',
    })
    expect(await transaction((tx) => ledger.reserve(tx, changed))).toEqual({ status: 'conflict' })
    expect(await balanceOf('repeats')).toEqual([90n, 10n])
    await transaction((tx) => ledger.void(tx, { requestId: request.requestId, reason: 'test' }))
    expect(await transaction((tx) => ledger.reserve(tx, request))).toEqual({ status: 'already_resolved' })
  })

  test('a frozen sponsor is refused, its holds still resolve', async () => {
    await fund(bed.database, 'cold', 100n)
    const request = holdNamed('cold', { sponsor: 'cold' })
    await transaction((tx) => ledger.reserve(tx, request))
    await setSponsorFrozen(bed.database, { sponsor: 'cold', frozen: true, ...byTest })
    const second = holdNamed('cold 2', { sponsor: 'cold' })
    expect(await transaction((tx) => ledger.reserve(tx, second))).toEqual({ status: 'sponsor_frozen' })
    const post = { requestId: request.requestId, amountMicroUsd: 10n, evidence: {} }
    expect(await transaction((tx) => ledger.post(tx, post))).toEqual({ status: 'resolved' })
    await setSponsorFrozen(bed.database, { sponsor: 'cold', frozen: false, ...byTest })
    expect(await transaction((tx) => ledger.reserve(tx, second))).toMatchObject({ status: 'reserved' })
  })

  test('L-46: a halted ledger reserves for nobody, what is held still resolves, and clearing it ends that', async () => {
    const { database } = bed
    await fund(database, 'halted', 1_000n)
    const [posted, voided, due, again, refused] = ['p', 'v', 'd', 'a', 'r'].map((name) =>
      holdNamed(`halted ${name}`, { sponsor: 'halted' }),
    )
    if (!posted || !voided || !due || !again || !refused) throw new Error('five requests were made')
    await transaction((tx) => ledger.reserveBatch(tx, [posted, voided, due, again]))
    await ledger.void(database, { requestId: again.requestId, reason: 'test' })
    const finding = { invariant: 'I1', problem: 'A test.', figures: { debits: '1' } } as const
    expect(await haltReservations(database, [finding])).toBe(true)
    expect(await haltReservations(database, [finding])).toBe(false)
    expect((await readHalt(database))?.findings).toEqual([finding])

    const answer = { status: 'policy_refused', rule: 'LEDGER_HALTED' }
    const until = new Date(Date.now() + 3_600_000)
    expect(await transaction((tx) => ledger.reserve(tx, refused))).toEqual(answer)
    expect(await transaction((tx) => ledger.reserveAgain(tx, { requestId: again.requestId, until }))).toEqual(
      answer,
    )
    expect(await explainPolicy(database, refused)).toMatchObject({ refusedBy: { rule: 'LEDGER_HALTED' } })
    const resolved = { status: 'resolved' }
    expect(await ledger.pin(database, { requestId: posted.requestId, until })).toEqual(resolved)
    const post = { requestId: posted.requestId, amountMicroUsd: 10n, evidence: {} }
    expect(await ledger.post(database, post)).toEqual(resolved)
    expect(await ledger.void(database, { requestId: voided.requestId, reason: 'test' })).toEqual(resolved)
    await database.query(`update hold set expires_at = created_at where state = 'reserved'`)
    expect(await transaction((tx) => ledger.expireDue(tx, { limit: 10 }))).toBeGreaterThan(0)

    expect(await clearHalt(database, byTest)).toBe(true)
    expect(await clearHalt(database, byTest)).toBe(false)
    expect(await readHalt(database)).toBeUndefined()
    expect(await transaction((tx) => ledger.reserve(tx, refused))).toMatchObject({ status: 'reserved' })
  })

  test.each([
    ['an amount of zero', { amountMicroUsd: 0n }],
    ['a negative amount', { amountMicroUsd: -1n }],
    ['a request id of another form', { requestId: '0x12' }],
    ['a lifetime of zero', { lifetimeSeconds: 0 }],
    ['a key id with a space', { apiKeyId: 'a b' }],
    ['an empty user', { user: '' }],
    ['an empty re-quote key', { requoteKey: '' }],
  ])('%s is the caller’s bug', async (_name, change) => {
    const reserve = transaction((tx) => ledger.reserve(tx, holdNamed('bug', change)))
    await expect(reserve).rejects.toBeInstanceOf(RangeError)
  })
})

test('a hold is no transfer that a post of its own ends', async () => {
  await fund(bed.database, 'resolved', 10n)
  const outcome = await transaction((tx) =>
    ledger.reserve(tx, holdNamed('resolved', { sponsor: 'resolved' })),
  )
  if (outcome.status !== 'reserved') throw new Error(outcome.status)
  const end = { pendingId: outcome.holdId, kind: 'void', actor: 'test' } as const
  expect(await resolveTransfer(bed.database, end)).toBe('unknown')
  expect(await balanceOf('resolved')).toEqual([0n, 10n])
})

describe('a re-quote', () => {
  const requote = { sponsor: 'requoter', requoteKey: 'same', user: 'one' }

  test('L-44: moves the hold instead of adding one', async () => {
    await fund(bed.database, 'requoter', 15n)
    const reserve = (name: string, change = {}) =>
      transaction((tx) => ledger.reserve(tx, holdNamed(name, { ...requote, ...change })))
    expect(await reserve('requote 1')).toMatchObject({ status: 'reserved' })
    expect(await reserve('requote 2', { amountMicroUsd: 15n })).toMatchObject({ status: 'reserved' })
    expect(await balanceOf('requoter')).toEqual([0n, 15n])
    const pin = { requestId: requestIdOf('requote 1'), until: inAnHour }
    expect(await transaction((tx) => ledger.pin(tx, pin))).toEqual({ status: 'already_voided' })
    // The earlier hold stays when the new one is refused.
    expect(await reserve('requote 3', { amountMicroUsd: 16n })).toEqual({ status: 'insufficient_balance' })
    expect(await balanceOf('requoter')).toEqual([0n, 15n])
    // A request with another key is no re-quote.
    expect(await reserve('requote 4', { apiKeyId: 'other' })).toEqual({ status: 'insufficient_balance' })
  })

  test('within one batch leaves only the last', async () => {
    await fund(bed.database, 'requoter 2', 10n)
    const batch = ['a', 'b', 'c'].map((name) =>
      holdNamed(`requoted ${name}`, { ...requote, sponsor: 'requoter 2' }),
    )
    const outcomes = await transaction((tx) => ledger.reserveBatch(tx, batch))
    expect(outcomes.map(({ status }) => status)).toEqual(['reserved', 'reserved', 'reserved'])
    expect(await balanceOf('requoter 2')).toEqual([0n, 10n])
  })

  test('leaves a pinned hold alone', async () => {
    await fund(bed.database, 'requoter 3', 15n)
    const first = holdNamed('pinned quote', { ...requote, sponsor: 'requoter 3' })
    await transaction((tx) => ledger.reserve(tx, first))
    await transaction((tx) => ledger.pin(tx, { requestId: first.requestId, until: inAnHour }))
    const second = holdNamed('pinned quote 2', { ...requote, sponsor: 'requoter 3' })
    const outcome = await transaction((tx) => ledger.reserve(tx, second))
    expect(outcome).toEqual({ status: 'insufficient_balance' })
  })
})

describe('a post', () => {
  test.each([
    ['nothing', 0n, 'resolved', [100n, 0n]],
    ['one unit', 1n, 'resolved', [99n, 0n]],
    ['one unit less than the hold', 39n, 'resolved', [61n, 0n]],
    ['the hold', 40n, 'resolved', [60n, 0n]],
    ['one unit more', 41n, 'exceeds_hold', [60n, 40n]],
    ['a huge amount', 1n << 127n, 'exceeds_hold', [60n, 40n]],
  ] as const)('of %s leaves the exact rest', async (name, amountMicroUsd, status, balance) => {
    const sponsor = `post ${name}`
    await fund(bed.database, sponsor, 100n)
    const { requestId } = holdNamed(sponsor)
    const request = holdNamed(sponsor, { sponsor, amountMicroUsd: 40n })
    await transaction((tx) => ledger.reserve(tx, request))
    const outcome = await transaction((tx) => ledger.post(tx, { requestId, amountMicroUsd, evidence: {} }))
    expect(outcome).toEqual({ status })
    expect(await balanceOf(sponsor)).toEqual(balance)
  })

  test('stores its evidence and answers what ended the hold ever after', async () => {
    await fund(bed.database, 'evidence', 100n)
    const request = holdNamed('evidence', { sponsor: 'evidence' })
    const { requestId } = request
    const evidence = { signatures: ['0x01', '0x02'], fill: '0xabc' }
    await transaction((tx) => ledger.reserve(tx, request))
    const post = { requestId, amountMicroUsd: 10n, evidence }
    await transaction((tx) => ledger.post(tx, post))
    const [stored] = await bed.database.query(
      `select evidence, actor, amount from transfer where kind = 'post' and request_id = $1`,
      [Buffer.from(requestId.slice(2), 'hex')],
    )
    expect(stored).toEqual({ evidence, actor: 'settlement', amount: 10n })
    const again = [
      ledger.post(bed.database, post),
      ledger.void(bed.database, { requestId, reason: 'late' }),
      ledger.pin(bed.database, { requestId, until: inAnHour }),
      ledger.unpin(bed.database, { requestId, expiresAt: inAnHour }),
    ]
    for (const outcome of await Promise.all(again)) expect(outcome).toEqual({ status: 'already_posted' })
    expect(await balanceOf('evidence')).toEqual([90n, 0n])
  })

  test('of an unknown request finds no hold, below zero is the caller’s bug', async () => {
    const post = { requestId: requestIdOf('never'), amountMicroUsd: 1n, evidence: {} }
    expect(await ledger.post(bed.database, post)).toEqual({ status: 'unknown_hold' })
    expect(() => ledger.post(bed.database, { ...post, amountMicroUsd: -1n })).toThrow(RangeError)
  })
})

describe('expiry', () => {
  test('of an unpinned hold is refused to a post and a pin before the sweeper came', async () => {
    await fund(bed.database, 'late', 100n)
    const request = holdNamed('late', { sponsor: 'late' })
    const { requestId } = request
    await transaction((tx) => ledger.reserve(tx, request))
    await letExpire('late')
    const post = { requestId, amountMicroUsd: 1n, evidence: {} }
    expect(await ledger.post(bed.database, post)).toEqual({ status: 'expired' })
    expect(await ledger.pin(bed.database, { requestId, until: inAnHour })).toEqual({ status: 'expired' })
    expect(await balanceOf('late')).toEqual([90n, 10n])
    expect(await transaction((tx) => ledger.expireDue(tx, { limit: 10 }))).toBe(1)
    expect(await transaction((tx) => ledger.expireDue(tx, { limit: 10 }))).toBe(0)
    expect(await ledger.post(bed.database, post)).toEqual({ status: 'expired' })
    expect(await balanceOf('late')).toEqual([100n, 0n])
  })

  test('is swept at most the limit at a time, over several sponsors', async () => {
    const names = ['sweep a', 'sweep b', 'sweep c', 'sweep d']
    for (const name of names) {
      await fund(bed.database, name, 10n)
      await transaction((tx) => ledger.reserve(tx, holdNamed(name, { sponsor: name })))
      await letExpire(name)
    }
    const sweep = () => transaction((tx) => ledger.expireDue(tx, { limit: 3 }))
    expect([await sweep(), await sweep(), await sweep()]).toEqual([3, 1, 0])
  })

  test('is swept at most the limit at a time, with several holds of each sponsor', async () => {
    for (const sponsor of ['sweep e', 'sweep f']) {
      await fund(bed.database, sponsor, 20n)
      for (const name of [`${sponsor} 1`, `${sponsor} 2`]) {
        await transaction((tx) => ledger.reserve(tx, holdNamed(name, { sponsor })))
        await letExpire(name)
      }
    }
    const sweep = () => transaction((tx) => ledger.expireDue(tx, { limit: 3 }))
    expect([await sweep(), await sweep()]).toEqual([3, 1])
  })

  test('of a pin refuses neither a post nor the deposit before the sweeper came', async () => {
    await fund(bed.database, 'overdue', 100n)
    const request = holdNamed('overdue', { sponsor: 'overdue' })
    const { requestId } = request
    await transaction((tx) => ledger.reserve(tx, request))
    await ledger.pin(bed.database, { requestId, until: longAgo })
    expect(await transaction((tx) => ledger.reserve(tx, request))).toMatchObject({
      status: 'already_reserved',
    })
    const again = await transaction((tx) => ledger.reserveAgain(tx, { requestId, until: inAnHour }))
    expect(again).toMatchObject({ status: 'already_reserved' })
    const post = { requestId, amountMicroUsd: 1n, evidence: {} }
    expect(await ledger.post(bed.database, post)).toEqual({ status: 'resolved' })
  })

  test('of an unpinned hold is not moved by another unpinning', async () => {
    await fund(bed.database, 'unpinned', 100n)
    const request = holdNamed('unpinned', { sponsor: 'unpinned' })
    const { requestId } = request
    await transaction((tx) => ledger.reserve(tx, request))
    expect(await ledger.unpin(bed.database, { requestId, expiresAt: longAgo })).toEqual({
      status: 'resolved',
    })
    const post = { requestId, amountMicroUsd: 1n, evidence: {} }
    expect(await ledger.post(bed.database, post)).toEqual({ status: 'resolved' })
  })

  test('frees the balance for the next quote without a sweeper', async () => {
    await fund(bed.database, 'inline', 10n)
    const reserve = (name: string) =>
      transaction((tx) => ledger.reserve(tx, holdNamed(name, { sponsor: 'inline' })))
    await reserve('inline 1')
    expect(await reserve('inline 2')).toEqual({ status: 'insufficient_balance' })
    await letExpire('inline 1')
    expect(await reserve('inline 3')).toMatchObject({ status: 'reserved' })
  })

  test('does not end a pinned hold before its pin does', async () => {
    await fund(bed.database, 'pinned', 100n)
    const request = holdNamed('pinned', { sponsor: 'pinned', lifetimeSeconds: 1 })
    const { requestId } = request
    await transaction((tx) => ledger.reserve(tx, request))
    expect(await ledger.pin(bed.database, { requestId, until: inAnHour })).toEqual({ status: 'resolved' })
    await bed.database.query('select pg_sleep(1.1)')
    expect(await transaction((tx) => ledger.expireDue(tx, { limit: 10 }))).toBe(0)
    // The deposit was orphaned: the hold ends as if it had never been pinned.
    const unpin = { requestId, expiresAt: longAgo }
    expect(await ledger.unpin(bed.database, unpin)).toEqual({ status: 'resolved' })
    expect(await transaction((tx) => ledger.expireDue(tx, { limit: 10 }))).toBe(1)
    expect(await balanceOf('pinned')).toEqual([100n, 0n])
  })

  test('of a pin frees a hold whose settlement never came', async () => {
    await fund(bed.database, 'stuck', 100n)
    const request = holdNamed('stuck', { sponsor: 'stuck' })
    await transaction((tx) => ledger.reserve(tx, request))
    await ledger.pin(bed.database, { requestId: request.requestId, until: longAgo })
    expect(await transaction((tx) => ledger.expireDue(tx, { limit: 10 }))).toBe(1)
    expect(await balanceOf('stuck')).toEqual([100n, 0n])
  })
})

describe('a late deposit', () => {
  const again = (name: string) =>
    transaction((tx) => ledger.reserveAgain(tx, { requestId: requestIdOf(name), until: inAnHour }))

  test.each(['swept', 'unswept'])('L-45: on an expired quote (%s) reserves anew, pinned', async (name) => {
    await fund(bed.database, name, 10n)
    const { requestId } = holdNamed(name)
    await transaction((tx) => ledger.reserve(tx, holdNamed(name, { sponsor: name })))
    await letExpire(name)
    if (name === 'swept') await transaction((tx) => ledger.expireDue(tx, { limit: 10 }))
    const first = await again(name)
    expect(first).toMatchObject({ status: 'reserved' })
    expect(await again(name)).toEqual({ ...first, status: 'already_reserved' })
    expect(await balanceOf(name)).toEqual([0n, 10n])
    const post = { requestId, amountMicroUsd: 10n, evidence: {} }
    expect(await ledger.post(bed.database, post)).toEqual({ status: 'resolved' })
    expect(await again(name)).toEqual({ status: 'already_resolved' })
    expect(await balanceOf(name)).toEqual([0n, 0n])
  })

  test('on a superseded quote takes nothing from the quote that came after it', async () => {
    await fund(bed.database, 'superseded', 15n)
    const quote = (name: string) => holdNamed(name, { sponsor: 'superseded', requoteKey: 'same' })
    await transaction((tx) => ledger.reserve(tx, quote('superseded 1')))
    await transaction((tx) => ledger.reserve(tx, quote('superseded 2')))
    expect(await again('superseded 1')).toEqual({ status: 'insufficient_balance' })
    await fund(bed.database, 'superseded', 5n, 'superseded more')
    expect(await again('superseded 1')).toMatchObject({ status: 'reserved' })
    expect(await balanceOf('superseded')).toEqual([0n, 20n])
  })

  test('on a quote that was never sponsored finds no hold', async () => {
    expect(await again('never sponsored')).toEqual({ status: 'unknown_hold' })
  })
})

test('the books add up after all of it', async () => {
  expect(await verifyLedger(bed.database)).toEqual([])
})
