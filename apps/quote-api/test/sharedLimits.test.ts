// Goal: limits hold across replicas within a tenth: whoever spreads his requests over them gets no more than one limit,
// and whoever stays at one hardly less. Who gains by breaking it: a stranger who asks every replica, a guesser of keys, a
// competitor who makes the database slow. Method: three services over one real database. A burst that takes longer than
// a window, or whose claims were not answered in time, proves nothing and is sent again, from a new address.
import { randomInt } from 'node:crypto'
import { createDatabase, type Database, startTestDatabase, type TestDatabase } from '@causeway/database'
import type { UnitClaim } from '@causeway/http'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimInDatabase, createWindowCleaner } from '../src/access/sharedLimits.ts'
import { startTestService, type TestService } from './fixtures/service.ts'

const limit = 50
const windowMs = 1_000

let network: TestNetwork
let database: TestDatabase
/** Connections of the test itself. */
let pool: Database
let replicas: readonly TestService[]
let opsUrls: readonly string[]

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  database = await startTestDatabase()
  pool = createDatabase({ connectionString: database.connectionString, poolSize: 4 })
  const start = () =>
    startTestService(network, {
      DATABASE_URL: database.connectionString,
      RATE_LIMIT_COUNTING: 'shared',
      RATE_LIMIT_PER_IP: String(limit),
      RATE_LIMIT_PER_KEY: String(limit),
    })
  replicas = [await start(), await start(), await start()]
  opsUrls = (await Promise.all(replicas.map((replica) => replica.listen()))).map(({ opsUrl }) => opsUrl)
})
afterAll(async () => {
  await Promise.all((replicas ?? []).map((replica) => replica.stop()))
  await pool?.close()
  await database?.stop()
  await network?.stop()
})

let addresses = 0
function freshAddress(): string {
  addresses += 1
  return `198.51.${100 + Math.floor(addresses / 250)}.${(addresses % 250) + 1}`
}

/** Result for one address within a window in which no replica counted alone. */
async function seenWithin<T>(limitMs: number, see: (remoteAddress: string) => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const [startedAtMs, aloneBefore] = [performance.now(), await timesAlone()]
    const seen = await see(freshAddress())
    if (performance.now() - startedAtMs < limitMs && (await timesAlone()) === aloneBefore) return seen
  }
  throw new Error('nothing was seen within one window')
}

/** Number of times that replicas began to count for themselves. */
async function timesAlone(): Promise<number> {
  const texts = await Promise.all(opsUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()))
  return texts.reduce(
    (sum, text) => sum + Number(/^rate_limits_alone_total\{.*\} (\d+)$/m.exec(text)?.[1]),
    0,
  )
}

/** As many requests as the list is long, each to the replica of that number. */
async function statusesOf(remoteAddress: string, places: readonly number[]): Promise<readonly number[]> {
  const answers = await Promise.all(
    places.map((place) => replicaAt(place).app.inject({ url: '/chains', remoteAddress })),
  )
  return answers.map(({ statusCode }) => statusCode)
}

const served = (statuses: readonly number[]) => statuses.filter((status) => status === 200).length

function replicaAt(place: number): TestService {
  const replica = replicas[place]
  if (replica === undefined) throw new Error(`there is no replica ${place}`)
  return replica
}

test.each<[string, (index: number) => number]>([
  ['spread evenly over three replicas', (index) => index % 3],
  ['at one replica', () => 1],
  ['nine of ten at one replica', (index) => (index % 10 === 0 ? 2 : 0)],
  ['at random', () => randomInt(3)],
])('a caller %s gets one limit, and not a tenth less', async (_how, placeOf) => {
  const places = Array.from({ length: 3 * limit }, (_, index) => placeOf(index))
  const statuses = await seenWithin(windowMs, (address) => statusesOf(address, places))
  expect(served(statuses)).toBeLessThanOrEqual(limit)
  expect(served(statuses)).toBeGreaterThanOrEqual(limit * 0.9)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
})

