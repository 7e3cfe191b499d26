// Goal: nothing is sold that the solver refuses, and whoever runs both is told what differs. Attackers: a key that was
// swapped in one of two replicas, so that its orders are filled and refunded by nobody; a solver of another key; a
// stranger, or a caller with another key, who would like sales to stop; a solver that no longer says what stopped them.
// Method: two services on one database, nodes, the solver as an operator runs it, and questions as a solver sends them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { type SpawnedService, spawnSolver, waitUntil } from '@causeway/localnet'
import { zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { examineQuoteApi } from '../src/compose/examine.ts'
import { loadConfig } from '../src/config/config.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { readStandingOf } from '../src/requests/status/readStanding.ts'
import { repositoryRoot, serviceEnvironment, startTestService, type TestService } from './fixtures/service.ts'
import { post, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  solverKey,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { solverVariables } from './settlementSupport/solverVariables.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

const amount = 60_000_000n
const otherKey = generatePrivateKey()
const otherSigner = privateKeyToAddress(otherKey)
let bed: SettlementBed
let oracles: StandInOracles
let sponsor: TestSponsor
let directory: string
/** Signs orders with another key. */
let other: TestService
let otherUrl: string
let otherOpsUrl: string
let otherAdminUrl: string
let solver: SpawnedService | undefined
let variables: Readonly<Record<string, string>>

const swapped = async () => {
  const keyFile = join(directory, 'other.key')
  await writeFile(keyFile, otherKey, { mode: 0o600 })
  return {
    ...serviceSettings(bed.connectionString, oracles.setting),
    JOBS: 'off',
    ECDSA_PRIVATE_KEY_FILE: keyFile,
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-solver-terms-'))
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
  other = await startTestService(bed.network, await swapped())
  const urls = await other.listen()
  otherUrl = urls.publicUrl
  otherOpsUrl = urls.opsUrl
  otherAdminUrl = urls.adminUrl
  variables = await solverVariables({
    network: bed.network,
    directory,
    server: bed,
    database: bed.database,
    quoteApiUrl: otherUrl,
    quoteApiKey: solverKey,
  })
}, 120_000)
afterAll(async () => {
  solver?.kill('SIGKILL')
  await other?.stop()
  await bed?.stop()
  await oracles?.stop()
  await rm(directory, { recursive: true, force: true })
})
afterEach(async () => {
  await endSolver()
  await bed.database.query('delete from solver_terms')
  for (const url of [bed.url, otherUrl]) await isSold(url)
})

async function endSolver(): Promise<void> {
  solver?.kill('SIGKILL')
  await solver?.ended
  solver = undefined
}

async function startSolver(changed: Readonly<Record<string, string>> = {}): Promise<SpawnedService> {
  await endSolver()
  solver = spawnSolver({ ...variables, ...changed })
  await solver.ready()
  return solver
}

const priced = (url: string, from: 'base' | 'optimism' = 'base') =>
  post(`${url}/price`, localRequest(bed.network, { amount, from, to: from === 'base' ? 'optimism' : 'base' }))

async function isSold(url: string): Promise<void> {
  await waitUntil('it is sold', async () => (await priced(url)).status === 200)
}

/** In both directions, with its code, in words that name neither side. */
async function isRefused(url: string): Promise<void> {
  await waitUntil('it is refused', async () => (await priced(url)).text.includes('would refuse'))
  for (const answer of [
    await priced(url),
    await priced(url, 'optimism'),
    await post(`${url}/quote`, localRequest(bed.network, { amount })),
  ]) {
    expect([answer.status, JSON.parse(answer.text).errorCode]).toEqual([503, 'CHAIN_STOPPED'])
    expect(answer.text).not.toMatch(/0x[0-9a-f]{40}/i)
  }
}

const findings = async () => {
  const environment = await serviceEnvironment(bed.network, directory, {
    // Stand-ins sign and tell nothing else.
    ...(await swapped()),
    ORACLES: '',
    ORACLES_THRESHOLD: '',
  })
  const found = await examineQuoteApi(environment, { repositoryRoot, nowMs: () => Date.now(), scope: 'all' })
  return found.filter(({ setting }) => setting === 'solver')
}

test('O-83, O-105: a replica with another order signer sells nothing, says so everywhere, and ends it by itself', async () => {
  const { output } = await startSolver()
  await isRefused(otherUrl)
  // The other replica signs as the solver expects.
  await isSold(bed.url)
  const readiness = async () => {
    const { status, text } = await send(`${otherOpsUrl}/ready`)
    return [status, JSON.parse(text)]
  }
  // Other checks of a process that has just begun may fail for a while.
  await expect
    .poll(readiness)
    .toMatchObject([200, { checks: { solver: 'failed' }, reasons: { solver: 'ORDER_SIGNER_DIFFERS' } }])
  const metrics = (await send(`${otherOpsUrl}/metrics`)).text
  expect(metrics).toMatch(/^solver_differences\{kind="order-signer",chain="all".*\} 1$/m)
  expect(metrics).toMatch(/^chain_stopped\{chain="all",by="terms".*\} 1$/m)
  const [finding, ...more] = await findings()
  expect([finding, more]).toMatchObject([{ code: 'solver-differs', severity: 'degrades' }, []])
  expect(finding?.seen.toLowerCase()).toContain(otherSigner.toLowerCase())
  await waitUntil('the solver says it', () => output().includes('terms_differ'))
  // Beside a replica that agrees: each answers for its own variables.
  expect(await commandOf(await swapped(), 'stops')).toMatch(
    /^all +terms +quote-api +- +orders are signed by/m,
  )
  expect(await command('stops')).toBe('Nothing is stopped.')
  expect(JSON.parse((await send(`${otherAdminUrl}/admin/stops`)).text)).toMatchObject({
    stops: [{ chainId: 0, by: 'terms', reason: expect.stringContaining('ORDER_SIGNERS') }],
  })
  // Nobody's fill pays an account that the allocator signs for.
  expect(JSON.parse((await send(`${otherOpsUrl}/stops`)).text)).toEqual({ all: false, chains: [] })

  await startSolver({ ORDER_SIGNERS: `${otherSigner};${bed.network.keys.orderSigner.address}` })
  await isSold(otherUrl)
  expect(await findings()).toEqual([])
  expect((await send(`${otherOpsUrl}/metrics`)).text).not.toContain('solver_differences{')
})

test('O-83: a solver of another wallet is named by both sides, and nothing is quoted from the balances of a wallet that does not pay', async () => {
  const { output } = await startSolver({ ECDSA_PRIVATE_KEY: generatePrivateKey() })
  await isRefused(bed.url)
  await waitUntil('the solver says it', () => output().includes('FILL_WALLET_ADDRESS'))
  const seen = (await findings()).map((one) => one.seen).join()
  expect(seen).toContain(bed.network.keys.fillWallet.address)
  // Same solver with its own key again: it replaces its earlier report.
  await startSolver()
  await isSold(bed.url)
})

test('O-85: a refund that the solver refuses is listed at once with its words, told in the timeline, and goes on by itself', async () => {
  const quote = await bed.requests.quoted(sponsor, { amount })
  await bed.requests.execute(quote)
  await bed.requests.workFor(quote, 'fill')
  await startSolver({ ORDER_SIGNERS: otherSigner })
  const { requestId } = quote
  // CAST: the wire describes an id as text.
  const standing = async () => (await readStandingOf(bed.database, [requestId as Hex])).get(requestId)
  await waitUntil('its refund is refused', async () => (await standing())?.isRefund === true)
  expect(await standing()).toMatchObject({
    reason: 'ORDER_REFUSED',
    report: 'ORDER_REFUSED: the order is signed by somebody else',
  })
  expect(await command('why', requestId)).toContain('It says: the order is signed by somebody else.')
  expect(await command('requests', 'parked')).toContain('the order is signed by somebody else')
  // Series behind the alert RequestsStandStill.
  expect((await send(`${bed.opsUrl}/metrics`)).text).toMatch(
    /^standing_requests\{.*reason="ORDER_REFUSED".*\} 1$/m,
  )
  await startSolver()
  await bed.requests.reaches(quote, 'refund')
}, 300_000)

test('Q-132: what the solver keeps is not sold, and without coin for gas nothing is sold to a chain', async () => {
  const native = { pay: 'native', receive: 'native' } as const
  const ofNative = () =>
    post(`${bed.url}/price`, localRequest(bed.network, { amount: 10n ** 15n, ...native }))
  const answers = (status: number, text: string) =>
    waitUntil(text, async () => {
      const answer = await ofNative()
      return answer.status === status && answer.text.includes(text)
    })
  await answers(200, 'currencyOut')
  await tell(solverTerms('a', { floors: `10:${zeroAddress}:${10n ** 30n}` }))
  await answers(400, 'INSUFFICIENT_LIQUIDITY')
  await isSold(bed.url)
  await tell(solverTerms('a'))
  await answers(200, 'currencyOut')
  const { node, client } = bed.network.chains.optimism.chain
  const { address } = bed.network.keys.fillWallet
  const value = await client.getBalance({ address })
  await node.setBalance({ address, value: 1n })
  try {
    await waitUntil('it is said', async () => (await priced(bed.url)).text.includes('to pay for gas'))
    const { status, text } = await priced(bed.url)
    expect([status, JSON.parse(text).errorCode]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    expect((await priced(bed.url, 'optimism')).status).toBe(200)
  } finally {
    await node.setBalance({ address, value })
  }
})

const command = (...words: readonly string[]) => commandOf({}, ...words)

async function commandOf(
  changed: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<string> {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const environment = await serviceEnvironment(bed.network, directory, {
    ...changed,
    DATABASE_URL: bed.connectionString,
  })
  await runCli({
    words,
    actor: 'cli:operator',
    signal: new AbortController().signal,
    print: keep,
    complain: keep,
    config: async () => ({ config: loadConfig(environment, repositoryRoot), variables: environment }),
  })
  return lines.join('\n')
}

/** As the bed's own solver would say it, under a name. */
function solverTerms(name: string, changed: Readonly<Record<string, string>> = {}): URLSearchParams {
  return new URLSearchParams({
    solver: name,
    orderSigners: `${bed.network.keys.orderSigner.address},${otherSigner}`,
    pays: `${paysOn('base')},${paysOn('optimism')}`,
    ...changed,
  })
}
function paysOn(chain: 'base' | 'optimism'): string {
  const { keys, deployment } = bed.network
  const chainId = chain === 'base' ? 8_453 : 10
  return `${chainId}:${keys.fillWallet.address}:${deployment[chain].fillContract}`
}
const tell = (query: URLSearchParams, headers: Record<string, string> = { 'x-api-key': solverKey }) =>
  send(`${bed.url}/solver/work?${query}`, { headers })
const forged = () => solverTerms('a', { orderSigners: `0x${'99'.repeat(20)}` })

test('O-82: whoever does not show the solver’s key is refused before anything is kept', async () => {
  expect((await tell(forged(), {})).status).toBe(401)
  expect((await tell(forged(), { 'x-api-key': sponsor.apiKey })).status).toBe(401)
  expect(await bed.database.query('select from solver_terms')).toHaveLength(0)
})

test('O-82: what a solver says is kept for a minute, without a name it is only answered, and one that says nothing is noted', async () => {
  const nameless = forged()
  nameless.delete('solver')
  const answer = JSON.parse((await tell(nameless)).text)
  expect(answer.differences).toEqual([expect.stringContaining('ORDER_SIGNERS')])
  expect(await bed.database.query('select from solver_terms')).toHaveLength(0)
  await tell(forged())
  await isRefused(bed.url)
  await bed.database.query(`update solver_terms set told_at = told_at - interval '60 seconds'`)
  await isSold(bed.url)
  expect(JSON.parse((await tell(new URLSearchParams())).text)).not.toHaveProperty('differences')
  expect(await findings()).toMatchObject([{ code: 'solver-unknown', severity: 'note' }])
  await isSold(bed.url)
})

test('O-82: what is no such member is 400', async () => {
  for (const member of [{ pays: '8453' }, { orderSigners: 'me' }, { solver: 'a b' }])
    expect((await tell(new URLSearchParams(member))).status).toBe(400)
})

test('O-84: of two solvers one stops what it contradicts, and either’s chains are sold to', async () => {
  await tell(solverTerms('good'))
  await isSold(bed.url)
  await tell(forged())
  await isRefused(bed.url)
  await tell(solverTerms('a'))
  await isSold(bed.url)
  await tell(solverTerms('good', { pays: paysOn('base') }))
  await tell(solverTerms('a', { pays: paysOn('base') }))
  await isRefused(bed.url)
  await tell(solverTerms('a', { pays: paysOn('optimism') }))
  await isSold(bed.url)
})
