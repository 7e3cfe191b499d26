// Goal: quotes that nobody pays slow down nobody's money: what is watched costs per block and pass, not per
// quote. Method: the service with its jobs, PostgreSQL, anvil behind a counting proxy; thousands of quotes by
// deposit address, of this minute and of a month, then somebody else's payment. Counted are passes, calls and
// rows; times are printed and decide nothing.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { createDatabase, type Database, type EmbeddedPostgres, startTestPostgres } from '@causeway/database'
import {
  type FaultProxy,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { encodeFunctionData, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from './fixtures/service.ts'
import { post, type QuoteAnswer, quote } from './serviceSupport/callService.ts'
import { localRequest, userOf } from './serviceSupport/localRequest.ts'
import { jobRuns, rowsRead, storeUnpaidQuotes } from './serviceSupport/unpaidQuotes.ts'

const amount = 10n ** 17n
const windowMs = 4_000
const aggregate3Value = parseAbi([
  'struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }',
  'function aggregate3Value(Call3Value[] calls) payable',
])
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let proxy: FaultProxy
let service: TestService
let urls: { readonly publicUrl: string; readonly opsUrl: string }

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-unpaid-quotes-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  proxy = await startFaultProxy({ targetUrl: network.chains.base.url })
  service = await startTestService(network, {
    DATABASE_URL: server.connectionString,
    BASE_RPC_URL: proxy.url,
  })
  urls = await service.listen()
  database = createDatabase({
    connectionString: server.connectionString,
    poolSize: 2,
    statementTimeoutMs: 120_000,
  })
})
afterAll(async () => {
  await service?.stop()
  await database?.close()
  await proxy?.stop()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

function quoteByAddress(): Promise<QuoteAnswer> {
  const party = { recipient: freshAddress(), refundTo: freshAddress() }
  const native = { pay: 'native', receive: 'native' } as const
  return quote(
    urls.publicUrl,
    localRequest(network, { ...native, amount, more: { useDepositAddress: true, ...party } }),
  )
}

const freshAddress = () => privateKeyToAddress(generatePrivateKey())

function addressOf({ steps }: QuoteAnswer): Hex {
  const address = steps[0]?.depositAddress
  if (address === undefined) throw new Error('the quote has no deposit address')
  // CAST: the wire describes an address as text.
  return address as Hex
}

const watcher = 'deposit-addresses-base'
const runsOf = async (job: string) => (await jobRuns(urls.opsUrl)).get(job) ?? 0

type Reaction = { readonly passes: number; readonly elapsedMs: number }

/** From the payment of a fresh quote, sent to `to`, until its sweep is asked for. */
async function react(payment: (address: Hex) => { to: Hex; data: Hex }): Promise<Reaction> {
  const address = addressOf(await quoteByAddress())
  const startedAtMs = performance.now()
  const passes = await runsOf(watcher)
  await network.chains.base.chain.send(userOf(network, 1), [
    { what: 'payment', ...payment(address), valueWei: amount },
  ])
  await waitUntil('the sweep is asked for', async () => {
    const rows = await database.query(
      `select 1 from work_item where kind = 'sweep' and payload ->> 'depositAddress' = $1`,
      [address],
    )
    return rows.length > 0
  })
  return { passes: (await runsOf(watcher)) - passes, elapsedMs: performance.now() - startedAtMs }
}

const plainly = (address: Hex) => ({ to: address, data: '0x' as const })

/** An internal transfer, which is the value of no transaction. */
function byContract(address: Hex): { to: Hex; data: Hex } {
  const call = { target: address, allowFailure: false, value: amount, callData: '0x' as const }
  const data = encodeFunctionData({ abi: aggregate3Value, functionName: 'aggregate3Value', args: [[call]] })
  return { to: network.deployment.base.multicall3, data }
}

type Cost = { readonly rows: number; readonly calls: number; readonly runs: number }

/** The lesser of two windows: what is read once in a while is no cost of a run. */
async function cost(): Promise<Cost> {
  const [one, other] = [await costInWindow(), await costInWindow()]
  return one.rows < other.rows ? one : other
}

/** Reads of all jobs together in a window, per run of a job. */
async function costInWindow(): Promise<Cost> {
  const runsNow = async () => [...(await jobRuns(urls.opsUrl)).values()].reduce((sum, runs) => sum + runs, 0)
  const [rows, runs] = [await rowsRead(database), await runsNow()]
  proxy.resetCounters()
  await new Promise((resolve) => setTimeout(resolve, windowMs))
  const ran = (await runsNow()) - runs
  const { callsByMethod } = proxy.counters()
  const calls = ['eth_call', 'eth_getLogs', 'eth_getBlockByNumber'].reduce(
    (sum, method) => sum + (callsByMethod[method] ?? 0),
    0,
  )
  return { rows: ((await rowsRead(database)) - rows) / ran, calls: calls / ran, runs: ran }
}

/** More than one pass takes, a hundred times over, and what a public listener can be asked for in minutes. */
const flood = 8_000
const month = 30_000

test('Q-212: unpaid quotes change neither what a pass costs nor who is served first', async () => {
  const { requestId } = await quoteByAddress()
  const quiet = { plain: await react(plainly), contract: await react(byContract) }

  await storeUnpaidQuotes(database, { requestId, ofNow: 0, ofMonth: month / 6 })
  const some = await cost()
  await storeUnpaidQuotes(database, { requestId, ofNow: 0, ofMonth: month })
  const many = await cost()
  expect(many.rows).toBeLessThan(some.rows * 2 + 100)
  expect(many.calls).toBeLessThan(some.calls * 2 + 1)

  await storeUnpaidQuotes(database, { requestId, ofNow: flood / 4, ofMonth: 0 })
  const few = await cost()
  await storeUnpaidQuotes(database, { requestId, ofNow: flood, ofMonth: 0 })
  const flooded = { plain: await react(plainly), contract: await react(byContract) }
  const all = await cost()
  console.log(JSON.stringify({ quiet, flooded, some, many, few, all }))
  // In turn, the flood alone would take some thirty passes.
  expect(flooded.plain.passes).toBeLessThanOrEqual(quiet.plain.passes + 10)
  expect(flooded.contract.passes).toBeLessThanOrEqual(quiet.contract.passes + 10)
  expect(all.rows).toBeLessThan(few.rows * 2 + 100)
  expect(all.calls).toBeLessThan(few.calls * 2 + 1)
})

test('a flood of hints makes jobs run no more often than four times per interval', async () => {
  const jobs = ['deposits-base', watcher, 'deposit-payments-base', 'fills', 'permits', 'sweeps'] as const
  const { chainId } = network.chains.base.chain
  const shortestIntervalMs = 250
  const before = await jobRuns(urls.opsUrl)
  const startedAtMs = performance.now()
  let hints = 0
  let isOver = false
  const hinter = async () => {
    while (!isOver) {
      const hint = { chainId, txHash: `0x${'ab'.repeat(32)}` }
      expect((await post(`${urls.publicUrl}/transactions/index`, hint)).status).toBe(200)
      hints += 1
    }
  }
  const flood = Promise.all(Array.from({ length: 8 }, hinter))
  await new Promise((resolve) => setTimeout(resolve, windowMs))
  isOver = true
  await flood
  const after = await jobRuns(urls.opsUrl)
  const most = 2 + (performance.now() - startedAtMs) / (shortestIntervalMs / 4 - 1)
  const ran = jobs.map((job) => (after.get(job) ?? 0) - (before.get(job) ?? 0))
  console.log(JSON.stringify({ hints, most, ran }))
  for (const runs of ran) expect(runs).toBeLessThanOrEqual(most)
})
