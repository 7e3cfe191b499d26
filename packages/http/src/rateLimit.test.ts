import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTestApp } from '../test/fixtures/httpTestApp.ts'
import type { ApiKeys } from './apiKeys.ts'
import type { HttpAppOptions } from './createHttpApp.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { networkOf, type RateLimitOptions } from './rateLimit.ts'

const limits: RateLimitOptions = {
  windowMs: 1_000,
  classes: {
    read: { perKeyMax: 3, perIpMax: 2 },
    quote: { perKeyMax: 0, perIpMax: 1 },
    off: { perKeyMax: 0, perIpMax: 0 },
  },
  defaultClass: 'read',
  failedKeysPerMinuteMax: 0,
}
const apiKeys: ApiKeys = {
  find: async (presented) => ({ keyId: presented, label: presented, scopes: new Set<string>() }),
}

const open: HttpApp[] = []
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'], now: 1_800_000_000_000 })
})
afterEach(async () => {
  vi.useRealTimers()
  for (const app of open.splice(0)) await app.close()
})

async function createApp(options: Partial<HttpAppOptions> = {}): Promise<HttpApp> {
  const app = await createTestApp({ apiKeys, rateLimits: limits, ...options })
  open.push(app)
  app.get('/read', async () => ({}))
  app.get('/also-read', async () => ({}))
  app.post('/quote', { config: { rateLimitClass: 'quote' } }, async () => ({}))
  app.get('/off', { config: { rateLimitClass: 'off' } }, async () => ({}))
  app.get('/exempt', { config: { rateLimitClass: false } }, async () => ({}))
  return app
}

type Ask = {
  url?: string
  method?: 'GET' | 'POST'
  key?: string
  ip?: string
  headers?: Record<string, string>
}
const ask = (app: HttpApp, { url = '/read', method = 'GET', key, ip = '10.0.0.1', headers = {} }: Ask = {}) =>
  app.inject({
    url,
    method,
    remoteAddress: ip,
    headers: { ...headers, ...(key !== undefined && { 'x-api-key': key }) },
  })
const status = async (app: HttpApp, request: Ask = {}) => (await ask(app, request)).statusCode

test('the limit counts down, then refuses with the shared body until the window ends', async () => {
  const app = await createApp()
  const first = await ask(app)
  expect(first.headers).toMatchObject({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-reset': '1',
  })
  vi.advanceTimersByTime(999)
  expect((await ask(app)).headers['x-ratelimit-remaining']).toBe('0')
  const refused = await ask(app)
  expect(refused.statusCode).toBe(429)
  expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-remaining': '0' })
  expect(refused.json()).toEqual({
    message: 'Rate limit exceeded.',
    errorCode: 'RATE_LIMITED',
    statusCode: 429,
    retryable: true,
    error: 'Rate limit exceeded',
  })
  vi.advanceTimersByTime(1)
  expect(await status(app)).toBe(200)
})

test('Q-141: routes of one class share a bucket, classes do not', async () => {
  const app = await createApp()
  expect([await status(app), await status(app, { url: '/also-read' }), await status(app)]).toEqual([
    200, 200, 429,
  ])
  expect(await status(app, { url: '/quote', method: 'POST' })).toBe(200)
  expect(await status(app, { url: '/quote', method: 'POST' })).toBe(429)
})

test('Q-141: keys count by key, everybody else by address', async () => {
  const app = await createApp()
  const keyed = [1, 2, 3, 4].map(() => status(app, { key: 'a' }))
  expect(await Promise.all(keyed)).toEqual([200, 200, 200, 429])
  expect(await status(app, { key: 'b' })).toBe(200)
  expect(await status(app)).toBe(200)
  expect(await status(app, { ip: '10.0.0.2' })).toBe(200)
})

test('zero is off: nothing is counted and no header is sent', async () => {
  const app = await createApp()
  for (let count = 0; count < 5; count += 1) {
    const answer = await ask(app, { url: '/off' })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).not.toHaveProperty('x-ratelimit-limit')
    expect(await status(app, { url: '/exempt' })).toBe(200)
    expect(await status(app, { url: '/quote', method: 'POST', key: 'a' })).toBe(200)
    expect(await status(app, { url: '/lives/v1' })).toBe(200)
  }
})

test('unknown URLs count in the default class', async () => {
  const app = await createApp()
  const unknown = ['/a', '/b', '/c'].map((url) => status(app, { url }))
  expect(await Promise.all(unknown)).toEqual([404, 404, 429])
  expect(await status(app)).toBe(429)
  expect(await status(app, { ip: '10.0.0.2' })).toBe(200)
})

test('addresses of one IPv6 /64 are one caller, and so are the two spellings of one IPv4 address', async () => {
  const app = await createApp()
  const same = ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:DB8:0:1:1:2:3:4'].map((ip) =>
    status(app, { ip }),
  )
  expect(await Promise.all(same)).toEqual([200, 200, 429])
  expect(await status(app, { ip: '2001:db8:0:2::1' })).toBe(200)
  expect(networkOf('::ffff:10.0.0.9')).toBe('10.0.0.9')
  expect(networkOf('fe80::1%eth0')).toBe(networkOf('fe80::2%eth1'))
  expect(networkOf('not an address')).toBe('not an address')
})

test('x-forwarded-for of a stranger changes nothing', async () => {
  const app = await createApp()
  const spoofed = [1, 2, 3].map((n) => status(app, { headers: { 'x-forwarded-for': `1.2.3.${n}` } }))
  expect(await Promise.all(spoofed)).toEqual([200, 200, 429])
})

test('behind a trusted proxy the right-most untrusted address counts', async () => {
  const app = await createApp({ trustedProxies: ['10.0.0.0/8'] })
  const via = (forwarded: string) => status(app, { headers: { 'x-forwarded-for': forwarded } })
  expect(await via('9.9.9.1, 1.1.1.1')).toBe(200)
  expect(await via('9.9.9.2, 1.1.1.1, 10.0.0.7')).toBe(200)
  expect(await via('9.9.9.3, 1.1.1.1')).toBe(429)
  expect(await via('1.1.1.2')).toBe(200)
  for (const garbage of [
    '',
    ',',
    'x'.repeat(500),
    '1.1.1.1:80',
    'fe80::1%25',
    '::ffff:1.2.3.4',
    '1,'.repeat(1_000),
  ]) {
    expect([200, 429]).toContain(await via(garbage))
  }
})

test('a class nobody configured is refused when its route is declared', async () => {
  const app = await createApp()
  expect(() => app.get('/x', { config: { rateLimitClass: 'constructor' } }, async () => ({}))).toThrow(
    /class/,
  )
})
