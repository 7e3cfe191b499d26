// Goal: a request that lived its life leaves behind what its integrator and its operators ask for: signed
// messages about every status, what the fill really took and cost, and quotes that learn from it. Method: the
// service with its jobs, PostgreSQL, anvil, a scripted solver, signing oracles and a receiver over HTTP.
import { createHmac, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOrderIdHasher, type Hex, mainNetwork } from '@causeway/core'
import {
  createDatabase,
  type Database,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createReactionTimes } from '../src/accuracy/reactionTimes.ts'
import { quoteResponseSchema } from '../src/wire/quoteResponse.ts'
import { startTestService, type TestService } from './fixtures/service.ts'
import { post, type QuoteAnswer, readOk } from './serviceSupport/callService.ts'
import { localRequest, userOf } from './serviceSupport/localRequest.ts'
import { waitUntil } from './serviceSupport/waitUntil.ts'
import {
  createScriptedSolver,
  type OpenWork,
  type ScriptedSolver,
} from './settlementSupport/scriptedSolver.ts'
import { type StandInOracle, startStandInOracle } from './settlementSupport/standInOracle.ts'
import { createSponsor, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'
import { messageOf, type Receiver, startReceiver } from './webhookSupport/receiver.ts'

const solverKey = 'solver-key-of-the-tests'
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let service: TestService
let oracles: StandInOracle[] = []
let solver: ScriptedSolver
let receiver: Receiver
let sponsor: TestSponsor
let addresses: Awaited<ReturnType<TestService['listen']>>

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-filled-'))
  server = await startEmbeddedPostgres({ dataDirectory: join(directory, 'postgres'), durable: false })
  const orderIdOf = createOrderIdHasher(() => mainNetwork('ethereum-vm'))
  oracles = await Promise.all(
    [1, 2].map(() =>
      startStandInOracle({ privateKey: generatePrivateKey(), otherKey: generatePrivateKey(), orderIdOf }),
    ),
  )
  service = await startTestService(network, {
    DATABASE_URL: server.connectionString,
    API_KEY_PEPPERS: pepperText,
    SOLVER_API_KEY: solverKey,
    ORACLES: oracles.map((oracle) => `${oracle.url}||${oracle.signer}`).join(';'),
    ORACLES_THRESHOLD: '2',
    WEBHOOK_PRIVATE_ADDRESSES: 'allow',
  })
  addresses = await service.listen()
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
  solver = createScriptedSolver({ network, url: addresses.publicUrl, apiKey: solverKey })
  receiver = await startReceiver()
  sponsor = await createSponsor(database, 1_000_000_000n)
})
afterAll(async () => {
  await service?.stop()
  await receiver?.stop()
  await Promise.all(oracles.map((oracle) => oracle.stop()))
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

const secretSchema = z.object({ secret: z.string() })
const transactionSchema = z.object({ to: z.string(), data: z.string() })

/** Through the admin listener, as an operator would. */
async function setWebhook(): Promise<string> {
  const answer = await fetch(`${addresses.adminUrl}/admin/keys/${sponsor.keyId}/webhook`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url }),
  })
  return secretSchema.parse(await answer.json()).secret
}

async function quoted(): Promise<QuoteAnswer> {
  const body = localRequest(network, { amount: 60_000_000n, more: { subsidizeFees: true } })
  const answer = await post(`${addresses.publicUrl}/quote`, body, { 'x-api-key': sponsor.apiKey })
  return readOk(answer, quoteResponseSchema)
}

async function execute({ steps }: QuoteAnswer): Promise<void> {
  const transactions = steps.flatMap(({ id, items }) =>
    items.map(({ data }) => {
      const transaction = transactionSchema.parse(data)
      // CAST: steps hold addresses and calldata, which the wire describes as text.
      return { what: id, to: transaction.to as Hex, data: transaction.data as Hex }
    }),
  )
  await network.chains.base.chain.send(userOf(network, 0), transactions)
}

async function fill({ requestId }: QuoteAnswer): Promise<Hex> {
  let item: OpenWork | undefined
  await waitUntil(async () => {
    item = (await solver.work()).find((open) => open.kind === 'fill' && open.requestId === requestId)
    return item !== undefined
  }, 'there is a fill')
  if (item === undefined) throw new Error('there is no fill')
  return solver.carryOut(item)
}

async function measurementOf({ requestId }: QuoteAnswer) {
  const [row] = await database.query<{
    gas: bigint
    quoted_gas: bigint
    output: bigint
    quoted_output: bigint
    deposit: bigint
    elapsed: number
    quoted_seconds: number
    reaction: number
  }>(
    `select gas_usd_x18 as gas, quoted_gas_usd_x18 as quoted_gas, output_amount as output,
       quoted_output_amount as quoted_output, deposit_amount as deposit, elapsed_seconds as elapsed,
       quoted_seconds, reaction_ms as reaction
     from fill_measurement where request_id = $1`,
    [Buffer.from(requestId.slice(2), 'hex')],
  )
  return row
}

