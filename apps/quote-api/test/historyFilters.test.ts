// Goal: a list answers the requests that match every filter, all of them, each once, and never a quote that nobody
// paid. Adversaries: a filter that is passed over in silence, a page that loses what changes meanwhile, a key that
// learns by filters what it is not shown.
import type { SqlTx } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import type { HttpApp } from '@causeway/http'
import { ledgerMigrations } from '@causeway/ledger'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { refusedParameters, requestsV2Fields } from '../src/http/wire/historyQuery.ts'
import { requestsV2Schema } from '../src/http/wire/requestsV2.ts'
import { requestsV3Schema } from '../src/http/wire/requestsV3.ts'
import { createRequestHistory } from '../src/requests/history/requestHistory.ts'
import { testApp } from './fixtures/app.ts'
import { linkedKey, testApiKeys, testSponsor, unlinkedKey } from './fixtures/sponsor.ts'
import { type HistoryRow, hashOf, storeHistory } from './historySupport/historyRows.ts'
import { orderMigrations } from './orderSupport/orders.ts'

const secondMicros = 1_000_000n
const firstSeconds = 1_790_000_000
const people = ['0xAa', '0xbB', '0xcC'].map((start) => start + 'd'.repeat(38))
const base58 = [
  '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
  '7eaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
]
const chains = [1, 10, 8453]
const statuses = ['waiting', 'pending', 'success', 'failure', 'refund']
const reasons = [undefined, 'TTL_EXPIRED', 'SLIPPAGE']
const referrers = [undefined, 'an.app', 'An.app']

/** Always the same sequence, so that a failure can be looked at again. */
function createDice(seed: number) {
  let state = seed
  const roll = (sides: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff
    return (state >> 8) % sides
  }
  return { roll, of: <T>(faces: readonly T[]): T => faces[roll(faces.length)] as T } // CAST: the index is one of it.
}

function makeRows(count: number): readonly HistoryRow[] {
  const { roll, of } = createDice(7)
  return Array.from({ length: count }, (_, index) => {
    const status = of(statuses)
    const isFailed = status === 'failure' || status === 'refund'
    const roles = status === 'waiting' ? [] : (['deposit', isFailed ? 'refund' : 'fill'] as const)
    const createdAtMicros = BigInt(firstSeconds + roll(40)) * secondMicros + BigInt(roll(3))
    return {
      requestId: hashOf(`request ${index}`),
      orderId: hashOf(`order ${index}`),
      apiKeyId: of([linkedKey, linkedKey, unlinkedKey]),
      user: of([...people, ...base58]),
      recipient: of([...people, ...base58]),
      status,
      failReason: isFailed ? of(reasons) : undefined,
      operation: of(['bridge', 'swap', 'send'] as const),
      hasCalls: roll(4) === 0,
      referrer: of(referrers),
      originChainId: of(chains),
      destinationChainId: of(chains),
      depositAddress: roll(3) === 0 ? `0x${'E'.repeat(39)}${roll(4)}` : undefined,
      // Some transactions pay for several requests.
      transactions: roles.map((role) => ({ role, txHash: hashOf(`${role} ${roll(20)}`) })),
      isSeen: status === 'waiting' && roll(3) === 0,
      createdAtMicros,
      updatedAtMicros: status === 'waiting' ? undefined : createdAtMicros + BigInt(roll(40)) * secondMicros,
    }
  })
}

const rows = makeRows(400)
let testDatabase: TestDatabase
let app: HttpApp

beforeAll(async () => {
  testDatabase = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
  const { database } = testDatabase
  app = await testApp({
    apiKeys: testApiKeys,
    sponsors: testSponsor(0n).sponsors,
    history: createRequestHistory({ database }),
  })
  await storeHistory(database, rows)
})
afterAll(async () => {
  await app?.close()
  await testDatabase?.stop()
})

type Query = Readonly<Record<string, string>>
const pageSchema = requestsV3Schema

async function ask(query: Query, { path = '/requests/v3', isKeyed = true } = {}) {
  const url = `${path}?${new URLSearchParams(query)}`
  const answer = await app.inject({ url, headers: isKeyed ? { 'x-api-key': linkedKey } : {} })
  const { statusCode: status, body } = answer
  return { status, body, refusal: refusalSchema.safeParse(JSON.parse(body)).data }
}

const refusalSchema = z.object({
  errorCode: z.string(),
  message: z.string(),
  errorData: z.string().optional(),
})

