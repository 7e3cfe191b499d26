// Goal: one command ends everything that begins on a chain, on every replica, within seconds, and stays in force until
// an operator ends it. Attackers: a solver that fetched its work before the stop; a second replica; a restart; a stranger,
// or a caller with another key, who would like sales to stop; a mistyped chain, which stops nothing. Method: two services
// with their jobs on one database, nodes, a scripted solver, and the commands as they are typed.
import type { Hex } from '@causeway/core'
import { accrueAppFees } from '@causeway/ledger'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { repositoryRoot, serviceEnvironment, startTestService, type TestService } from './fixtures/service.ts'
import { readClaimStep } from './serviceSupport/appFeeClaim.ts'
import {
  type Answer,
  post,
  postPatiently,
  type QuoteAnswer,
  readOk,
  send,
} from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { postSignature } from './serviceSupport/signatureStep.ts'
import type { RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  solverKey,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

const amount = 60_000_000n
const reason = 'deposits of the chain look forged'
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor
let other: TestService
let otherUrl: string
const replica = () =>
  startTestService(bed.network, { ...serviceSettings(bed.connectionString, oracles.setting), JOBS: 'off' })

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  requests = bed.requests
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
  other = await replica()
  otherUrl = (await other.listen()).publicUrl
}, 120_000)
afterAll(async () => {
  await other?.stop()
  await bed?.stop()
  await oracles?.stop()
})

afterEach(async () => {
  await go('all')
})

async function command(...words: readonly string[]) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const variables = await serviceEnvironment(bed.network, bed.service.directory, {
    DATABASE_URL: bed.connectionString,
  })
  const code = await runCli({
    words,
    actor: 'cli:operator',
    signal: new AbortController().signal,
    print: keep,
    complain: keep,
    config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
  })
  return { code, output: lines.join('\n') }
}

const stop = async (chain: string) => {
  const { code, output } = await command('stop', chain, '--reason', reason)
  expect([code, output]).toEqual([0, expect.stringContaining('allocator: NOT REACHED')])
}
const go = (chain: string) => command('go', chain, '--reason', 'it was a false alarm')

const priced = (url: string, more: object = {}): Promise<Answer> =>
  post(`${url}/price`, localRequest(bed.network, { amount, more }))
const fromOptimism = (url: string) =>
  post(`${url}/price`, localRequest(bed.network, { amount, from: 'optimism', to: 'base' }))

/** The text of a refusal, which names the chain and not the operator's reason. */
function refusalOf({ status, text }: Answer) {
  const { errorCode, message } = JSON.parse(text)
  expect(text).not.toContain(reason)
  return { status, errorCode, message }
}
const stopped = (chainId: number, by = 'The operator stopped') => ({
  status: 503,
  errorCode: 'CHAIN_STOPPED',
  message: expect.stringContaining(`${by} chain ${chainId}`),
})
const isStopped = (url: string, chainId: number) =>
  expect.poll(async () => refusalOf(await priced(url)), { timeout: 3_000 }).toMatchObject(stopped(chainId))
const isPriced = (url: string) =>
  expect.poll(async () => (await priced(url)).status, { timeout: 3_000 }).toBe(200)

const workOf = async (quote: QuoteAnswer) =>
  (await bed.solver.work()).filter(({ requestId }) => requestId === quote.requestId).map(({ kind }) => kind)

test('O-40: a stop is in force on every replica within seconds and over a restart, and ends with go alone', async () => {
  await isPriced(otherUrl)
  await stop('optimism')
  for (const url of [bed.url, otherUrl]) {
    await isStopped(url, 10)
    expect(refusalOf(await fromOptimism(url))).toMatchObject(stopped(10))
    expect(refusalOf(await post(`${url}/quote`, localRequest(bed.network, { amount })))).toMatchObject(
      stopped(10),
    )
  }
  const restarted = await replica()
  const { publicUrl } = await restarted.listen()
  expect(refusalOf(await priced(publicUrl))).toMatchObject(stopped(10))
  await restarted.stop()
  expect((await go('base')).output).toContain('not stopped')
  await isStopped(otherUrl, 10)
  expect((await go('optimism')).code).toBe(0)
  for (const url of [bed.url, otherUrl]) await isPriced(url)
})

test('O-40: who stopped what and why is in the audit, a mistyped chain is refused, and a number or all will do', async () => {
  expect(await command('stop', 'optimsim', '--reason', reason)).toMatchObject({
    code: 1,
    output: expect.stringContaining('must be all or one of base'),
  })
  await stop('10')
  await stop('all')
  await isStopped(bed.url, 10)
  expect((await command('stops')).output).toMatch(/^10 .*operator/m)
  const one = (await go('10')).output
  expect(one).toContain('All chains are still stopped')
  expect((await go('all')).code).toBe(0)
  await isPriced(bed.url)
  const { output } = await command('audit', 'list', '--json')
  expect(JSON.parse(output).lines.slice(0, 2)).toMatchObject([
    { action: 'go', subject: 'all', actor: 'cli:operator', outcome: 'done' },
    { action: 'go', subject: 'optimism', outcome: 'done' },
  ])
  expect(output).toContain(reason)
})

test('O-41: a fill that was offered before the stop is 409 at its report, and is offered again after go', async () => {
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  const fill = await requests.workFor(quote, 'fill')
  for (const chain of ['optimism', 'base', 'all']) {
    await stop(chain)
    const report = await bed.solver.report(fill.id, `0x${'f1'.repeat(32)}`)
    expect([report.status, JSON.parse(report.text).errorCode]).toEqual([409, 'WORK_NOT_OPEN'])
    expect(await workOf(quote)).toEqual([])
    await go(chain)
  }
  await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
  await requests.reaches(quote, 'success')
})

