// Goal: the limits that production runs with hold on the real service: per address, per class, per
// second, believed from nobody but a trusted proxy, and readable by browsers. The local configuration
// has none. Method: four services over one network; every burst comes from an address of its own, whose
// window starts with it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestService, type TestService } from './fixtures/service.ts'
import { type ConfigCopy, configsDirectory, copyConfigs } from './serviceSupport/configCopy.ts'
import { localRequest } from './serviceSupport/localRequest.ts'

const windowMs = 1_000
const proxyAddress = '10.1.2.3'

let network: TestNetwork
let database: TestDatabase
let configs: ConfigCopy
/** With the limits of the production file, written into a copy of the local one. */
let limited: TestService
/** With limits by variable, behind a proxy. */
let byVariable: TestService
/** With the local configuration as it is. */
let unlimited: TestService

const productionLimits = z.object({
  rateLimits: z.object({ perKeyPerSecond: z.literal(50), perIpPerSecond: z.literal(10) }),
})

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  database = await startTestDatabase()
  configs = await copyConfigs()
  const production = await readFile(join(configsDirectory, 'quote.mainnets.prod.json'), 'utf8')
  const { rateLimits } = productionLimits.parse(JSON.parse(production))
  await configs.edit('quote.local.json', (json) => ({ ...Object(json), rateLimits }))
  const DATABASE_URL = database.connectionString
  limited = await startTestService(network, { DATABASE_URL, CONFIG_DIR: configs.directory })
  byVariable = await startTestService(network, {
    DATABASE_URL,
    RATE_LIMIT_PER_IP: '3',
    RATE_LIMIT_PER_KEY: '50',
    TRUSTED_PROXIES: `192.0.2.0/24, ${proxyAddress}`,
  })
  unlimited = await startTestService(network, { DATABASE_URL })
})
afterAll(async () => {
  for (const service of [limited, byVariable, unlimited]) await service?.stop()
  await database?.stop()
  await network?.stop()
  await configs?.remove()
})

const bridge = () => localRequest(network, { amount: 50_000_000n })
const priceCall = (): InjectOptions => ({ method: 'POST', url: '/price', payload: bridge() })
const quoteCall = (): InjectOptions => ({ method: 'POST', url: '/quote', payload: bridge() })
const chainsCall = (): InjectOptions => ({ method: 'GET', url: '/chains' })

let addresses = 0
function freshAddress(): string {
  addresses += 1
  return `198.51.${100 + Math.floor(addresses / 250)}.${(addresses % 250) + 1}`
}

type Burst = (address: string) => readonly InjectOptions[]

/**
 * Sends calls at once, from one address unless they name another. A machine that needs longer than a
 * window proves nothing, so the burst is sent again, from a new address.
 */
async function sendAtOnce({ app }: TestService, burst: Burst): Promise<readonly LightMyRequestResponse[]> {
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const remoteAddress = freshAddress()
    const startedAtMs = performance.now()
    const answers = await Promise.all(
      burst(remoteAddress).map((call) => app.inject({ remoteAddress, ...call })),
    )
    if (performance.now() - startedAtMs < windowMs) return answers
  }
  throw new Error('no burst was served within one window')
}

function times(count: number, call: () => InjectOptions): readonly InjectOptions[] {
  return Array.from({ length: count }, call)
}

function statuses(answers: readonly LightMyRequestResponse[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { statusCode } of answers) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return counts
}

describe('the default limits', () => {
  test('serve ten quotes a second and address, then 429 with what a client needs', async () => {
    const answers = await sendAtOnce(limited, () => times(13, priceCall))
    expect(statuses(answers)).toEqual({ 200: 10, 429: 3 })
    const left = answers.slice(0, 10).map(({ headers }) => headers['x-ratelimit-remaining'])
    expect(left.map(Number).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const refused = answers.find(({ statusCode }) => statusCode === 429)
    expect(refused?.json()).toEqual({
      message: expect.any(String),
      errorCode: 'RATE_LIMITED',
      statusCode: 429,
      retryable: true,
      error: 'Rate limit exceeded',
    })
    expect(refused?.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1',
    })
  })

  test('count all quote routes together and reads apart from them', async () => {
    const answers = await sendAtOnce(limited, () => [
      ...times(6, priceCall),
      ...times(6, quoteCall),
      ...times(12, chainsCall),
    ])
    expect(statuses(answers.slice(0, 12))).toEqual({ 200: 10, 429: 2 })
    expect(statuses(answers.slice(12))).toEqual({ 200: 10, 429: 2 })
  })

  test('count reads of every kind together, unknown pages among them', async () => {
    const reads = (): readonly InjectOptions[] => [
      ...times(4, chainsCall),
      ...times(4, () => ({ method: 'POST', url: '/currencies/v2', payload: {} })),
      ...times(2, () => ({ method: 'GET', url: '/prices/health' })),
      ...times(3, () => ({ method: 'GET', url: '/nowhere' })),
    ]
    const answers = await sendAtOnce(limited, reads)
    expect(statuses(answers)).toEqual({ 200: 10, 429: 3 })
  })

  test('count every address for itself, and a whole IPv6 subscriber as one', async () => {
    const from = (remoteAddress: string) => () => ({ ...chainsCall(), remoteAddress })
    const answers = await sendAtOnce(limited, () => {
      const other = freshAddress()
      const subscriber = `2001:db8:0:${(addresses % 9_000) + 1_000}`
      return [
        ...times(10, chainsCall),
        ...times(10, from(other)),
        ...times(6, from(`${subscriber}::1`)),
        ...times(6, from(`${subscriber}:ffff::2`)),
      ]
    })
    expect(statuses(answers.slice(0, 20))).toEqual({ 200: 20 })
    expect(statuses(answers.slice(20))).toEqual({ 200: 10, 429: 2 })
  })

  test('begin anew with the next second', async () => {
    const remoteAddress = freshAddress()
    await expect
      .poll(async () => (await limited.app.inject({ ...chainsCall(), remoteAddress })).statusCode, {
        interval: 1,
        timeout: 30_000,
      })
      .toBe(429)
    await expect
      .poll(async () => (await limited.app.inject({ ...chainsCall(), remoteAddress })).statusCode, {
        interval: 100,
        timeout: 30_000,
      })
      .toBe(200)
  })

  test('spare liveness, documentation and preflights', async () => {
    const spared = ['/lives/v1', '/documentation/json', '/'].flatMap((url) =>
      times(15, () => ({ method: 'GET' as const, url })),
    )
    const preflights = times(15, () => ({
      method: 'OPTIONS' as const,
      url: '/quote',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    }))
    const answers = await sendAtOnce(limited, () => [...spared, ...preflights])
    expect(statuses(answers)).toEqual({ 200: 30, 302: 15, 204: 15 })
  })

  test('stop whoever guesses keys after ten tries', async () => {
    const remoteAddress = freshAddress()
    const guess = (index: number) =>
      limited.app.inject({ ...chainsCall(), remoteAddress, headers: { 'x-api-key': `guess-${index}` } })
    const codes: number[] = []
    for (let index = 0; index < 12; index += 1) codes.push((await guess(index)).statusCode)
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])
  })
})