/** Requests of all pages. */
async function walkPages<Row>(
  query: Query,
  path: string,
  schema: z.ZodType<{ readonly requests: readonly Row[]; readonly continuation?: string | undefined }>,
): Promise<readonly Row[]> {
  const answered: Row[] = []
  let continuation: string | undefined
  do {
    const asked = { ...query, ...(continuation !== undefined && { continuation }) }
    const { status, body } = await ask(asked, { path })
    expect(status, JSON.stringify({ query, body })).toBe(200)
    const page = schema.parse(JSON.parse(body))
    expect(page.requests.length).toBeLessThanOrEqual(Number(query['limit'] ?? 20))
    answered.push(...page.requests)
    continuation = page.continuation
  } while (continuation !== undefined)
  return answered
}
const walk = (query: Query) => walkPages(query, '/requests/v3', pageSchema)

const isSame = (one: string | undefined, other: string): boolean =>
  one === other || (one?.startsWith('0x') === true && one.toLowerCase() === other.toLowerCase())
const has = ({ transactions }: HistoryRow, hash: string, role?: string): boolean =>
  transactions.some((one) => isSame(one.txHash, hash) && (role === undefined || one.role === role))

function typeOf({ hasCalls, operation, originChainId, destinationChainId }: HistoryRow): string {
  if (hasCalls) return 'Call'
  if (operation !== 'swap') return operation === 'send' ? 'Send' : 'Bridge'
  return originChainId === destinationChainId ? 'Same-chain Swap' : 'Crosschain Swap'
}

/** Each filter's meaning, in other words than those of the service. */
const meanings: Readonly<Record<string, (row: HistoryRow, value: string) => boolean>> = {
  id: (row, value) => isSame(row.requestId, value),
  orderId: (row, value) => isSame(row.orderId, value),
  user: (row, value) => isSame(row.user, value),
  recipient: (row, value) => isSame(row.recipient, value),
  status: (row, value) => row.status === value,
  failReason: (row, value) =>
    ['failure', 'refund'].includes(row.status) && (row.failReason ?? 'UNKNOWN') === value,
  requestType: (row, value) => typeOf(row).toLowerCase() === value.toLowerCase(),
  referrer: (row, value) => row.referrer === value,
  chainId: (row, value) => [row.originChainId, row.destinationChainId].includes(Number(value)),
  originChainId: (row, value) => row.originChainId === Number(value),
  destinationChainId: (row, value) => row.destinationChainId === Number(value),
  depositAddress: (row, value) => row.depositAddress?.toLowerCase() === value.toLowerCase(),
  hash: (row, value) => has(row, value),
  txHash: (row, value) => has(row, value),
  depositTxHash: (row, value) => has(row, value, 'deposit'),
  fillTxHash: (row, value) => has(row, value, 'fill'),
  refundTxHash: (row, value) => has(row, value, 'refund'),
  term: (row, value) =>
    (isSame(row.user, value) && isPaid(row)) ||
    [row.requestId, row.depositAddress].some((one) => one?.toLowerCase() === value.toLowerCase()) ||
    has(row, value),
}
const lookups = [
  'id',
  'orderId',
  'hash',
  'txHash',
  'depositTxHash',
  'fillTxHash',
  'refundTxHash',
  'depositAddress',
  'term',
]
const isPaid = (row: HistoryRow): boolean => row.status !== 'waiting' || row.isSeen

/** Parameters that name requests of anybody. */
const namesOfV3 = ['id', 'depositAddress']
const namesOfV2 = [...namesOfV3, 'orderId', 'hash']

/** Ids of the key's requests, or of all where the query names one, in their order. */
function expected(query: Query, naming = namesOfV3): readonly string[] {
  const timeOf = (row: HistoryRow): bigint =>
    query['sortBy'] === 'updatedAt' ? (row.updatedAtMicros ?? row.createdAtMicros) : row.createdAtMicros
  const secondsOf = (row: HistoryRow): number => Number(timeOf(row) / secondMicros)
  const sign = query['sortDirection'] === 'asc' ? 1 : -1
  const isLookup = lookups.some((name) => name in query)
  const isAnybodys = naming.some((name) => name in query) && !('referrer' in query)
  return rows
    .filter(
      (row) =>
        (isAnybodys || row.apiKeyId === linkedKey) &&
        (isLookup || isPaid(row)) &&
        Object.entries(query).every(([name, value]) => meanings[name]?.(row, value) ?? true) &&
        secondsOf(row) >= Number(query['startTimestamp'] ?? 0) &&
        secondsOf(row) <= Number(query['endTimestamp'] ?? Number.MAX_SAFE_INTEGER),
    )
    .toSorted((a, b) => {
      if (timeOf(a) !== timeOf(b)) return timeOf(a) < timeOf(b) ? -sign : sign
      return a.requestId < b.requestId ? -sign : sign
    })
    .map(({ requestId }) => requestId)
}

