// Goal: the service as an operator runs it: listeners, readiness, metrics, description, a chain that is
// not configured, and stops that lose nothing. Method: `main.ts` as processes of their own, one with a
// database that this test can hold up, two with their own.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { startFaultProxy, startHostileClient, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { marketHealthSchema } from '@causeway/market'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chainsResponseSchema } from '../src/http/wire/chainsResponse.ts'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { serviceEnvironment } from './fixtures/service.ts'
import { post, price, readError, readOk, send } from './serviceSupport/callService.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { type ServiceProcess, type ServiceUrls, spawnService } from './serviceSupport/serviceProcess.ts'

let network: TestNetwork
let database: TestDatabase
let configs: ConfigCopy
let service: ServiceProcess
let urls: ServiceUrls
const directories: string[] = []

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  database = await startTestDatabase()
  configs = await copyConfigs()
  const production = { url: '$MAINNETS_BASE_URL', description: 'Mainnet' }
  const testnets = { url: '$TESTNETS_BASE_URL', description: 'Testnet' }
  await configs.edit('quote.local.json', (json) => ({ ...Object(json), servers: [production, testnets] }))
  service = await spawn({
    DATABASE_URL: database.connectionString,
    CONFIG_DIR: configs.directory,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
  })
  urls = await service.listening()
})
afterAll(async () => {
  await service?.stop()
  await database?.stop()
  await network?.stop()
  await configs?.remove()
  for (const directory of directories) await rm(directory, { recursive: true, force: true })
})

async function spawn(overrides: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-process-'))
  directories.push(directory)
  return spawnService(await serviceEnvironment(network, directory, { LOG_LEVEL: 'info', ...overrides }))
}

/** True if the database server of the last spawned process has its pid file. */
function hasRunningDatabase(): boolean {
  return existsSync(join(directories.at(-1) ?? '', 'postgres/cluster/postmaster.pid'))
}

const bridge = () => localRequest(network, { amount: 70_000_000n })

describe('listeners', () => {
  test('the operators’ one becomes ready and answers metrics, and changes nothing', async () => {
    await expect.poll(async () => (await send(`${urls.opsUrl}/ready`)).status, { timeout: 30_000 }).toBe(200)
    const ready = await send(`${urls.opsUrl}/ready`)
    expect(JSON.parse(ready.text)).toEqual({
      ready: true,
      draining: false,
      checks: {
        clock: 'ok',
        database: 'ok',
        'fill wallet': 'ok',
        jobs: 'ok',
        market: 'ok',
        networks: 'ok',
        'order signer': 'ok',
        requests: 'ok',
        solver: 'ok',
        stops: 'ok',
      },
      agesSeconds: { jobs: expect.any(Number) },
    })
    await price(urls.publicUrl, bridge())
    const metrics = await send(`${urls.opsUrl}/metrics`)
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(metrics.text).toMatch(
      /http_request_duration_seconds_count\{[^}]*route="\/price"[^}]*status="200"[^}]*\} [1-9]/,
    )
    for (const path of ['/ready', '/metrics', '/price']) {
      expect((await post(`${urls.opsUrl}${path}`, {})).status).toBe(404)
    }
  })

  test('the admins’ one answers on loopback and to nobody who names another host', async () => {
    expect(new URL(urls.adminUrl).hostname).toBe('127.0.0.1')
    expect((await send(`${urls.adminUrl}/anything`)).status).toBe(404)
    const { hostname, port } = new URL(urls.adminUrl)
    const rebound = await rawRequest(hostname, Number(port), 'GET / HTTP/1.1\r\nhost: evil.example\r\n')
    expect(rebound).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('operators’ pages are not on the public one', async () => {
    for (const path of ['/metrics', '/ready']) {
      expect((await send(`${urls.publicUrl}${path}`)).status).toBe(404)
    }
  })
})

const description = z.object({
  openapi: z.string(),
  info: z.object({ version: z.string() }),
  servers: z.array(z.object({ url: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), z.object({ deprecated: z.boolean().optional() }))),
})

