// Goal: money that stands still is named, from its first failure on in its status and after the limit on the list of
// operators, and a success takes it off again. Attackers: an account that refuses a token, a solver that is down or has
// nothing, oracles that do not sign, a chain without blocks. Method: the service over real nodes; rows are made older,
// so that no test waits for minutes.
import type { Hex } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createRequestAdministration } from '../src/operate/admin/requestAdministration.ts'
import { listStanding, readStandingOf } from '../src/requests/status/readStanding.ts'
import { createTimelines } from '../src/requests/timeline/readTimeline.ts'
import { type QuoteAnswer, send } from './serviceSupport/callService.ts'
import { bytesOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  requests = bed.requests
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})
beforeEach(async () => {
  oracles.set()
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})

async function deposited(): Promise<QuoteAnswer> {
  const quote = await requests.quoted(sponsor, { amount: 60_000_000n })
  await requests.execute(quote)
  return quote
}

const reasonsOf = async (quote: QuoteAnswer) => {
  const { failReason, refundFailReason } = await requests.statusOf(quote)
  return [failReason, refundFailReason]
}
// CAST: the wire describes a request id as text.
const idOf = ({ requestId }: QuoteAnswer) => requestId as Hex
const listed = async (quote: QuoteAnswer) =>
  (await readStandingOf(bed.database, [idOf(quote)])).get(idOf(quote))

/** As six minutes later. */
async function age(quote: QuoteAnswer): Promise<void> {
  const earlier = (column: string) => `${column} = ${column} - interval '6 minutes'`
  for (const change of [
    `orders set ${earlier('created_at')}`,
    `work_item set ${earlier('waits_since')}`,
    `settlement set ${earlier('updated_at')}, ${earlier('unproven_since')}`,
  ])
    await bed.database.query(`update ${change} where request_id = $1`, [bytesOf(quote.requestId)])
}

test('O-45: a solver that is down, and one without inventory, are named by what they are, until they pay', async () => {
  const quote = await deposited()
  const fill = await requests.workFor(quote, 'fill')
  expect(await reasonsOf(quote)).toEqual(['N/A', 'N/A'])
  expect(await listed(quote)).toBeUndefined()
  await age(quote)
  expect(await reasonsOf(quote)).toEqual(['SOLVER_SILENT', 'N/A'])
  expect(await listed(quote)).toMatchObject({
    reason: 'SOLVER_SILENT',
    account: quote.details.recipient,
    tries: 0,
  })
  const metrics = await (await fetch(`${bed.opsUrl}/metrics`)).text()
  expect(metrics).toMatch(/standing_requests\{.*reason="SOLVER_SILENT".*\} 1/)
  expect(metrics).toMatch(/standing_oldest_seconds\{.*reason="SOLVER_SILENT".*\} 3[67]\d/)
  await bed.solver.fail(fill.id, 'no inventory')
  expect(await reasonsOf(quote)).toEqual(['SOLVER_BALANCE_TOO_LOW', 'N/A'])
  expect(await listed(quote)).toMatchObject({
    reason: 'SOLVER_BALANCE_TOO_LOW',
    tries: 1,
    report: 'no inventory',
  })
  const timelines = createTimelines({ database: bed.database, nameOf: () => undefined })
  const { reason, steps } = await timelines.read(idOf(quote))
  expect([reason, steps.map(({ step }) => step)]).toEqual([
    'SOLVER_BALANCE_TOO_LOW',
    expect.arrayContaining(['stands-still']),
  ])
  await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
  await requests.reaches(quote, 'success')
  expect(await reasonsOf(quote)).toEqual(['N/A', 'N/A'])
  expect(await listed(quote)).toBeUndefined()
})

test('O-50, O-51: a refund that reverts says so at once, is listed long before its last try, and may still succeed', async () => {
  const quote = await deposited()
  const fill = await requests.workFor(quote, 'fill')
  await bed.database.query('update work_item set attempts = 3 where id = $1', [fill.id])
  await bed.solver.fail(fill.id, 'no way')
  const refund = await requests.workFor(quote, 'refund')
  const { walletClient } = bed.network.chains.base.chain.as(bed.network.keys.fillWallet)
  // A call that no contract of the network takes.
  const hash = await walletClient.sendTransaction({
    to: bed.network.deployment.base.depository,
    data: '0xdeadbeef',
    gas: 100_000n,
  })
  await bed.solver.report(refund.id, hash)
  expect((await requests.statusOf(quote)).txHashes).toEqual([hash])
  const reverted = ['TRANSACTION_SUBMISSION_FAILED', 'TRANSACTION_REVERTED']
  await waitUntil('it is told', async () => String(await reasonsOf(quote)) === String(reverted))
  const timelines = createTimelines({ database: bed.database, nameOf: () => undefined })
  await waitUntil('its story has it', async () =>
    (await timelines.read(idOf(quote))).steps.some((step) => step.reason === 'TRANSACTION_REVERTED'),
  )
  await requests.workFor(quote, 'refund')
  await age(quote)
  expect(await listed(quote)).toMatchObject({
    reason: 'TRANSACTION_REVERTED',
    isRefund: true,
    needsOperator: false,
    report: 'reverted',
    account: requests.user.address.toLowerCase(),
  })
  const again = await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
  await requests.reaches(quote, 'refund')
  expect(await reasonsOf(quote)).toEqual(['TRANSACTION_SUBMISSION_FAILED', 'N/A'])
  expect((await requests.statusOf(quote)).txHashes).toEqual([again])
  expect(await listed(quote)).toBeUndefined()
})

