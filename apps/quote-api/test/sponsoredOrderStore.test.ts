// Goal: quotes of all sponsors share commits, and none of them feels another: not a row that somebody has, not a flood, not
// a member that cannot be stored; and two replicas give away no unit twice. Method: the store on a real database.
import type { HoldRequest } from '@causeway/core'
import { createDatabase, startTestDatabase, type TestDatabase } from '@causeway/database'
import { createLedger, ledgerMigrations, setSponsorFrozen, verifyLedger } from '@causeway/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSponsoredOrderStore, type SponsoredOrder } from '../src/requests/orders/sponsoredOrderStore.ts'
import { hexOf, orderMigrations, orderNamed } from './orderSupport/orders.ts'
import { topUp } from './sponsorSupport/sponsors.ts'

let bed: TestDatabase
const patience = { acquireTimeoutMs: 60_000, statementTimeoutMs: 60_000 }
const ledger = createLedger()

beforeAll(async () => {
  bed = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
    pool: patience,
  })
})
afterAll(() => bed?.stop())

const createStore = () => createSponsoredOrderStore({ database: bed.database, ledger })

async function sponsorsNamed(name: string, count: number, amount: bigint) {
  const sponsors = Array.from({ length: count }, (_, index) => hexOf(`${name} sponsor ${index}`, 20))
  for (const sponsor of sponsors) await topUp(bed.database, sponsor, amount)
  return sponsors
}

/** A quote of its own user, for ten units. */
function quoteNamed(name: string, sponsor: string, change: Partial<HoldRequest> = {}): SponsoredOrder {
  const order = orderNamed(name)
  const hold: HoldRequest = {
    requestId: order.requestId,
    sponsor,
    apiKeyId: `key-${sponsor}`,
    user: `user of ${name}`,
    recipient: `user of ${name}`,
    originChainId: 8_453,
    destinationChainId: 10,
    components: ['execution'],
    amountMicroUsd: 10n,
    lifetimeSeconds: 3_600,
    requoteKey: `route of ${name}`,
    ...change,
  }
  return { order, sponsorship: { sponsor, debitMicroUsd: hold.amountMicroUsd, quoted: '{}' }, hold }
}

/** Number of these quotes that have an order, sponsorship and a live hold; a partly stored one would be an error. */
async function stored(quotes: readonly SponsoredOrder[]): Promise<number> {
  const ids = quotes.map(({ order }) => Buffer.from(order.requestId.slice(2), 'hex'))
  const [row] = await bed.database.query<{ orders: number; paid: number; holds: number }>(
    `select (select count(*)::int from orders where request_id = any($1)) as orders,
       (select count(*)::int from request_sponsorship where request_id = any($1)) as paid,
       (select count(*)::int from hold where request_id = any($1) and state = 'reserved') as holds`,
    [ids],
  )
  expect(row?.paid).toBe(row?.orders)
  expect(row?.holds).toBe(row?.orders)
  return row?.orders ?? 0
}

async function commitsOf(quotes: readonly SponsoredOrder[]): Promise<unknown> {
  const ids = quotes.map(({ order }) => Buffer.from(order.requestId.slice(2), 'hex'))
  const [row] = await bed.database.query(
    'select count(distinct xmin::text)::int as commits from orders where request_id = any($1)',
    [ids],
  )
  return row?.['commits']
}

test('quotes of many sponsors that come at once are one commit', async () => {
  const sponsors = await sponsorsNamed('commit', 40, 1_000n)
  const quotes = sponsors.map((sponsor, index) => quoteNamed(`commit ${index}`, sponsor))
  const store = createStore()
  const outcomes = await Promise.all(quotes.map((quote) => store.save(quote)))
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['reserved']))
  expect(await stored(quotes)).toBe(40)
  expect(await commitsOf(quotes)).toBe(1)
})

test('a refused quote is not stored, and those beside it are', async () => {
  const [rich = '', poor = '', frozen = ''] = await sponsorsNamed('refused', 3, 15n)
  await setSponsorFrozen(bed.database, { sponsor: frozen, frozen: true, actor: 'test', reason: 'test' })
  const quotes = [
    quoteNamed('refused 0', rich),
    quoteNamed('refused 1', poor, { amountMicroUsd: 16n }),
    quoteNamed('refused 2', frozen),
    { ...quoteNamed('refused 3', rich), hold: undefined },
  ]
  const store = createStore()
  const outcomes = await Promise.all(quotes.map((quote) => store.save(quote)))
  expect(outcomes.map(({ status }) => status)).toEqual([
    'reserved',
    'insufficient_balance',
    'sponsor_frozen',
    'no_hold',
  ])
  expect(await stored(quotes.slice(0, 3))).toBe(1)
})

