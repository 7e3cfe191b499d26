// Goal: the month of a sponsor closes: its statement is what the ledger holds, and the ledger is what chains showed, to
// the micro-dollar, per day, user, key and route. Adversaries: blocks that are replaced under deposits and top-ups, refunds,
// policies that change in between, quotes that nobody pays, and a second reading of a month that is over. Method: the
// migrated schema, a month of requests by hand of the ledger's own functions, rows dated day by day, and books kept beside
// it by this test. CAUSEWAY_FAULTS=1 runs ten thousand requests.
import type { Hex } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createLedger,
  finalizeTopUp,
  type ObservedTopUp,
  orphanTopUp,
  readStatement,
  recordTopUp,
  reverseTopUp,
  type StatementGroup,
  setPolicy,
  verifyLedger,
} from '../src/index.ts'
import { holdNamed, noCaps, startLedgerBed } from './support/ledgerBed.ts'

const requests = process.env['CAUSEWAY_FAULTS'] === '1' ? 10_000 : 620
const days = 31
const perDay = Math.ceil(requests / days)
const sponsor = `0x${'5b'.repeat(20)}` as const
const keys = ['key-web', 'key-app'] as const
const routes = [
  { originChainId: 8453, destinationChainId: 10 },
  { originChainId: 10, destinationChainId: 8453 },
  { originChainId: 8453, destinationChainId: 792_703_809 },
] as const
/** Between these days a policy lets no more than this through per request. */
const strict = { from: 10, to: 20, maxMicroUsd: 60_000n }

let bed: TestDatabase
const ledger = createLedger({ caps: noCaps })
beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

/** Fixed seed, so that every run has the same month. */
let seed = 20_260_131
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed % below
}
const hex = (value: number, bytes: number): Hex => `0x${value.toString(16).padStart(2 * bytes, '0')}`
const dayOf = (number: number) => new Date(Date.UTC(2026, 0, number))
const isoDay = (number: number) => dayOf(number).toISOString().slice(0, 10)

/** Moves all that was not dated yet to noon of a day. */
async function date(number: number): Promise<void> {
  await bed.database.transaction(async (tx) => {
    await tx.query("set local session_replication_role = 'replica'")
    await tx.query(`update transfer set created_at = $1 where created_at > '2026-06-01'`, [
      new Date(dayOf(number).getTime() + 43_200_000),
    ])
  })
}

/** The test's own books of the month. */
const books = {
  fees: new Map<string, { count: number; amount: bigint }>(),
  /** Final transfers to custody as the chain ends up showing them. */
  chain: 0n,
  paid: 0n,
  held: 0n,
  refused: 0,
}

let transactions = 0
function topUpOf(value: bigint, block: number): ObservedTopUp {
  transactions += 1
  return {
    chainId: 8453,
    custody: hex(0xc0, 20),
    token: hex(0xdc, 20),
    transactionHash: hex(transactions, 32),
    blockNumber: BigInt(block),
    blockHash: hex(block, 32),
    log: { ordinal: 0, logIndex: 1, from: hex(0xaa, 20), value },
    tail: undefined,
    verdict: { kind: 'credit', parse: 'ok', owner: sponsor },
  }
}

async function see(topUp: ObservedTopUp): Promise<bigint> {
  const { eventId } = await bed.database.transaction((tx) => recordTopUp(tx, topUp, { replace: false }))
  if (eventId === undefined) throw new Error('a top-up was not seen')
  return eventId
}

/** Seen, dropped with its block, seen in another, final. */
async function topUp(value: bigint, block: number): Promise<bigint> {
  const first = topUpOf(value, block)
  const dropped = await see(first)
  await bed.database.transaction((tx) => orphanTopUp(tx, dropped))
  const again = await see({ ...first, blockNumber: BigInt(block + 1), blockHash: hex(block + 1, 32) })
  await bed.database.transaction((tx) => finalizeTopUp(tx, again, {}))
  books.chain += value
  return again
}

type Asked = ReturnType<typeof askedOn>

function askedOn(day: number, index: number) {
  const route = routes[random(routes.length)] ?? routes[0]
  const amountMicroUsd = BigInt(10_000 + random(90_000))
  return holdNamed(`month ${day} ${index}`, {
    sponsor,
    apiKeyId: keys[random(keys.length)] ?? keys[0],
    user: `user-${random(40)}`,
    ...route,
    amountMicroUsd,
    lifetimeSeconds: 600,
  })
}

async function reserveAll(day: number, asked: readonly Asked[]): Promise<readonly Asked[]> {
  const outcomes = await bed.database.transaction((tx) => ledger.reserveBatch(tx, asked))
  return asked.filter(({ amountMicroUsd }, index) => {
    const isRefused = day >= strict.from && day < strict.to && amountMicroUsd > strict.maxMicroUsd
    if (isRefused) books.refused += 1
    const expected = isRefused
      ? { status: 'policy_refused', rule: 'MAX_PER_REQUEST' }
      : { status: 'reserved' }
    expect(outcomes[index]).toMatchObject(expected)
    return !isRefused
  })
}