const anyRow = fc.constantFrom(...rows)
const upper = (text: string): string => (text.startsWith('0x') ? `0x${text.slice(2).toUpperCase()}` : text)
const spelled = (read: (row: HistoryRow) => string | undefined) =>
  fc.tuple(anyRow, fc.boolean()).map(([row, isUpper]) => {
    const value = read(row) ?? `0x${'ab'.repeat(20)}`
    return isUpper ? upper(value) : value
  })
const hash = (role?: string) =>
  spelled(({ transactions }) => transactions.find((one) => role === undefined || one.role === role)?.txHash)
const seconds = fc.nat(80).map((more) => String(firstSeconds + more))

const filters: Readonly<Record<string, fc.Arbitrary<string>>> = {
  id: spelled(({ requestId }) => requestId),
  orderId: spelled(({ orderId }) => orderId),
  user: spelled((row) => row.user),
  recipient: spelled((row) => row.recipient),
  status: fc.constantFrom(...statuses),
  failReason: fc.constantFrom('UNKNOWN', 'TTL_EXPIRED', 'SLIPPAGE', 'NO_QUOTES'),
  requestType: fc.constantFrom('Bridge', 'crosschain swap', 'Same-chain Swap', 'SEND', 'Call', 'Wrap'),
  referrer: fc.constantFrom('an.app', 'An.app', 'none'),
  chainId: fc.constantFrom('1', '10', '8453', '137'),
  originChainId: fc.constantFrom('1', '10', '8453'),
  destinationChainId: fc.constantFrom('1', '10', '8453'),
  depositAddress: spelled(({ depositAddress }) => depositAddress),
  hash: hash(),
  txHash: hash(),
  depositTxHash: hash('deposit'),
  fillTxHash: hash('fill'),
  refundTxHash: hash('refund'),
  term: fc.oneof(
    spelled((row) => row.user),
    spelled(({ requestId }) => requestId),
    spelled(({ depositAddress }) => depositAddress),
    hash(),
  ),
  startTimestamp: seconds,
  endTimestamp: seconds,
}
const shapes: Readonly<Record<string, fc.Arbitrary<string>>> = {
  sortBy: fc.constantFrom('createdAt', 'updatedAt'),
  sortDirection: fc.constantFrom('asc', 'desc'),
  limit: fc.constantFrom('7', '20', '50'),
  includeTotal: fc.constantFrom('true', 'false'),
}

/** Each filter alone or with up to three others. */
const query = fc
  .tuple(fc.subarray(Object.keys(filters), { minLength: 0, maxLength: 4 }), fc.subarray(Object.keys(shapes)))
  .chain(([names, shaped]) =>
    fc.record<Query>(
      Object.fromEntries(
        [...names, ...shaped].map((name) => [name, filters[name] ?? shapes[name] ?? seconds]),
      ),
    ),
  )

describe('the filters of /requests/v3', () => {
  it('Q-77: a list answers what matches every filter, whole, in its order, each request once', async () => {
    let answeredSome = 0
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const answered = await walk(asked)
        const ids = answered.map(({ id }) => id)
        expect(ids, JSON.stringify(asked)).toEqual(expected(asked))
        if (ids.length > 0) answeredSome += 1
        if (asked['requestType'] !== undefined)
          for (const { requestType } of answered)
            expect(requestType.toLowerCase()).toBe(asked['requestType'].toLowerCase())
        if (asked['includeTotal'] !== 'true') return
        const { total, totalRelation } = pageSchema.parse(JSON.parse((await ask(asked)).body))
        expect({ total, totalRelation }).toEqual({ total: ids.length, totalRelation: 'eq' })
      }),
      { numRuns: 150 },
    )
    expect(answeredSome).toBeGreaterThan(30)
  }, 240_000)

  it('Q-77: so does the older list, of whoever its query names', async () => {
    const asking = fc
      .tuple(
        fc.constantFrom(...namesOfV2, 'user'),
        fc.subarray(
          Object.keys(filters).filter((name) => name in requestsV2Fields),
          { maxLength: 2 },
        ),
        fc.subarray(Object.keys(shapes).filter((name) => name in requestsV2Fields)),
      )
      .chain(([name, more, shaped]) =>
        fc.record<Query>(
          Object.fromEntries(
            [name, ...more, ...shaped].map((one) => [one, filters[one] ?? shapes[one] ?? seconds]),
          ),
        ),
      )
    let answeredSome = 0
    await fc.assert(
      fc.asyncProperty(asking, async (asked) => {
        const ids = (await walkPages(asked, '/requests/v2', requestsV2Schema)).map(({ id }) => id)
        expect(ids, JSON.stringify(asked)).toEqual(expected(asked, namesOfV2))
        if (ids.length > 0) answeredSome += 1
      }),
      // A fixed seed, so that chance does not decide how many runs find something.
      { numRuns: 100, seed: 49 },
    )
    expect(answeredSome).toBeGreaterThan(20)
  }, 240_000)

  it('Q-77: each filter has requests that it leaves out and some that it shows', async () => {
    const all = expected({})
    for (const [name, values] of Object.entries(filters)) {
      const found = fc.sample(values, 60).map((value) => expected({ [name]: value }).length)
      expect(
        found.some((count) => count > 0 && count < all.length),
        name,
      ).toBe(true)
    }
  })
})

