// Goal: a request that lived its life leaves behind what its integrator and its operators ask for: signed
// messages about every status, what the fill really took and cost, and quotes that learn from it. Method: the
// service with its jobs, PostgreSQL, anvil, a scripted solver, signing oracles and a receiver over HTTP.
import { createHmac, randomBytes } from 'node:crypto'
import { Secret } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parsePeppers } from '../src/access/keys/peppers.ts'
import { createAdministration } from '../src/operate/administration.ts'
import { createReactionTimes } from '../src/requests/accuracy/reactionTimes.ts'
import type { QuoteAnswer } from './serviceSupport/callService.ts'
import { userOf } from './serviceSupport/localRequest.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'
import { messageOf, type Receiver, startReceiver } from './webhookSupport/receiver.ts'

const amount = 60_000_000n
let oracles: StandInOracles
let bed: SettlementBed
let receiver: Receiver
let sponsor: TestSponsor

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async () => ({ WEBHOOK_PRIVATE_ADDRESSES: 'allow' }),
  })
  receiver = await startReceiver()
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})
afterAll(async () => {
  await bed?.stop()
  await receiver?.stop()
  await oracles?.stop()
})

const quoted = () => bed.requests.quoted(sponsor, { amount })

async function setWebhook(): Promise<string> {
  const { webhooks } = createAdministration({
    config: { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate: true } },
    database: bed.database,
    peppers: parsePeppers(new Secret(pepperText)),
  })
  const webhook = { actor: 'cli:test', apiKeyId: sponsor.keyId, url: receiver.url, headers: {} }
  const { secret } = await webhooks.set(webhook)
  if (secret === undefined) throw new Error('a new webhook shows its secret')
  return secret
}

async function measurementOf({ requestId }: QuoteAnswer) {
  const [row] = await bed.database.query<{
    gas: bigint
    quoted_gas: bigint
    output: bigint
    quoted_output: bigint
    deposit: bigint
    quoted_seconds: number
  }>(
    `select gas_usd_x18 as gas, quoted_gas_usd_x18 as quoted_gas, output_amount as output,
       quoted_output_amount as quoted_output, deposit_amount as deposit, quoted_seconds
     from fill_measurement where request_id = $1`,
    [bytesOf(requestId)],
  )
  return row
}

test('its integrator is told each status in order, the last one once, and its fill is measured', async () => {
  const { database, network, requests, service, solver } = bed
  const secret = await setWebhook()
  const quote = await quoted()
  await requests.execute(quote)
  const hash = await solver.carryOut(await requests.workFor(quote, 'fill'))
  await waitUntil('it is measured', async () => (await measurementOf(quote)) !== undefined)

  const mine = () => receiver.received.filter((one) => messageOf(one).data.requestId === quote.requestId)
  await waitUntil('it is told', async () => mine().some((one) => messageOf(one).data.status === 'success'))
  const told = mine().map((one) => messageOf(one).data)
  // A status arrives again with what it newly shows, such as the hash of the fill.
  const statuses = told.map(({ status }) => status).filter((status) => status !== 'submitted')
  expect([statuses[0], [...new Set(statuses)]]).toEqual(['pending', ['pending', 'success']])
  expect(statuses.indexOf('success')).toBe(statuses.length - 1)
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
  expect([measured?.deposit, measured?.output]).toEqual([amount, measured?.quoted_output])
  expect(measured?.quoted_seconds).toBe(quote.details.timeEstimate)

  await waitUntil('what was received is stored as such', async () => {
    const rows = await database.query(`select 1 from webhook_delivery where state <> 'delivered'`)
    return rows.length === 0
  })
  const metrics = await (await fetch(`${bed.opsUrl}/metrics`)).text()
  for (const component of ['gas', 'time', 'output', 'deposit']) {
    const labels = `component="${component}",chain="10",quantile="0.5"`
    expect(metrics).toMatch(new RegExp(`^quote_accuracy_ratio\\{${labels}[^}]*\\} [0-9.e-]+$`, 'm'))
  }
  expect(metrics).toMatch(/^quote_accuracy_fills\{component="output",chain="10"[^}]*\} 1$/m)
  expect(metrics).toMatch(/^quote_accuracy_ratio\{component="output",chain="10",quantile="0.5"[^}]*\} 1$/m)
  expect(metrics).toMatch(/^webhook_attempts_total\{outcome="delivered"[^}]*\} [2-4]$/m)
  expect(metrics).toMatch(/^webhook_waiting\{[^}]*\} 0$/m)
})

test('quotes learn what fills of their route took, from a newest part of what is stored', async () => {
  const before = (await quoted()).details.timeEstimate
  const times = createReactionTimes({ database: bed.database, chainIds: [8_453, 10], onFailure: () => {} })
  await times.refresh()
  expect(times.of(8_453, 10)).toBeUndefined()
  await storeFills(20, 40_000)
  await storeFills(50, 9_000_000, '8 days')
  await times.refresh()
  expect(times.of(8_453, 10)).toBe(40_000)
  expect(times.of(10, 8_453)).toBeUndefined()
  await waitUntil('quotes say so', async () => (await quoted()).details.timeEstimate > before + 30)
  await storeFills(200, 2_000)
  await times.refresh()
  expect(times.of(8_453, 10)).toBe(2_000)
})

/** Fills from Base to Optimism, each of a request of its own. */
async function storeFills(count: number, reactionMs: number, age = '0 days'): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const id = randomBytes(32)
    await bed.database.query(
      `insert into orders (request_id, user_address, recipient, origin_chain_id, destination_chain_id, quoted,
         steps_digest, expires_at, deadline, keep_until)
       values ($1, 'a user', 'a recipient', 8453, 10, '{}', $1, now(), now(), now() + interval '1 day')`,
      [id],
    )
    await bed.database.query(
      `insert into fill_measurement (request_id, origin_chain_id, destination_chain_id, elapsed_seconds,
         quoted_seconds, reaction_ms, quoted_gas_usd_x18, output_amount, quoted_output_amount, deposit_amount,
         quoted_deposit_amount, measured_at)
       values ($1, 8453, 10, 60, 5, $2, 1, 1, 1, 1, 1, clock_timestamp() - $3::interval)`,
      [id, reactionMs, age],
    )
  }
}
