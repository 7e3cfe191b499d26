// Goal: a failover costs seconds, not a restart, and loses nothing that was acknowledged. Attacks: kill -9 of the primary
// under quotes and holds of sponsors; an address that leads to the standby before it is promoted, so that sessions open that
// may not write; traffic that never lets them idle. Method: two servers, the second a synchronous standby of the first,
// quote-api whole with its jobs.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HoldRequest, UpstreamUnavailableError } from '@causeway/core'
import { createDatabase, openMigrated } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quoteResponseSchema } from '../../apps/quote-api/src/http/wire/quoteResponse.ts'
import { startTestService, type TestService } from '../../apps/quote-api/test/fixtures/service.ts'
import { post, readOk, send } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { localRequest } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { createLedger, ledgerMigrations, verifyLedger } from '../../packages/ledger/src/index.ts'
import { fund, holdNamed, noCaps } from '../../packages/ledger/test/support/ledgerBed.ts'
import { type Pair, startPair } from './pair.ts'

let network: TestNetwork
let directory: string
let pair: Pair
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-failover-'))
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  pair = await startPair(directory)
})
afterAll(async () => {
  await Promise.all([network?.stop(), pair?.stop()])
  await rm(directory, { recursive: true, force: true })
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const standbyMs = 3_000

/** A machine that is busy may not connect within the second that a start gives each connection. */
async function startPatiently(overrides: Readonly<Record<string, string>>): Promise<TestService> {
  for (;;) {
    try {
      return await startTestService(network, overrides)
    } catch (error) {
      if (!(error instanceof UpstreamUnavailableError)) throw error
    }
  }
}

test('O-62: a failover under load loses nothing acknowledged, and all goes on by itself', async () => {
  const { connectionString } = pair
  const service = await startPatiently({ DATABASE_URL: connectionString })
  const { publicUrl, opsUrl } = await service.listen()
  const database = await openMigrated({
    connectionString,
    setting: 'DATABASE_URL',
    poolSize: 2,
    directories: [{ name: 'ledger', path: ledgerMigrations }],
  })
  const ledger = createLedger({ caps: noCaps })
  await fund(database, 'sponsor', 10n ** 12n)
  const isReady = async () => (await send(`${opsUrl}/ready`)).status === 200
  await expect.poll(isReady).toBe(true)

  let isLoaded = true
  const quoted: { readonly id: string; readonly atMs: number }[] = []
  const held: HoldRequest[] = []
  const refusals = new Set<string>()
  const quoteOn = async () => {
    while (isLoaded) {
      const answer = await post(`${publicUrl}/quote`, localRequest(network, { amount: 60_000_000n }))
      if (answer.status === 200)
        quoted.push({ id: readOk(answer, quoteResponseSchema).requestId, atMs: Date.now() })
      else refusals.add(`${answer.status} ${JSON.parse(answer.text).errorCode}`)
      await pause(20)
    }
  }
  const holdOn = async (lane: number) => {
    for (let index = 0; isLoaded; index += 1) {
      const body = { sponsor: 'sponsor', amountMicroUsd: 3n, lifetimeSeconds: 36_000 }
      const request = holdNamed(`${lane} ${index}`, body)
      await database
        .transaction((tx) => ledger.reserveBatch(tx, [request]))
        .then(
          () => held.push(request),
          (error) => refusals.add(`503 ${error.code}`),
        )
      await pause(20)
    }
  }
  const load = [quoteOn(), quoteOn(), holdOn(1), holdOn(2)]
  await expect.poll(() => Math.min(quoted.length, held.length)).toBeGreaterThan(10)

  pair.killPrimary()
  await pause(standbyMs)
  expect(await isReady()).toBe(false)
  const [quotedBefore, heldBefore] = [quoted.length, held.length]
  const promotedMs = Date.now()
  await pair.promote()
  await expect.poll(() => quoted.length, { timeout: 60_000 }).toBeGreaterThan(quotedBefore)
  await expect.poll(() => held.length, { timeout: 60_000 }).toBeGreaterThan(heldBefore)
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true)
  const readyMs = Date.now()
  // The jobs lead and write again: the age of their last write falls below the time since the promotion.
  const jobsAge = async () => JSON.parse((await send(`${opsUrl}/ready`)).text).agesSeconds.jobs
  await expect
    .poll(async () => jobsAge().then((age) => age * 1_000 < Date.now() - promotedMs - 1_000), {
      timeout: 60_000,
    })
    .toBe(true)
  isLoaded = false
  await Promise.all(load)
  const first = quoted[quotedBefore]?.atMs ?? Number.NaN
  console.log(
    `first quote ${first - promotedMs} ms after the promotion, ready after ${readyMs - promotedMs} ms; ` +
      `${quoted.length} quotes and ${held.length} holds acknowledged`,
  )

  // A restart of quote-api alone would take longer than this on a busy machine.
  expect(readyMs - promotedMs).toBeLessThan(30_000)

  for (const refusal of refusals)
    expect(refusal).toMatch(/^503 (SERVICE_UNAVAILABLE|DATABASE_STARTING|OVERLOADED)$/)
  const checking = createDatabase({ connectionString })
  const rows = await checking.query<{ id: string }>(
    `select '0x' || encode(request_id, 'hex') as id from orders`,
  )
  const stored = new Set(rows.map(({ id }) => id))
  expect(quoted.filter(({ id }) => !stored.has(id))).toEqual([])
  const outcomes = await checking.transaction((tx) => ledger.reserveBatch(tx, held))
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['already_reserved']))
  expect(await verifyLedger(checking)).toEqual([])
  await Promise.all([checking.close(), database.close(), service.stop()])
})
