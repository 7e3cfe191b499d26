// Goal: a chain that oracles halted is neither sold from nor paid to, on any replica, until they sign for it again.
// Attackers: an oracle that lies alone; whoever silences the oracles that halted; a solver that fetched work before.
// Method: two services on one database, one of them without jobs, nodes, and three oracles whose word the test sets.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from './fixtures/service.ts'
import { post, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

const amount = 60_000_000n
const waits = { timeout: 20_000, interval: 250 }
let bed: SettlementBed
let oracles: StandInOracles
let sponsor: TestSponsor
let replica: TestService
let urls: readonly string[]

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
  replica = await startTestService(bed.network, {
    ...serviceSettings(bed.connectionString, oracles.setting),
    JOBS: 'off',
  })
  urls = [bed.url, (await replica.listen()).publicUrl]
}, 180_000)
afterAll(async () => {
  await replica?.stop()
  await bed?.stop()
  await oracles?.stop()
})
afterEach(async () => {
  oracles.set()
  halt()
  for (const url of urls) await sells(url)
})

/** One list of chains for each oracle; missing ones have halted none. */
function halt(...chains: readonly (readonly string[])[]) {
  for (const [index, oracle] of oracles.all.entries()) oracle.halted = chains[index] ?? []
}

async function priceOf(url: string, from: 'base' | 'optimism', to: 'base' | 'optimism') {
  const { status, text } = await post(`${url}/price`, localRequest(bed.network, { amount, from, to }))
  return { status, message: status === 200 ? '' : String(JSON.parse(text).message) }
}
const ways = [
  ['base', 'optimism'],
  ['optimism', 'base'],
] as const
async function sells(url: string) {
  for (const [from, to] of ways)
    await expect.poll(() => priceOf(url, from, to), waits).toMatchObject({ status: 200 })
}
async function sellsNothing(url: string) {
  for (const [from, to] of ways)
    await expect
      .poll(() => priceOf(url, from, to), waits)
      .toEqual({ status: 503, message: expect.stringMatching(/^Oracles halted chain [0-9]+, because/) })
}
/** Longer than the oracles are asked again and every process has read what they said. */
const afterTheNextLook = () => new Promise((resolve) => setTimeout(resolve, 6_000))

test('O-64: a chain that too few oracles sign for is neither sold from nor to, and sells again by itself', async () => {
  for (const url of urls) await sells(url)
  halt(['base'], ['base', 'a chain that is not quoted'])
  for (const url of urls) {
    await sellsNothing(url)
    expect(JSON.parse((await send(`${url}/chains/health`)).text)).toEqual({ healthy: false, stopped: [8453] })
  }
  const ready = await send(`${bed.opsUrl}/ready`)
  expect([ready.status, ready.text]).toEqual([200, expect.stringContaining('CHAIN_STOPPED')])
  const metrics = (await send(`${bed.opsUrl}/metrics`)).text
  expect(/^chain_stopped\{.*$/m.exec(metrics)?.[0]).toMatch(/chain="base",by="oracles".*\} 1$/)
  // The allocator signs nothing for it either.
  expect(JSON.parse((await send(`${bed.opsUrl}/stops`)).text)).toEqual({ all: false, chains: ['base'] })
})

test('O-64: an oracle that lies alone stops nothing', async () => {
  halt(['base', 'optimism'])
  await afterTheNextLook()
  for (const url of urls)
    for (const [from, to] of ways) expect(await priceOf(url, from, to)).toMatchObject({ status: 200 })
})

test('O-64: whoever silences the oracles lifts no halt', async () => {
  halt(['base'], ['base'])
  for (const url of urls) await sellsNothing(url)
  oracles.set('garbage', 'garbage', 'garbage')
  await afterTheNextLook()
  for (const url of urls) await sellsNothing(url)
  oracles.set('honest', 'garbage', 'garbage')
  halt()
  for (const url of urls) await sells(url)
})

test('O-64: work on a halted chain is not offered, and a report of what was fetched before is refused', async () => {
  const { requests, solver } = bed
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  const fill = await requests.workFor(quote, 'fill')
  halt(['base'], ['base'])
  for (const url of urls) await sellsNothing(url)
  expect(await solver.work()).toEqual([])
  const report = await solver.report(fill.id, `0x${'f1'.repeat(32)}`)
  expect([report.status, JSON.parse(report.text).errorCode]).toEqual([409, 'WORK_NOT_OPEN'])
  halt()
  await solver.carryOut(await requests.workFor(quote, 'fill'))
  await requests.reaches(quote, 'success')
})