/** Most are filled, some after their deposit's block was replaced; some are refunded, some never paid for. */
async function live(day: number, asked: Asked): Promise<void> {
  const { requestId, amountMicroUsd } = asked
  const { database } = bed
  const fate = random(20)
  const until = new Date(Date.now() + 3_600_000)
  if (fate === 0) return void (await ledger.void(database, { requestId, reason: 'nobody paid' }))
  await ledger.pin(database, { requestId, until })
  if (fate === 1) return void (await ledger.void(database, { requestId, reason: 'refunded' }))
  if (fate === 2) {
    await ledger.unpin(database, { requestId, expiresAt: until })
    await ledger.pin(database, { requestId, until })
  }
  // Some requests of the last day are still open when the month ends.
  if (fate === 3 && day === days) {
    books.held += amountMicroUsd
    return
  }
  const debit = amountMicroUsd - BigInt(random(5_000))
  const outcome = await ledger.post(database, { requestId, amountMicroUsd: debit, evidence: {} })
  expect(outcome).toEqual({ status: 'resolved' })
  const { user, apiKeyId, originChainId, destinationChainId } = asked
  const line = [isoDay(day), user, apiKeyId, originChainId, destinationChainId].join()
  const before = books.fees.get(line) ?? { count: 0, amount: 0n }
  books.fees.set(line, { count: before.count + 1, amount: before.amount - debit })
  books.paid += debit
}

async function liveThrough(day: number): Promise<void> {
  if (day % 10 === 1) await topUp(600_000_000n, 1_000 * day)
  if (day === strict.from) await limitTo(strict.maxMicroUsd.toString())
  if (day === strict.to) await limitTo(undefined)
  const asked = Array.from({ length: perDay }, (_none, index) => askedOn(day, index))
  for (let at = 0; at < asked.length; at += 40) {
    const reserved = await reserveAll(day, asked.slice(at, at + 40))
    await Promise.all(reserved.map((one) => live(day, one)))
  }
  await date(day)
}

async function limitTo(maxPerRequest: string | undefined): Promise<void> {
  for (const apiKeyId of keys) {
    const rules = maxPerRequest === undefined ? {} : { maxPerRequest }
    await setPolicy(bed.database, { apiKeyId, rules, actor: 'test' })
  }
}

const statement = (groups: readonly StatementGroup[], from = 1, to = days + 1) =>
  readStatement(bed.database, {
    wallet: sponsor,
    from: dayOf(from),
    to: dayOf(to),
    groups,
    linesMax: 100_000,
  })

async function account(groups: readonly StatementGroup[]) {
  const [found] = (await statement(groups)).accounts
  if (found === undefined) throw new Error('the sponsor has no account')
  return found
}

test('a month of requests, refunds, replaced blocks and changed policies closes to the micro-dollar', async () => {
  for (let day = 1; day <= days; day += 1) await liveThrough(day)
  // A transfer that its chain took back after it was final, against every promise.
  const undone = await topUp(5_000_000n, 90_000)
  await bed.database.transaction((tx) =>
    reverseTopUp(tx, { eventId: undone, actor: 'test', evidence: { reason: 'its block was replaced' } }),
  )
  books.chain -= 5_000_000n
  await date(days)

  const { opening, lines, closing } = await account(['day', 'user', 'key', 'route'])
  const fees = new Map(
    lines
      .filter(({ kind }) => kind === 'fees')
      .map(({ day, user, key, originChainId, destinationChainId, count, amount }) => [
        [day, user, key, originChainId, destinationChainId].join(),
        { count, amount },
      ]),
  )
  expect(fees).toEqual(books.fees)
  expect(books.refused).toBeGreaterThan(0)
  const sumOf = (...kinds: readonly string[]) =>
    lines.reduce((sum, { kind, amount }) => (kinds.includes(kind) ? sum + amount : sum), 0n)
  expect(sumOf('top-up', 'top-up-reversed')).toBe(books.chain)
  expect(opening).toEqual({ posted: 0n, held: 0n })
  expect(closing).toEqual({ posted: books.chain - books.paid, held: books.held })
  expect(lines.reduce((sum, { amount }) => sum + amount, 0n)).toBe(closing.posted)
  const { availableMicroUsd, heldMicroUsd } = await ledger.balance(bed.database, sponsor)
  expect([availableMicroUsd + heldMicroUsd, heldMicroUsd]).toEqual([closing.posted, closing.held])
  expect(await verifyLedger(bed.database)).toEqual([])

  // The month is over: what comes says nothing about it any more.
  const told = await statement(['day'])
  await liveThrough(days + 1)
  expect(await statement(['day'])).toEqual(told)
  expect((await statement([], days + 1, days + 29)).accounts[0]?.opening).toEqual(closing)
}, 600_000)
