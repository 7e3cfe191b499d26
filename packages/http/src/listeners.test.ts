import { ConfigurationError, Secret } from '@causeway/core'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createTestApp, policy } from '../test/fixtures/httpTestApp.ts'
import { createAdminListener } from './adminListener.ts'
import { createHttpMetrics } from './metrics.ts'
import { openListener } from './openListener.ts'
import { createOpsListener } from './opsListener.ts'
import { createReadiness } from './readiness.ts'

const logger = pino({ level: 'silent' })

test('O-194: /metrics counts requests by route pattern, method and status, and nothing a caller chooses', async () => {
  const metrics = createHttpMetrics({ service: 'quote-api' })
  const app = await createTestApp({ metrics })
  app.get('/items/:id', async () => ({}))
  await app.inject({ url: '/items/secret-1' })
  await app.inject({ url: '/items/secret-2' })
  await app.inject({ url: '/secret-3' })
  await app.inject({ method: 'PROPFIND', url: '/secret-4' })
  const readiness = createReadiness({ checks: [] })
  const ops = createOpsListener({ logger, errors: policy, registry: metrics.registry, readiness })
  const { body, headers } = await ops.inject({ url: '/metrics' })
  expect(headers['content-type']).toMatch(/^text\/plain/)
  const count = (labels: string) =>
    new RegExp(`^http_request_duration_seconds_count\\{service="quote-api",${labels}\\} (\\d+)$`, 'm').exec(
      body,
    )?.[1]
  expect(count('route="/items/:id",method="GET",status="200"')).toBe('2')
  expect(count('route="other",method="GET",status="404"')).toBe('1')
  expect(body).toContain('http_requests_in_flight{service="quote-api"} 0')
  expect(body).not.toContain('secret')
  await Promise.all([app.close(), ops.close()])
})

test('/ready is 503 until every check holds and again once draining', async () => {
  let migrated = false
  const readiness = createReadiness({
    checks: [
      { name: 'migrations', check: async () => (migrated ? undefined : Promise.reject(new Error('no'))) },
    ],
  })
  const { registry } = createHttpMetrics({ service: 'x' })
  const ops = createOpsListener({ logger, errors: policy, registry, readiness })
  const ask = async () => {
    const answer = await ops.inject({ url: '/ready' })
    return [answer.statusCode, answer.json()]
  }
  expect(await ask()).toEqual([503, { ready: false, draining: false, checks: { migrations: 'failed' } }])
  migrated = true
  expect(await ask()).toEqual([200, { ready: true, draining: false, checks: { migrations: 'ok' } }])
  readiness.startDraining()
  expect(await ask()).toEqual([503, { ready: false, draining: true, checks: { migrations: 'ok' } }])
  const unknown = await ops.inject({ method: 'POST', url: '/ready' })
  expect([unknown.statusCode, unknown.json().errorCode]).toEqual([404, 'NOT_FOUND'])
  await ops.close()
})

test('O-191: /lives/v1 beside /ready answers while every check fails or hangs, and while draining', async () => {
  const readiness = createReadiness({
    checks: [
      { name: 'database', check: () => Promise.reject(new Error('gone')) },
      { name: 'endpoint', check: () => new Promise<never>(() => undefined) },
    ],
  })
  const { registry } = createHttpMetrics({ service: 'x' })
  const ops = createOpsListener({ logger, errors: policy, registry, readiness })
  for (const phase of ['running', 'draining']) {
    if (phase === 'draining') readiness.startDraining()
    const answer = await ops.inject({ url: '/lives/v1' })
    expect([phase, answer.statusCode, answer.json()]).toEqual([phase, 200, { status: 'ok' }])
  }
  await ops.close()
})

async function createAdmin(host: string, apiKey?: Secret, isLocal = true) {
  const key = apiKey !== undefined && { apiKey }
  const openApi = { title: 'Operators', description: 'What they do' }
  const app = await createAdminListener({ logger, errors: policy, host, isLocal, openApi, ...key })
  app.post('/keys', async () => ({ created: true }))
  return app
}