test('O-45: a fill that too few oracles sign is on the list, and they take it off', async () => {
  oracles.set('honest', 'other_order', 'garbage')
  const quote = await deposited()
  await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
  await requests.reaches(quote, 'success')
  await waitUntil('the oracles were asked', async () => {
    await age(quote)
    return (await listed(quote))?.reason === 'ATTESTATION_MISSING'
  })
  // Its recipient has its money: to the user nothing is wrong.
  expect(await reasonsOf(quote)).toEqual(['N/A', 'N/A'])
  oracles.set()
  await requests.reachesStage(quote, 'settled')
  expect(await listed(quote)).toBeUndefined()
})

test('O-47: a fill on a chain that makes no blocks is on the list, and a block takes it off', async () => {
  const { node } = bed.network.chains.optimism.chain
  const quote = await deposited()
  const fill = await requests.workFor(quote, 'fill')
  await node.setIntervalMining({ interval: 0 })
  try {
    await bed.solver.carryOut(fill)
    await age(quote)
    expect(await listed(quote)).toMatchObject({ reason: 'TRANSACTION_NOT_INCLUDED' })
    expect((await requests.statusOf(quote)).failReason).toBe('TRANSACTION_NOT_INCLUDED')
  } finally {
    await node.setIntervalMining({ interval: 1 })
  }
  await requests.reaches(quote, 'success')
  expect((await listed(quote))?.reason).not.toBe('TRANSACTION_NOT_INCLUDED')
})

test('O-49: the refund of a second deposit that was given up is listed, and offered again by an operator alone', async () => {
  const quote = await deposited()
  await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
  await requests.reachesStage(quote, 'settled')
  await requests.deposit(quote, { amount: 60_000_000n })
  const { id } = await requests.workFor(quote, 'refund')
  await bed.database.query('update work_item set attempts = 20 where id = $1', [id])
  await bed.solver.fail(id, 'no gas')
  expect(await listed(quote)).toMatchObject({
    reason: 'REFUND_FAILED',
    needsOperator: true,
    report: 'no gas',
  })
  const administration = createRequestAdministration(bed.database)
  const deed = { actor: 'cli:operator', reason: 'the wallet has gas again' }
  // Its own deposit is settled: nothing about it is resolved in another way.
  for (const resolution of ['unpaid', 'refund', 'release'] as const)
    await expect(administration.resolve(idOf(quote), resolution, deed)).rejects.toMatchObject({
      code: 'RESOLUTION_NOT_POSSIBLE',
    })
  expect(await administration.retry(idOf(quote), deed)).toBe('looked at')
  await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
  await waitUntil('it is back', async () => {
    const rows = await bed.database.query(
      `select from deposit_seen where request_id = $1 and state = 'refunded'`,
      [bytesOf(quote.requestId)],
    )
    return rows.length === 1
  })
  expect(await listed(quote)).toBeUndefined()
  expect(await requests.stageOf(quote)).toBe('settled')
})

test('O-45: a hold that nobody frees after its end is on the list', async () => {
  const quote = await deposited()
  await requests.workFor(quote, 'fill')
  const rolledBack = new Error('so that no job sees it')
  const reading = bed.database.transaction(async (tx) => {
    await tx.query(`update hold set expires_at = now() - interval '6 minutes' where request_id = $1`, [
      bytesOf(quote.requestId),
    ])
    expect((await readStandingOf(tx, [idOf(quote)])).get(idOf(quote))?.reason).toBe('HOLD_STAYS')
    throw rolledBack
  })
  await expect(reading).rejects.toBe(rolledBack)
  expect((await listStanding(bed.database)).map(({ requestId }) => requestId)).not.toContain(quote.requestId)
  expect((await send(`${bed.url}/intents/status/v3?requestId=${quote.requestId}`)).status).toBe(200)
})