test('its integrator is told each status once and in order, and its fill is measured', async () => {
  const secret = await setWebhook()
  const quote = await quoted()
  await execute(quote)
  const hash = await fill(quote)
  await waitUntil(async () => (await measurementOf(quote)) !== undefined, 'it is measured')

  const mine = () => receiver.received.filter((one) => messageOf(one).data.requestId === quote.requestId)
  await waitUntil(async () => mine().some((one) => messageOf(one).data.status === 'success'), 'it is told')
  const told = mine().map((one) => messageOf(one).data)
  expect(told.map(({ status }) => status).filter((status) => status !== 'submitted')).toEqual([
    'pending',
    'success',
  ])
  expect(told.at(-1)?.txHashes).toEqual([hash])
  for (const { headers, body } of mine()) {
    const text = `${headers['x-signature-timestamp']}.${body}`
    expect(headers['x-signature-sha256']).toBe(createHmac('sha256', secret).update(text).digest('hex'))
  }

  const { publicClient } = network.chains.optimism.chain.as(userOf(network, 0))
  const receipt = await publicClient.getTransactionReceipt({ hash })
  const price = service.market.snapshot().price('ETH/USD')
  if ('reason' in price) throw new Error('ether has a price')
  const measured = await measurementOf(quote)
  expect(measured?.gas).toBe((receipt.gasUsed * receipt.effectiveGasPrice * price.usdX18) / 10n ** 18n)
  expect(measured?.quoted_gas).toBeGreaterThan(0n)
  expect([measured?.deposit, measured?.output]).toEqual([60_000_000n, measured?.quoted_output])
  expect(measured?.quoted_seconds).toBe(quote.details.timeEstimate)

  await waitUntil(async () => {
    const rows = await database.query(`select 1 from webhook_delivery where state <> 'delivered'`)
    return rows.length === 0
  }, 'what was received is stored as such')
  const metrics = await (await fetch(`${addresses.opsUrl}/metrics`)).text()
  for (const component of ['gas', 'time', 'output', 'deposit']) {
    const labels = `component="${component}",chain="10",quantile="0.5"`
    expect(metrics).toMatch(new RegExp(`^quote_accuracy_ratio\\{${labels}[^}]*\\} [0-9.e-]+$`, 'm'))
  }
  expect(metrics).toMatch(/^quote_accuracy_fills\{component="output",chain="10"[^}]*\} 1$/m)
  expect(metrics).toMatch(/^quote_accuracy_ratio\{component="output",chain="10",quantile="0.5"[^}]*\} 1$/m)
  expect(metrics).toMatch(/^webhook_attempts_total\{outcome="delivered"[^}]*\} [23]$/m)
  expect(metrics).toMatch(/^webhook_waiting\{[^}]*\} 0$/m)
})

test('quotes learn what fills of their route took, from a newest part of what is stored', async () => {
  const before = (await quoted()).details.timeEstimate
  const times = createReactionTimes({ database, chainIds: [8_453, 10], onFailure: () => {} })
  await times.refresh()
  expect(times.of(8_453, 10)).toBeUndefined()
  await storeFills(20, 40_000)
  await storeFills(50, 9_000_000, '8 days')
  await times.refresh()
  expect(times.of(8_453, 10)).toBe(40_000)
  expect(times.of(10, 8_453)).toBeUndefined()
  await waitUntil(async () => (await quoted()).details.timeEstimate > before + 30, 'quotes say so')
  await storeFills(200, 2_000)
  await times.refresh()
  expect(times.of(8_453, 10)).toBe(2_000)
})

/** Fills from Base to Optimism, each of a request of its own. */
async function storeFills(count: number, reactionMs: number, age = '0 days'): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const id = randomBytes(32)
    await database.query(
      `insert into orders (request_id, user_address, recipient, origin_chain_id, destination_chain_id, quoted,
         steps_digest, expires_at, deadline, keep_until)
       values ($1, 'a user', 'a recipient', 8453, 10, '{}', $1, now(), now(), now() + interval '1 day')`,
      [id],
    )
    await database.query(
      `insert into fill_measurement (request_id, origin_chain_id, destination_chain_id, elapsed_seconds,
         quoted_seconds, reaction_ms, quoted_gas_usd_x18, output_amount, quoted_output_amount, deposit_amount,
         quoted_deposit_amount, measured_at)
       values ($1, 8453, 10, 60, 5, $2, 1, 1, 1, 1, 1, clock_timestamp() - $3::interval)`,
      [id, reactionMs, age],
    )
  }
}