describe('the interface description', () => {
  test('is where the root leads, as a page without anybody else’s files', async () => {
    const root = await send(`${urls.publicUrl}/`)
    expect([root.status, root.headers.get('location')]).toEqual([302, '/documentation'])
    const page = await fetch(`${urls.publicUrl}/documentation`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    expect(await page.text()).not.toMatch(/(src|href)="https?:/)
  })

  test('lists every route, version 1.0.0 and both servers of the configuration', async () => {
    const { openapi, info, servers, paths } = readOk(
      await send(`${urls.publicUrl}/documentation/json`),
      description,
    )
    expect([openapi, info.version]).toEqual(['3.1.0', '1.0.0'])
    expect(servers).toEqual([
      { url: 'https://api.example', description: 'Mainnet' },
      { url: 'https://api.testnets.example', description: 'Testnet' },
    ])
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(routes.sort()).toEqual([
      'GET /app-fees/{wallet}/balances',
      'GET /app-fees/{wallet}/claimable',
      'GET /app-fees/{wallet}/claims',
      'GET /balance-events/{wallet}',
      'GET /chains',
      'GET /chains/health',
      'GET /chains/liquidity',
      'GET /config/v2',
      'GET /currencies/token/price',
      'GET /currencies/token/price/v2',
      'GET /currencies/trending',
      'GET /deposit-addresses/v1',
      'GET /intents/status',
      'GET /intents/status/v2',
      'GET /intents/status/v3',
      'GET /lives/v1',
      'GET /metrics/usage',
      'GET /prices/health',
      'GET /requests/v2',
      'GET /requests/v3',
      'GET /requests/{requestId}/timeline',
      'GET /solver/work',
      'GET /sponsorship/statements/{wallet}',
      'GET /swap-sources',
      'GET /transactions/status',
      'POST /app-balance/claims',
      'POST /app-balance/claims/challenge',
      'POST /app-fees/{wallet}/claim',
      'POST /authorize',
      'POST /currencies/v2',
      'POST /execute',
      'POST /execute/permits',
      'POST /price',
      'POST /quote',
      'POST /quote/v2',
      'POST /solver/work/{id}/failed',
      'POST /solver/work/{id}/report',
      'POST /solver/work/{id}/waits',
      'POST /sponsorship/wallets/challenge',
      'POST /sponsorship/wallets/link',
      'POST /transactions/deposit-address/reindex',
      'POST /transactions/index',
      'POST /transactions/single',
    ])
    const deprecated = Object.entries(paths).filter(([, methods]) =>
      Object.values(methods).some((operation) => operation.deprecated === true),
    )
    expect(deprecated.map(([path]) => path)).toEqual([
      '/price',
      '/requests/v2',
      '/intents/status',
      '/intents/status/v2',
      '/transactions/status',
    ])
  })
})

test('a chain without endpoint is listed and refused, the other goes on; the stop stops the database', async () => {
  const lacking = await spawn({ OPTIMISM_RPC_URL: '' })
  try {
    const { publicUrl, opsUrl } = await lacking.listening()
    expect(lacking.output()).toMatch(/"chain":"optimism","unsetVariables":\["OPTIMISM_RPC_URL"\]/)
    expect(hasRunningDatabase()).toBe(true)

    const refused = await post(`${publicUrl}/quote`, bridge())
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(readError(refused)).toMatchObject({ errorCode: 'SERVICE_UNAVAILABLE', retryable: true })
    expect(readError(refused).message).toContain('10')
    const swap = localRequest(network, { to: 'base', receive: 'native', amount: 70_000_000n })
    expect((await post(`${publicUrl}/quote`, swap)).status).toBe(200)

    const { chains } = readOk(await send(`${publicUrl}/chains`), chainsResponseSchema)
    expect(chains.map(({ id }) => id)).toEqual([8_453, 10])
    const health = readOk(await send(`${publicUrl}/prices/health`), marketHealthSchema)
    expect(health.status).toBe('degraded')
    expect(health.chains.map(({ chain, state }) => [chain, state])).toEqual([
      ['base', 'ok'],
      ['optimism', 'no_data'],
    ])
    expect((await send(`${opsUrl}/ready`)).status).toBe(200)
  } finally {
    expect(await lacking.stop()).toEqual({ code: 0, signal: null })
  }
  expect(hasRunningDatabase()).toBe(false)
})

/** The service with an Optimism that is nowhere yet, which `targetUrl` will be. */
async function withLateOptimism(
  targetUrl: string,
  check: (late: ServiceProcess & ServiceUrls, arrive: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const proxy = await startFaultProxy({ targetUrl })
  await proxy.set({ kind: 'refuse' })
  const late = await spawn({ OPTIMISM_RPC_URL: proxy.url, OPTIMISM_WS_RPC_URL: '' })
  try {
    await check({ ...late, ...(await late.listening()) }, () => proxy.set({ kind: 'pass' }))
    expect(late.output()).toMatch(/"event":"chain_silent","chain":"optimism"/)
  } finally {
    await late.stop()
    await proxy.stop()
  }
}

const swapOnBase = () => localRequest(network, { to: 'base', receive: 'native', amount: 70_000_000n })

test('O-32: a chain that is not there at the start is refused as starting, and quoted once it answers', async () => {
  await withLateOptimism(network.chains.optimism.url, async ({ publicUrl, opsUrl }, arrive) => {
    const refused = await post(`${publicUrl}/quote`, bridge())
    expect(refused.status).toBe(503)
    expect(readError(refused)).toMatchObject({ errorCode: 'SERVICE_UNAVAILABLE', retryable: true })
    expect(readError(refused).message).toMatch(/^Chain 10 is starting/)
    expect((await post(`${publicUrl}/quote`, swapOnBase())).status).toBe(200)
    expect((await send(`${opsUrl}/ready`)).status).toBe(200)
    await arrive()
    await expect.poll(async () => (await post(`${publicUrl}/quote`, bridge())).status).toBe(200)
  })
})

test('O-32: what answers later and is another chain is named, and never priced', async () => {
  await withLateOptimism(network.chains.base.url, async ({ publicUrl, output }, arrive) => {
    await arrive()
    await expect.poll(output).toMatch(/"event":"chain_misconfigured","chain":"optimism".*is not on chain 10"/)
    expect((await post(`${publicUrl}/quote`, bridge())).status).toBe(503)
    expect((await post(`${publicUrl}/quote`, swapOnBase())).status).toBe(200)
  })
})

test('a port that is taken is named, and nothing is left running', async () => {
  const second = await spawn({ HTTP_PORT: new URL(urls.publicUrl).port })
  expect(await second.ended).toEqual({ code: 1, signal: null })
  expect(second.output()).toMatch(/HTTP_PORT: port [0-9]+ cannot be opened \(EADDRINUSE\)/)
  expect(existsSync(join(directories.at(-1) ?? '', 'postgres/cluster'))).toBe(true)
  expect(hasRunningDatabase()).toBe(false)
})

test('one client that leaves everything undone stops nobody', async () => {
  const { publicUrl, opsUrl } = urls
  const hostile = await startHostileClient({ url: publicUrl, getPath: '/chains', postPath: '/price' })
  try {
    expect((await send(`${publicUrl}/chains`)).status).toBe(200)
    await price(publicUrl, bridge())
    expect((await post(`${publicUrl}/quote`, bridge())).status).toBe(200)
    expect((await send(`${opsUrl}/ready`)).status).toBe(200)
    await expect
      .poll(async () => (await send(`${opsUrl}/metrics`)).text)
      .toMatch(/^http_requests_in_flight\{[^}]*\} 0$/m)
    const { text } = await send(`${opsUrl}/metrics`)
    expect(text).toMatch(/^http_connections_closed_total\{reason="pipelined"[^}]*\} [1-9]/m)
    expect(text).toMatch(/^http_requests_shed_total\{reason="work"[^}]*\} 0$/m)
  } finally {
    hostile.stop()
  }
})

test('SIGTERM answers every request in flight, stores it, and ends with 0', async () => {
  const inFlightCount = 20
  // A machine that was busy may just have no fresh price: such a quote is refused, and waits for no commit.
  await expect.poll(() => post(`${urls.publicUrl}/quote`, bridge())).toMatchObject({ status: 200 })
  /**
   * A quote waits no more than its seconds for the database, so that on a busy machine the first may have ended before
   * the last is there: then all are asked once more.
   */
  const allWaiting = async (volleysLeft = 5) => {
    const lock = await holdOrders()
    const quotes = Array.from({ length: inFlightCount }, () => post(`${urls.publicUrl}/quote`, bridge()))
    try {
      await expect
        .poll(traffic, { interval: 20, timeout: 4_000 })
        .toMatch(new RegExp(`^http_requests_in_flight\\{[^}]*\\} ${inFlightCount}$`, 'm'))
      return { lock, quotes }
    } catch (error) {
      // A wait that ran out is what is told, not that the lock was lost meanwhile.
      await lock.release().catch(() => undefined)
      await Promise.all(quotes)
      if (volleysLeft === 0) throw error
      return allWaiting(volleysLeft - 1)
    }
  }
  /** Answers of the service to its callers, and the time to read them. */
  const traffic = async () => {
    const { text, elapsedMs } = await send(`${urls.opsUrl}/metrics`)
    const lines = text.split('\n').filter((line) => /^http_(requests_in|connections|shed|bodies)/.test(line))
    return [...lines, `told in ${Math.round(elapsedMs)} ms`].join('\n')
  }
  const { lock, quotes } = await allWaiting()
  try {
    service.signal('SIGTERM')
    await expect.poll(() => isRefused(urls.publicUrl), { interval: 10, timeout: 30_000 }).toBe(true)
  } catch (error) {
    // A wait that ran out is what is told, not that the lock was lost meanwhile.
    await lock.release().catch(() => undefined)
    throw error
  }
  await lock.release()
  const answers = await Promise.all(quotes)
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  expect(await service.ended).toEqual({ code: 0, signal: null })
  expect(service.output()).toContain('"msg":"stopped"')

  const ids = answers.map((answer) => readOk(answer, quoteResponseSchema).requestId)
  const rows = await database.database.query<{ id: string }>(
    `select '0x' || encode(request_id, 'hex') as id from orders`,
  )
  const stored = new Set(rows.map(({ id }) => id))
  expect(ids.filter((id) => !stored.has(id))).toEqual([])
})

/** Keeps every quote waiting for its commit until it is released. */
async function holdOrders(): Promise<{ release(): Promise<void> }> {
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let transaction: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    transaction = database.database.transaction(async (tx) => {
      // Reading goes on: what metrics count there is read while nothing can be written.
      await tx.query('lock table orders in share mode')
      resolve()
      await released
    })
    transaction.catch(reject)
  })
  return {
    async release() {
      release()
      await transaction
    },
  }
}

/** True once nothing listens any more. */
function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}

/** The first line of the answer to a request written by hand: `fetch` sets the host itself. */
function rawRequest(hostname: string, port: number, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, hostname, () => socket.write(`${head}connection: close\r\n\r\n`))
    socket.once('error', reject)
    socket.once('data', (chunk) => {
      socket.destroy()
      resolve(chunk.toString())
    })
  })
}
