// Goal: coin that a contract got on a chain that nobody traces is never paid twice, and never taken for nothing.
// Method: the running service over chain files without traces; accounts that get code after the quote.
import type { Hex } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { callNode } from './accessSupport/contractWallets.ts'
import { type QuoteAnswer, send } from './serviceSupport/callService.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import type { RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

const amount = 10n ** 17n
/** Code that takes coin and ends. */
const taking = '0x00'
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor
let configs: ConfigCopy

beforeAll(async () => {
  oracles = await startStandInOracles()
  configs = await copyConfigs()
  const traces = '"traceInternalTransfers":'
  await configs.replace('chains.local.json', `${traces} true`, `${traces} false`)
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async () => ({ CONFIG_DIR: configs.directory }),
  })
  requests = bed.requests
}, 120_000)
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
  await configs?.remove()
})
beforeEach(async () => {
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})

async function deposited(more: object): Promise<QuoteAnswer> {
  const quote = await requests.quoted(sponsor, { pay: 'native', receive: 'native', amount, more })
  await requests.execute(quote)
  return quote
}

async function itemOf(id: string) {
  const [row] = await bed.database.query<{ state: string; reason: string | null; attempts: number }>(
    'select state, reason, attempts from work_item where id = $1',
    [id],
  )
  return row
}

test('a fill to it parks for a trace, and is offered to nobody again', async () => {
  const recipient: Hex = `0x${'c1'.repeat(20)}`
  const quote = await deposited({ recipient })
  const fill = await requests.workFor(quote, 'fill')
  await callNode(bed.network.chains.optimism.url, 'anvil_setCode', [recipient, taking])
  await bed.solver.carryOut(fill)
  await requests.reachesStage(quote, 'parked')
  expect((await requests.settlementOf(quote))?.parked_reason).toBe('TRACE_NEEDED')
  expect(await requests.openWork(quote, 'fill')).toBeUndefined()
  expect(await requests.openWork(quote, 'refund')).toBeUndefined()
})

test('a refund to it parks for a trace, and is not asked for again', async () => {
  const refundTo: Hex = `0x${'c2'.repeat(20)}`
  const quote = await deposited({ refundTo })
  const fill = await requests.workFor(quote, 'fill')
  await bed.database.query('update work_item set attempts = 3 where id = $1', [fill.id])
  await bed.solver.fail(fill.id, 'no inventory')
  const refund = await requests.workFor(quote, 'refund')
  await callNode(bed.network.chains.base.url, 'anvil_setCode', [refundTo, taking])
  await bed.solver.carryOut(refund)
  await waitUntil('it waits for a trace', async () => (await itemOf(refund.id))?.reason === 'trace needed')
  expect(await itemOf(refund.id)).toEqual({ state: 'reported', reason: 'trace needed', attempts: 0 })
  expect(await requests.openWork(quote, 'refund')).toBeUndefined()
  await requests.reachesStage(quote, 'parked')
  expect((await requests.settlementOf(quote))?.parked_reason).toBe('REFUND_NEEDS_TRACE')
  const metrics = (await send(`${bed.opsUrl}/metrics`)).text
  expect(metrics).toMatch(/settlement_events_total\{[^}]*event="trace_needed"[^}]*\} [1-9]/)
  expect(metrics).not.toMatch(/solver_false_reports_total\{[^}]*kind="refund"/)
})