describe('parameters that are not honoured', () => {
  it.each(Object.keys(refusedParameters))('Q-76: %s is refused by name', async (name) => {
    for (const path of ['/requests/v3', '/requests/v2']) {
      const { status, refusal } = await ask({ id: rows[0]?.requestId ?? '', [name]: '1' }, { path })
      expect([status, refusal?.errorCode]).toEqual([400, 'INVALID_REQUEST'])
      expect(refusal?.message).toContain(`${name} cannot be honoured: `)
      expect(JSON.parse(refusal?.errorData ?? '')).toEqual({ field: name })
    }
  })

  it.each([
    ['an unknown parameter', { nonce: '1' }, 'nonce'],
    ['a name of the language', { constructor: '1' }, 'constructor'],
    ['another order of rows', { sortBy: 'amountUsd' }, 'sortBy'],
    ['a type of request that there is not', { requestType: 'Mint' }, 'requestType'],
    ['a reason that is none', { failReason: 'N/A' }, 'failReason'],
    ['more rows than a page has', { limit: '51' }, 'limit'],
  ])('Q-76: %s is refused', async (_what, more, field) => {
    const { status, refusal } = await ask(more)
    expect([status, JSON.parse(refusal?.errorData ?? '')]).toMatchObject([400, { field }])
  })

  it.each([{ referrer: 'an.app' }, { includeAuthenticatedData: 'true' }])(
    'Q-76: %j is for the key alone, because the answer would tell what others are not shown',
    async (more) => {
      const id = rows.find(({ referrer }) => referrer === 'an.app')?.requestId ?? ''
      expect((await ask({ id, ...more }, { isKeyed: false })).status).toBe(401)
      expect((await ask({ id, ...more }, { isKeyed: false, path: '/requests/v2' })).status).toBe(401)
      expect((await ask({ id }, { isKeyed: false })).status).toBe(200)
    },
  )
})

describe('a place in a list', () => {
  it('Q-78: a change that commits late is not passed by, and no state of a row comes twice', async () => {
    const { database } = testDatabase
    const bytes = ({ requestId }: HistoryRow) => Buffer.from(requestId.slice(2), 'hex')
    const change = (tx: SqlTx, row: HistoryRow) =>
      tx.query('update orders set updated_at = clock_timestamp() where request_id = $1', [bytes(row)])
    const own = rows.filter((row) => row.apiKeyId === linkedKey && isPaid(row))
    const [late, ...others] = own
    if (late === undefined) throw new Error('the key has requests')
    const asked = { sortBy: 'updatedAt', sortDirection: 'asc', limit: '7' }
    const seen: string[] = []
    const timeOfId = new Map<string, string>()
    let continuation: string | undefined
    const read = async () => {
      const { body } = await ask({ ...asked, ...(continuation !== undefined && { continuation }) })
      const page = pageSchema.parse(JSON.parse(body))
      for (const { id, updatedAt } of page.requests) {
        seen.push(`${id} ${updatedAt}`)
        timeOfId.set(id, updatedAt)
      }
      continuation = page.continuation
    }
    await read()
    // The oldest change is made first and is committed last, after later ones were to be read.
    await database.transaction(async (tx) => {
      await change(tx, late)
      for (const row of others.slice(0, 30)) await database.transaction((other) => change(other, row))
      while (continuation !== undefined) await read()
    })
    const lastSeen = [...timeOfId.values()].toSorted().at(-1) ?? ''
    continuation = undefined
    const again = { ...asked, startTimestamp: String(Math.floor(Date.parse(lastSeen) / 1_000)) }
    for (const { id, updatedAt } of await walk(again)) timeOfId.set(id, updatedAt)
    const stored = await database.query<{ id: string; at: Date }>(
      `select '0x' || encode(request_id, 'hex') as id, coalesce(updated_at, created_at) as at from orders
       where request_id = any($1)`,
      [own.map(bytes)],
    )
    expect(new Map(stored.map(({ id, at }) => [id, at.toISOString()]))).toEqual(timeOfId)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('Q-78: is none of a list that is sorted otherwise', async () => {
    const page = pageSchema.parse(JSON.parse((await ask({ limit: '1' })).body))
    const { status, refusal } = await ask({ sortBy: 'updatedAt', continuation: page.continuation ?? '' })
    expect([status, refusal?.errorCode]).toEqual([400, 'INVALID_CURSOR'])
  })
})