test('an admin listener beyond loopback needs a key to start', async () => {
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'admin.example']) {
    await expect(createAdmin(host)).rejects.toThrow(ConfigurationError)
    await expect(createAdmin(host)).rejects.toThrow(/ADMIN_API_KEY/)
  }
})

test.each(['127.0.0.1', '::1', 'localhost', '0.0.0.0'])(
  'O-141: outside local an admin listener on %s needs a key to start: whatever runs beside it could be operator',
  async (host) => {
    for (const key of [undefined, '', 'short', 'admin key of 20 char']) {
      const secret = key === undefined ? undefined : new Secret(key)
      await expect(createAdmin(host, secret, false)).rejects.toThrow(ConfigurationError)
      await expect(createAdmin(host, secret, false)).rejects.toThrow(/ADMIN_API_KEY/)
    }
    await (await createAdmin(host, new Secret('admin-key-of-16c'), false)).close()
  },
)

test('with a key, only requests that carry it pass', async () => {
  const app = await createAdmin('0.0.0.0', new Secret('admin-key-of-tests'))
  const ask = async (headers: Record<string, string>) =>
    (await app.inject({ method: 'POST', url: '/keys', headers })).statusCode
  expect(await ask({ 'x-api-key': 'admin-key-of-tests' })).toBe(200)
  for (const key of [
    '',
    'admin-key-of-other',
    'admin-key-of-testsx',
    'admin-key-of-tests, admin-key-of-tests',
    'constructor',
  ]) {
    expect(await ask({ 'x-api-key': key })).toBe(401)
  }
  expect(await ask({})).toBe(401)
  expect((await app.inject({ url: '/nothing' })).statusCode).toBe(401)
  await app.close()
})

test('with a key, only the description is read without it', async () => {
  const app = await createAdmin('0.0.0.0', new Secret('admin-key-of-tests'))
  const ask = async (url: string, method: 'GET' | 'POST' | 'PUT' = 'GET') =>
    (await app.inject({ method, url, headers: { host: 'admin.example' } })).statusCode
  for (const url of ['', '/json', '/yaml', '/static/swagger-ui.css']) {
    expect([url, await ask(`/documentation${url}`)]).toEqual([url, 200])
  }
  // Paths that look like the description, and methods that it does not have.
  for (const url of [
    '/documentation/../keys',
    '/documentation/%2e%2e/keys',
    '/documentation/nothing',
    '/documentationkeys',
    '//documentation',
    '/keys?/documentation/',
    '/keys#/documentation/json',
  ]) {
    expect([url, await ask(url, 'POST')]).toEqual([url, 401])
    expect([url, await ask(url)]).toEqual([url, 401])
  }
  await app.close()
})

test('without a key, not even the description is read by a page of another name', async () => {
  const app = await createAdmin('127.0.0.1')
  const ask = async (host: string) =>
    (await app.inject({ url: '/documentation/json', headers: { host } })).statusCode
  expect([await ask('127.0.0.1:9000'), await ask('rebound.example')]).toEqual([200, 401])
  await app.close()
})

test('without a key, a request must name loopback as its host', async () => {
  const app = await createAdmin('127.0.0.1')
  const ask = async (host: string) =>
    (await app.inject({ method: 'POST', url: '/keys', headers: { host } })).statusCode
  for (const host of ['127.0.0.1:9000', 'localhost', '[::1]:9000']) expect(await ask(host)).toBe(200)
  for (const host of ['rebound.example', '127.0.0.1.example', 'localhost.example:80', '[::2]']) {
    expect(await ask(host)).toBe(401)
  }
  await app.close()
})

test('localhost is one listener: a second one would lack the limits of the first', async () => {
  const app = await createAdmin('127.0.0.1')
  const url = await openListener(app, { host: 'localhost', port: 0 }, 'ADMIN_PORT')
  expect(app.addresses()).toMatchObject([{ address: '127.0.0.1', port: Number(new URL(url).port) }])
  await app.close()
})
