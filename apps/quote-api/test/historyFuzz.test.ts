// Goal: no path and no query makes a list fail, on the real database: it refuses bytes and numbers that a
// schema lets through. Each answer is below 500 and has the documented error shape.
import type { Hex } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import type { HttpApp } from '@causeway/http'
import { createLedger, ledgerMigrations } from '@causeway/ledger'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCursor, encodeSequence } from '../src/requests/history/cursor.ts'
import { createMoneyHistory } from '../src/requests/history/moneyHistory.ts'
import { sortKeys } from '../src/requests/history/requestFilter.ts'
import { createRequestHistory } from '../src/requests/history/requestHistory.ts'
import { testApp } from './fixtures/app.ts'
import { linkedKey, sponsorWallet, testApiKeys, testSponsor } from './fixtures/sponsor.ts'
import { orderMigrations } from './orderSupport/orders.ts'

const runs = process.env['CAUSEWAY_FAULTS'] === '1' ? 10_000 : 1_000
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
    moneyHistory: createMoneyHistory({ database, ledger: createLedger() }),
  })
})
afterAll(async () => {
  await app?.close()
  await testDatabase?.stop()
})

const hex = (bytes: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((raw): Hex => `0x${Buffer.from(raw).toString('hex')}`)
const hostile = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('\u0000', '__proto__', '-1', '1e30', 'NaN', '9'.repeat(40), '%00', "' or 1=1 --", 'true'),
)
const id = hex(32)
const micros = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const number = fc.oneof(fc.nat(60), fc.integer(), fc.double()).map(String)
const cursor = fc.oneof(
  fc
    .tuple(micros, id, fc.constantFrom(...sortKeys))
    .map(([atMicros, raw, sortBy]) => encodeCursor({ sortBy, atMicros, id: raw })),
  micros.map(encodeSequence),
)

const members: Readonly<Record<string, fc.Arbitrary<string>>> = {
  id,
  orderId: id,
  requestId: id,
  hash: id,
  txHash: id,
  user: fc.constantFrom<string>(sponsorWallet, sponsorWallet.toUpperCase()),
  recipient: hex(20),
  term: fc.oneof(id, hex(20)),
  depositTxHash: id,
  failReason: fc.constantFrom('UNKNOWN', 'TTL_EXPIRED'),
  requestType: fc.constantFrom('Bridge', 'same-chain swap'),
  referrer: fc.constantFrom('an.app', '%00'),
  chainId: number,
  sortBy: fc.constantFrom(...sortKeys),
  includeTotal: fc.constantFrom('true', 'false'),
  depositAddress: hex(20),
  status: fc.constantFrom('waiting', 'success', 'refund'),
  context: fc.constantFrom('pay-fees', 'balance-topup'),
  originChainId: number,
  destinationChainId: number,
  startTimestamp: number,
  endTimestamp: number,
  limit: number,
  sortDirection: fc.constantFrom('asc', 'desc'),
  includeOrderData: fc.constantFrom('true', 'false', '1'),
  continuation: cursor,
  cursor,
}

const query = fc
  .array(
    fc
      .constantFrom(...Object.keys(members))
      .chain((name) =>
        fc
          .oneof({ weight: 5, arbitrary: members[name] ?? hostile }, { weight: 1, arbitrary: hostile })
          .map((value): [string, string] => [name, value]),
      ),
    { maxLength: 4 },
  )
  .map((pairs) => new URLSearchParams(pairs).toString())

const wallet = fc
  .oneof({ weight: 8, arbitrary: fc.constant<string>(sponsorWallet) }, { weight: 1, arbitrary: hostile })
  .map(encodeURIComponent)

describe.each([
  '/requests/v3',
  '/requests/v2',
  '/balance-events/:wallet',
  '/app-fees/:wallet/claims',
  '/app-fees/:wallet/claimable',
])('GET %s', (route) => {
  test(`answers ${runs} hostile queries without failing`, async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(query, wallet, fc.boolean(), async (text, owner, isKeyed) => {
        const url = `${route.replace(':wallet', owner)}?${text}`
        const headers = isKeyed ? { 'x-api-key': linkedKey } : {}
        const response = await app.inject({ url, headers })
        if (response.statusCode === 200) {
          accepted += 1
          return
        }
        const body = response.json()
        expect(response.statusCode, JSON.stringify({ url, body })).toBeLessThan(500)
        expect(body).toMatchObject({
          statusCode: response.statusCode,
          message: expect.any(String),
          errorCode: expect.any(String),
        })
        expect('errorData' in body).toBe(response.statusCode === 400)
      }),
      { numRuns: runs, endOnFailure: true },
    )
    expect(accepted).toBeGreaterThan(runs / 50)
  })
})