test('O-41: refunds go on from an origin that is not stopped, and wait where it is', async () => {
  const quote = await requests.quoted(sponsor, { amount })
  await requests.deposit(quote, { amount: amount / 2n })
  const refund = await requests.workFor(quote, 'refund')
  await stop('base')
  expect(await workOf(quote)).toEqual([])
  expect((await bed.solver.report(refund.id, `0x${'f2'.repeat(32)}`)).status).toBe(409)
  await go('base')
  await stop('optimism')
  await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
  await go('optimism')
})

test('O-41: what was reported before is followed: its fee may be raised', async () => {
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  const fill = await requests.workFor(quote, 'fill')
  const [first, second] = [`0x${'f3'.repeat(32)}`, `0x${'f4'.repeat(32)}`]
  expect((await bed.solver.report(fill.id, first)).status).toBe(200)
  await stop('optimism')
  expect((await bed.solver.report(fill.id, first)).status).toBe(200)
  expect((await bed.solver.report(fill.id, second, first)).status).toBe(200)
  await go('optimism')
})

test('O-42: permits, calls and claims of a stopped chain are refused, and balances are read', async () => {
  const permit = await requests.quoted(sponsor, { amount, more: { usePermit: true } })
  const calls = await requests.quoted(sponsor, { amount, more: { originGasOverhead: 300_000 } })
  const wallet = privateKeyToAccount(generatePrivateKey())
  const { USDC } = bed.network.deployment.optimism.tokens
  const asset = { chainId: 10, address: USDC.toLowerCase(), symbol: 'USDC', name: 'USD Coin', decimals: 6 }
  // CAST: letters of another case are hex too.
  const recipient = wallet.address.toLowerCase() as Hex
  await accrueAppFees(bed.database, {
    requestId: `0x${'a9'.repeat(32)}`,
    asset,
    fees: [{ recipient, amount: 50_000_000n }],
  })
  const claim = () =>
    postPatiently(`${bed.url}/app-fees/${wallet.address}/claim`, {
      chainId: 10,
      currency: USDC,
      recipient,
      amount: '20000000',
    })
  const { claimId, typedData } = readClaimStep(await claim())
  const signature = await wallet.signTypedData(typedData)
  const signed = () =>
    post(`${bed.url}/execute/permits?signature=${signature}`, { kind: 'claim', requestId: claimId })
  await stop('optimism')
  await isStopped(bed.url, 10)
  const data = { chainId: 8_453, to: `0x${'c1'.repeat(20)}`, data: '0x', value: 0 }
  const execution = { executionKind: 'rawCalls', data, requestId: calls.requestId }
  const refused = [
    await claim(),
    await signed(),
    await postSignature(bed.url, permit, { signature: `0x${'11'.repeat(65)}` }),
    await post(`${bed.url}/execute`, execution, { 'x-api-key': sponsor.apiKey }),
  ]
  for (const answer of refused) expect(refusalOf(answer)).toMatchObject(stopped(10))
  expect((await send(`${bed.url}/app-fees/${wallet.address}/balances`)).status).toBe(200)
  await go('optimism')
  await isPriced(bed.url)
  expect((await signed()).status).toBe(200)
})

test('O-40: health, readiness, the console and a metric show a stop, and the service stays ready', async () => {
  await stop('optimism')
  await isStopped(bed.url, 10)
  const body = async (url: string) => JSON.parse((await send(url)).text)
  expect(await body(`${bed.url}/chains/health`)).toEqual({ healthy: false, stopped: [10] })
  expect(await body(`${bed.url}/chains/health?chainId=8453`)).toMatchObject({ healthy: true })
  const ready = await send(`${bed.opsUrl}/ready`)
  expect([ready.status, JSON.parse(ready.text)]).toMatchObject([
    200,
    { checks: { stops: 'failed' }, reasons: { stops: 'CHAIN_STOPPED' } },
  ])
  expect((await send(`${bed.opsUrl}/metrics`)).text).toMatch(
    /^chain_stopped\{chain="optimism",by="operator".*\} 1$/m,
  )
  expect(await body(`${bed.opsUrl}/stops`)).toEqual({ all: false, chains: ['optimism'] })
  await go('optimism')
  await isPriced(bed.url)
})

test('O-43: a solver that pays nothing on a chain ends its quotes for a minute, and nobody else can', async () => {
  const tell = (chains: string, headers: Record<string, string>) =>
    send(`${bed.url}/solver/work?stopped=${chains}`, { headers })
  expect((await tell('10', {})).status).toBe(401)
  expect((await tell('10', { 'x-api-key': sponsor.apiKey })).status).toBe(401)
  await bed.database.query(`select pg_sleep(1)`)
  await isPriced(bed.url)
  const quote = await requests.quoted(sponsor, { amount })
  expect((await tell('10', { 'x-api-key': solverKey })).status).toBe(200)
  for (const url of [bed.url, otherUrl])
    await expect
      .poll(async () => refusalOf(await priced(url)), { timeout: 3_000 })
      .toMatchObject(stopped(10, 'The solver pays nothing on'))
  expect((await fromOptimism(bed.url)).status).toBe(200)
  await requests.execute(quote)
  await requests.workFor(quote, 'fill')
  await bed.database.query(`update chain_stop set ends_at = clock_timestamp()`)
  for (const url of [bed.url, otherUrl]) await isPriced(url)
  readOk(await postPatiently(`${bed.url}/quote`, localRequest(bed.network, { amount })), quoteResponseSchema)
})