describe('x-forwarded-for', () => {
  const forwarded = (remoteAddress?: string) => () => ({
    ...chainsCall(),
    headers: { 'x-forwarded-for': freshAddress() },
    ...(remoteAddress !== undefined && { remoteAddress }),
  })

  test('changes nothing when no proxy is trusted', async () => {
    const answers = await sendAtOnce(limited, () => times(12, forwarded()))
    expect(statuses(answers)).toEqual({ 200: 10, 429: 2 })
  })

  test('changes nothing for a sender that is not the trusted proxy', async () => {
    const answers = await sendAtOnce(byVariable, () => times(5, forwarded()))
    expect(statuses(answers)).toEqual({ 200: 3, 429: 2 })
  })

  test.each([proxyAddress, '192.0.2.77'])(
    'tells callers apart behind the trusted proxy %s',
    async (proxy) => {
      const answers = await sendAtOnce(byVariable, () => times(5, forwarded(proxy)))
      expect(statuses(answers)).toEqual({ 200: 5 })
    },
  )

  test('is believed as far as the last trusted hop: what a caller put before counts for nothing', async () => {
    const answers = await sendAtOnce(byVariable, (caller) =>
      times(5, () => ({
        ...chainsCall(),
        remoteAddress: proxyAddress,
        headers: { 'x-forwarded-for': `${freshAddress()}, ${caller}` },
      })),
    )
    expect(statuses(answers)).toEqual({ 200: 3, 429: 2 })
  })
})

describe('limits by variable', () => {
  test('replace those of the file', async () => {
    const answers = await sendAtOnce(byVariable, () => times(5, priceCall))
    expect(statuses(answers)).toEqual({ 200: 3, 429: 2 })
    expect(answers[0]?.headers['x-ratelimit-limit']).toBe('3')
  })
})

describe('the local configuration', () => {
  test('has no limits', async () => {
    const answers = await sendAtOnce(unlimited, () => times(60, chainsCall))
    expect(statuses(answers)).toEqual({ 200: 60 })
    expect(answers[0]?.headers).not.toHaveProperty('x-ratelimit-limit')
  })
})

describe('browsers', () => {
  const origin = 'https://app.example'

  test('learn from a preflight that they may send JSON and a key', async () => {
    const { statusCode, headers } = await limited.app.inject({
      method: 'OPTIONS',
      url: '/quote',
      remoteAddress: freshAddress(),
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    })
    expect(statusCode).toBe(204)
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(list(headers['access-control-allow-methods'])).toEqual(['get', 'post'])
    expect(list(headers['access-control-allow-headers'])).toEqual(
      expect.arrayContaining(['content-type', 'x-api-key']),
    )
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('may read limits, retry and deprecation headers, of refusals too', async () => {
    const answers = await sendAtOnce(limited, () =>
      times(11, () => ({ ...priceCall(), headers: { origin } })),
    )
    expect(statuses(answers)).toEqual({ 200: 10, 429: 1 })
    for (const { headers } of answers) {
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(list(headers['access-control-expose-headers'])).toEqual(
        expect.arrayContaining([
          'x-ratelimit-limit',
          'x-ratelimit-remaining',
          'x-ratelimit-reset',
          'retry-after',
          'deprecation',
          'link',
          'x-request-id',
        ]),
      )
    }
    expect(answers[0]?.headers['deprecation']).toMatch(/^@[0-9]+$/)
  })
})

function list(header: unknown): readonly string[] {
  return String(header)
    .split(',')
    .map((item) => item.trim().toLowerCase())
}