test('a sponsor whose row somebody has waits alone, in a lane that ends with its last quote', async () => {
  const [busy = '', ...others] = await sponsorsNamed('busy', 5, 1_000n)
  const store = createStore()
  const beside = others.map((sponsor, index) => quoteNamed(`beside ${index}`, sponsor))
  const held = ['held 1', 'held 2', 'held 3'].map((name) => quoteNamed(name, busy))
  const told: string[] = []
  let waiting: Promise<unknown> | undefined
  await bed.database.transaction(async (tx) => {
    await tx.query(`select from account where owner = $1 for no key update`, [busy])
    waiting = Promise.all(
      held.map(async (quote) => {
        told.push((await store.save(quote)).status)
      }),
    )
    const free = await Promise.all(beside.map((quote) => store.save(quote)))
    expect(free.map(({ status }) => status)).toEqual(others.map(() => 'reserved'))
    // Once more, now that the sponsor has its lane.
    expect(await store.save(quoteNamed('beside again', others[0] ?? ''))).toMatchObject({
      status: 'reserved',
    })
    expect(told).toEqual([])
  })
  await waiting
  expect(told).toEqual(['reserved', 'reserved', 'reserved'])
  expect(await stored([...held, ...beside])).toBe(7)
  // Back among the others: one commit for both.
  const back = [quoteNamed('back 1', busy), quoteNamed('back 2', others[0] ?? '')]
  await Promise.all(back.map((quote) => store.save(quote)))
  expect(await commitsOf(back)).toBe(1)
})

test('L-49: a flood of one sponsor does not stand in the way of another', async () => {
  const [flooding = '', other = ''] = await sponsorsNamed('flood', 2, 100_000n)
  const store = createStore()
  const ends: string[] = []
  const flood = Array.from({ length: 900 }, (_, index) => quoteNamed(`flood ${index}`, flooding))
  const flooded = flood.map(async (quote) => {
    expect((await store.save(quote)).status).toBe('reserved')
    ends.push('flood')
  })
  const quote = quoteNamed('flooded', other)
  expect((await store.save(quote)).status).toBe('reserved')
  ends.push('other')
  await Promise.all(flooded)
  // With the first group; in one queue it would have come last.
  expect(ends.indexOf('other')).toBeLessThan(450)
  expect(await stored([...flood, quote])).toBe(901)
})

test('a member that cannot be stored is refused alone', async () => {
  const sponsors = await sponsorsNamed('bad', 6, 1_000n)
  const quotes = sponsors.map((sponsor, index) => quoteNamed(`bad ${index}`, sponsor))
  const [known, repeated] = [quoteNamed('known', sponsors[0] ?? ''), quotes[3]]
  if (repeated === undefined) throw new Error('six sponsors, six quotes')
  const store = createStore()
  await store.save(known)
  // Its request is new to the ledger, its order is not: the commit of the whole group fails.
  const clash = { ...repeated, order: { ...repeated.order, orderId: known.order.orderId } }
  const outcomes = await Promise.allSettled(
    quotes.map((quote, index) => store.save(index === 3 ? clash : quote)),
  )
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  expect(await stored(quotes)).toBe(5)
})

test('two replicas that take turns among the same sponsors give each what it has, once', async () => {
  const other = createDatabase({ connectionString: bed.connectionString, ...patience })
  try {
    const sponsors = await sponsorsNamed('replicas', 20, 100n)
    const stores = [createStore(), createSponsoredOrderStore({ database: other, ledger })]
    // Each sponsor is asked twenty times for a tenth of its balance, crosswise by both.
    const quotes = Array.from({ length: 400 }, (_, index) =>
      quoteNamed(`replicas ${index}`, sponsors[(index * 7) % 20] ?? ''),
    )
    const outcomes = await Promise.all(
      quotes.map(async (quote, index) => {
        const store = stores[index % 2]
        if (store === undefined) throw new Error('there are two stores')
        return (await store.save(quote)).status
      }),
    )
    const reserved = outcomes.filter((status) => status === 'reserved')
    expect(new Set(outcomes)).toEqual(new Set(['at_deposit', 'reserved']))
    // Half of each balance, which is what quotes of unknown users may lock.
    expect(reserved).toHaveLength(100)
    for (const sponsor of sponsors) {
      expect(await ledger.balance(bed.database, sponsor)).toMatchObject({ heldMicroUsd: 50n })
    }
    expect(await verifyLedger(bed.database)).toEqual([])
  } finally {
    await other.close()
  }
})