test('a caller who was refused at one replica is refused at the others, and served in the next window', async () => {
  const { address, statuses } = await seenWithin(windowMs, async (remoteAddress) => {
    await statusesOf(
      remoteAddress,
      Array.from({ length: limit }, () => 0),
    )
    return { address: remoteAddress, statuses: await statusesOf(remoteAddress, [0, 1, 2]) }
  })
  expect(statuses).toEqual([429, 429, 429])
  await expect.poll(() => statusesOf(address, [1, 2]), { interval: 50 }).toEqual([200, 200])
})

test('what is left of a limit is told alike by all replicas', async () => {
  const left = await seenWithin(windowMs, async (remoteAddress) => {
    const told: number[] = []
    for (const place of [0, 1, 2, 0]) {
      const { headers } = await replicaAt(place).app.inject({ url: '/chains', remoteAddress })
      told.push(Number(headers['x-ratelimit-remaining']))
    }
    return told
  })
  expect(left).toEqual([limit - 1, limit - 2, limit - 3, limit - 4])
})

test('guesses of keys are counted together: ten, and one more that each other replica looks up', async () => {
  const statuses = await seenWithin(60_000, async (remoteAddress) => {
    const seen: number[] = []
    for (let guess = 0; guess < 40; guess += 1) {
      const headers = { 'x-api-key': `guess-${guess}` }
      const answer = await replicaAt(guess % 3).app.inject({ url: '/chains', remoteAddress, headers })
      seen.push(answer.statusCode)
    }
    return seen
  })
  const lookedUp = statuses.filter((status) => status === 401).length
  expect(lookedUp).toBeGreaterThanOrEqual(10)
  expect(lookedUp).toBeLessThanOrEqual(12)
  expect(statuses.slice(-20)).toEqual(Array.from({ length: 20 }, () => 429))
})

test('O-172: while the database does not count, each replica serves its whole limit, and says so', async () => {
  const before = await timesAlone()
  await pool.transaction(async (tx) => {
    await tx.query('lock table limit_window in access exclusive mode')
    const statuses = await statusesOf(
      freshAddress(),
      Array.from({ length: limit + 20 }, () => 0),
    )
    expect(served(statuses)).toBe(limit)
    expect(await timesAlone()).toBe(before + 1)
  })
  const places = Array.from({ length: 2 * limit }, (_, index) => index % 2)
  await expect
    .poll(async () => served(await seenWithin(windowMs, (address) => statusesOf(address, places))), {
      timeout: 60_000,
    })
    .toBeLessThanOrEqual(limit)
})

test('replicas that claim for the same thousand callers never wait for each other in a circle', async () => {
  const claim = claimInDatabase(pool)
  const claims = (order: number): UnitClaim[] =>
    Array.from({ length: 1_000 }, (_, index) => ({
      bucket: 'many',
      caller: `caller ${order > 0 ? index : 999 - index}`,
      windowMs: 60_000,
      max: 10,
      wanted: 3,
    }))
  const rounds = await Promise.all([1, -1, 1, -1].map((order) => claim(claims(order))))
  const granted = rounds.flat().reduce((sum, { granted: units }) => sum + units, 0)
  expect(granted).toBe(10 * 1_000)
  for (const { taken, endsInMs } of rounds.flat()) {
    expect(taken).toBeLessThanOrEqual(10)
    expect(endsInMs).toBeGreaterThan(0)
  }
})

test('no address of a caller is stored, and windows that are over are deleted', async () => {
  const remoteAddress = freshAddress()
  await replicaAt(0).app.inject({ url: '/chains', remoteAddress })
  const windows = () =>
    pool.query('select bucket, encode(caller, $1) as caller from limit_window', ['escape'])
  const before = await windows()
  expect(before.length).toBeGreaterThan(0)
  expect(JSON.stringify(before)).not.toContain(remoteAddress)
  await pool.query("update limit_window set ends_at = now() - interval '1 second' where bucket <> 'many'")
  const job = createWindowCleaner(pool)
  await job.run({ fence: async () => {}, signal: new AbortController().signal })
  expect(new Set((await windows()).map(({ bucket }) => bucket))).toEqual(new Set(['many']))
})
