// Goal: whoever is owed something, or is asked for what is not right, is seen by an operator. Method: quote-api over
// real chains and a real database under Prometheus with our rules; oracles that deny, a solver that lies, a chain that
// stands, a receiver that is gone. Hours of waiting are rows made older, for nothing else passes an hour in a test.

import { type Hex, Secret } from '@causeway/core'
import { encodeTopUp } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { parsePeppers } from '../../apps/quote-api/src/access/keys/peppers.ts'
import { createAdministration } from '../../apps/quote-api/src/operate/administration.ts'
import { accrueUsdc } from '../../apps/quote-api/test/feeSupport/owedFees.ts'
import { readClaimStep } from '../../apps/quote-api/test/serviceSupport/appFeeClaim.ts'
import { post, type QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { userOf } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import {
  createSponsor,
  pepperText,
  type TestSponsor,
} from '../../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { fires, patienceMs } from '../support/firing.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'

const amount = 60_000_000n
let oracles: StandInOracles
let bed: SettlementBed
let prometheus: Prometheus
let sponsor: TestSponsor

vi.setConfig({ testTimeout: 2 * patienceMs })

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async ({ keys }) => ({
      CUSTODY_ADDRESS: keys.custody.address,
      WEBHOOK_PRIVATE_ADDRESSES: 'allow',
    }),
  })
  prometheus = await startPrometheus([{ name: 'quote-api', opsUrl: bed.opsUrl }])
})
afterAll(async () => {
  await prometheus?.stop()
  await bed?.stop()
  await oracles?.stop()
})
beforeEach(async () => {
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})

async function deposited(): Promise<QuoteAnswer> {
  const quote = await bed.requests.quoted(sponsor, { amount })
  await bed.requests.execute(quote)
  return quote
}

const isQuiet = async (...names: readonly string[]) =>
  (await prometheus.alerts()).every(({ name }) => !names.includes(name))

test('OracleDoesNotSign and RequestsStandStill where two of three oracles deny a fill', async () => {
  expect(await isQuiet('OracleDoesNotSign', 'RequestsStandStill')).toBe(true)
  const { requests, solver } = bed
  oracles.set('refuses', 'refuses', 'honest')
  const quote = await deposited()
  await solver.carryOut(await requests.workFor(quote, 'fill'))
  await requests.reaches(quote, 'success')
  await fires(prometheus, 'OracleDoesNotSign')
  await requests.contradictedBefore(quote)
  await requests.reachesStage(quote, 'parked')
  await fires(prometheus, 'RequestsStandStill')
  oracles.set()
})

test('O-64: ChainStopped where two of three oracles halt a chain', async () => {
  expect(await isQuiet('ChainStopped')).toBe(true)
  for (const oracle of oracles.all.slice(0, 2)) oracle.halted = ['base']
  await fires(prometheus, 'ChainStopped')
  for (const oracle of oracles.all) oracle.halted = []
})

test('F-73: TransactionsUnread where one that may hold a deposit waits for an hour', async () => {
  expect(await isQuiet('TransactionsUnread')).toBe(true)
  await bed.database.query(
    `insert into put_aside (chain_id, transaction_id, purpose, reason, first_seen_at)
     values (8453, '0xaa', 'deposits', 'unanswered', now() - interval '1 hour')`,
  )
  await fires(prometheus, 'TransactionsUnread')
  await bed.database.query('delete from put_aside')
})

test('SolverReportsFalsely where the solver names a transaction that pays nobody', async () => {
  expect(await isQuiet('SolverReportsFalsely')).toBe(true)
  const { requests, solver, network } = bed
  const quote = await deposited()
  const { id } = await requests.workFor(quote, 'fill')
  const stranger = userOf(network, 3)
  const { walletClient } = network.chains.optimism.chain.as(stranger)
  await solver.report(id, await walletClient.sendTransaction({ to: stranger.address, value: 1n }))
  await fires(prometheus, 'SolverReportsFalsely')
})

test('ClaimStuck where the solver pays half of a claim', async () => {
  expect(await isQuiet('ClaimStuck')).toBe(true)
  const { database, network, solver, url } = bed
  const account = privateKeyToAccount(generatePrivateKey())
  // CAST: lower-cased hex stays hex.
  const recipient = account.address.toLowerCase() as Hex
  const { chainId, tokens } = network.deployment.base
  await accrueUsdc(database, network, { recipient, amount: 5_000_000n })
  const wish = { chainId, currency: tokens.USDC, recipient }
  const { claimId, typedData } = readClaimStep(await post(`${url}/app-fees/${recipient}/claim`, wish))
  const signature = await account.signTypedData(typedData)
  const body = { kind: 'claim', requestId: claimId, referrer: 'a.example' }
  expect((await post(`${url}/execute/permits?signature=${signature}`, body)).status).toBe(200)
  const payout = async () => (await solver.work()).find(({ kind }) => kind === 'claim')
  await waitUntil('its payout is offered', async () => (await payout()) !== undefined)
  const item = await payout()
  if (item !== undefined) await solver.carryOut(item, 50n)
  await fires(prometheus, 'ClaimStuck')
})

test('WebhooksWait where a receiver is gone for an hour', async () => {
  expect(await isQuiet('WebhooksWait')).toBe(true)
  const { webhooks } = createAdministration({
    config: { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate: true } },
    database: bed.database,
    peppers: parsePeppers(new Secret(pepperText)),
  })
  // A port that nobody listens on.
  await webhooks.set({ actor: 'cli:test', apiKeyId: sponsor.keyId, url: 'http://127.0.0.1:9/', headers: {} })
  await deposited()
  await waitUntil('a message was not taken', async () => {
    const rows = await bed.database.query(
      `select 1 from webhook_delivery where state = 'waiting' and attempts > 0`,
    )
    return rows.length > 0
  })
  await bed.database.query(
    `update webhook_delivery set created_at = created_at - interval '2 hours' where state = 'waiting'`,
  )
  await fires(prometheus, 'WebhooksWait')
})

test('TopUpsPendingLong where the chain of a top-up makes nothing final for an hour', async () => {
  expect(await isQuiet('TopUpsPendingLong')).toBe(true)
  const { chain } = bed.network.chains.base
  const { data } = encodeTopUp({
    token: bed.network.deployment.base.tokens.USDC,
    custody: bed.network.keys.custody.address,
    amountMicroUsd: 5_000_000n,
    owner: sponsor.wallet,
  })
  await chain.node.setIntervalMining({ interval: 0 })
  try {
    const { tokens } = bed.network.deployment.base
    await chain.as(userOf(bed.network, 4)).walletClient.sendTransaction({ to: tokens.USDC, data })
    await chain.node.mine({ blocks: 1 })
    await waitUntil('it is seen', async () => {
      const rows = await bed.database.query(`select 1 from chain_event where state = 'seen'`)
      return rows.length > 0
    })
    await bed.database.query(
      `update chain_event set seen_at = seen_at - interval '2 hours' where state = 'seen'`,
    )
    await fires(prometheus, 'TopUpsPendingLong')
  } finally {
    await chain.node.setIntervalMining({ interval: 1 })
  }
})

// The last one: the chain is stopped afterwards.
test('L-25: LossBooked where the block of a deposit that was filled leaves its chain', async () => {
  expect(await isQuiet('LossBooked')).toBe(true)
  const { requests, solver, network } = bed
  const { node } = network.chains.base.chain
  const id = await node.snapshot()
  const quote = await deposited()
  await solver.carryOut(await requests.workFor(quote, 'fill'))
  await requests.reaches(quote, 'success')
  await node.revert({ id })
  await fires(prometheus, 'LossBooked')
})
