import { UpstreamUnavailableError } from '@causeway/core'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestApp, unlimited } from '../test/fixtures/httpTestApp.ts'
import type { ApiKeys } from './apiKeys.ts'
import type { HttpAppOptions } from './createHttpApp.ts'
import { errorBodySchema, errorResponses } from './errorBody.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { createReadiness } from './readiness.ts'

const open: HttpApp[] = []
afterEach(async () => {
  for (const app of open.splice(0)) await app.close()
})

const echoSchema = z.object({ amount: z.string(), slippageTolerance: z.string().max(5).optional() })

async function createApp(options: Partial<HttpAppOptions> = {}): Promise<HttpApp> {
  const app = await createTestApp(options)
  open.push(app)
  app.post(
    '/echo',
    { schema: { body: echoSchema, response: { 200: echoSchema, ...errorResponses } } },
    async ({ body }) => body,
  )
  app.get('/boom', async () => {
    throw new Error('a bug that quotes https://rpc.example/secret-key')
  })
  app.get('/late', async () => {
    throw new UpstreamUnavailableError('The chain did not answer.', { retryAfterSeconds: 3 })
  })
  app.get('/items/:id', { schema: { params: z.object({ id: z.string() }) } }, async ({ params }) => params)
  return app
}

const json = { 'content-type': 'application/json' }
const post = (app: HttpApp, payload: string | Buffer, headers: Record<string, string> = json) =>
  app.inject({ method: 'POST', url: '/echo', payload, headers })

test('answers with the members of its schema and protective headers', async () => {
  const app = await createApp()
  const answer = await post(app, '{"amount":"1","unknown":true}')
  expect(answer.statusCode).toBe(200)
  expect(answer.body).toBe('{"amount":"1"}')
  expect(answer.headers).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[0-9a-f]{10}-1$/),
  })
  expect(answer.headers).not.toHaveProperty('x-powered-by')
})

test.each([
  ['malformed JSON', '{', json, 400, 'INVALID_JSON'],
  ['an empty body', '', json, 400, 'EMPTY_BODY'],
  ['no body and no content type', '', {}, 400, 'INVALID_REQUEST'],
  ['__proto__', '{"amount":"1","__proto__":{}}', json, 400, 'INVALID_REQUEST'],
  ['constructor', '{"amount":"1","constructor":{}}', json, 400, 'INVALID_REQUEST'],
  ['a wrong type', '{"amount":1}', json, 400, 'INVALID_REQUEST'],
  [
    'a field with an own code',
    '{"amount":"1","slippageTolerance":1}',
    json,
    400,
    'INVALID_SLIPPAGE_TOLERANCE',
  ],
  ['a repeated key', '{"amount":"1","amount":"2"}', json, 400, 'INVALID_REQUEST'],
  [
    'a form',
    'amount=1',
    { 'content-type': 'application/x-www-form-urlencoded' },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  ['plain text', '{"amount":"1"}', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a malformed content type', '{"amount":"1"}', { 'content-type': 'x' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['no content type', '{"amount":"1"}', {}, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a huge body', `{"amount":"${'1'.repeat(66_000)}"}`, json, 413, 'BODY_TOO_LARGE'],
])('%s is refused with the shared body', async (_name, payload, headers, status, errorCode) => {
  const app = await createApp()
  const answer = await post(app, payload, headers)
  const body = errorBodySchema.strict().parse(answer.json())
  expect([answer.statusCode, body.statusCode, body.errorCode]).toEqual([status, status, errorCode])
  expect(body.errorData === undefined).toBe(status !== 400)
})

test('a body of exactly the limit is read, one byte more is not', async () => {
  const app = await createApp()
  const sized = (bytes: number) => `{"amount":"${'1'.repeat(bytes - 13)}"}`
  expect((await post(app, sized(64 * 1024))).statusCode).toBe(200)
  expect((await post(app, sized(64 * 1024 + 1))).statusCode).toBe(413)
})

test('bytes that are not UTF-8 become replacement characters, never a crash', async () => {
  const app = await createApp()
  const payload = Buffer.from('7b22616d6f756e74223a22fffe227d', 'hex')
  expect((await post(app, payload)).json()).toEqual({ amount: '��' })
})

test('Q-139: a bug is a constant 500 and an unavailable upstream a 503 that says when to retry', async () => {
  const app = await createApp()
  const bug = await app.inject({ url: '/boom' })
  expect([bug.statusCode, bug.body]).toEqual([
    500,
    '{"message":"Internal error.","errorCode":"UNKNOWN_ERROR","statusCode":500}',
  ])
  const late = await app.inject({ url: '/late' })
  expect([late.statusCode, late.headers['retry-after'], late.json()]).toEqual([
    503,
    '3',
    {
      message: 'The chain did not answer.',
      errorCode: 'SERVICE_UNAVAILABLE',
      statusCode: 503,
      retryable: true,
    },
  ])
})

test('unknown URLs and methods are 404 with the shared body; HEAD and trailing slashes are unknown', async () => {
  const app = await createApp()
  const unknown = [
    { url: '/nothing' },
    { url: '/echo' },
    { url: '/lives/v1/' },
    { url: '//lives/v1' },
    { url: '/LIVES/v1' },
    { method: 'HEAD' as const, url: '/lives/v1' },
    { method: 'POST' as const, url: '/nothing', payload: '{', headers: json },
  ]
  for (const request of unknown) {
    const answer = await app.inject(request)
    expect(answer.statusCode).toBe(404)
    if (request.method !== 'HEAD') {
      expect(answer.json()).toMatchObject({ errorCode: 'NOT_FOUND', statusCode: 404 })
    }
  }
})

test('a malformed or overlong URL is typed', async () => {
  const app = await createApp()
  const malformed = await app.inject({ url: '/items/%zz' })
  expect([malformed.statusCode, malformed.json()]).toMatchObject([400, { errorCode: 'MALFORMED_HTTP' }])
  const long = await app.inject({ url: `/items/${'a'.repeat(101)}` })
  expect([long.statusCode, long.json()]).toMatchObject([414, { errorCode: 'URL_TOO_LONG' }])
})

const knownKey = 'causeway_test_key'
const keys: ApiKeys = {
  find: async (presented) =>
    presented === knownKey ? { keyId: 'k1', label: 'test', scopes: new Set(['quote']) } : undefined,
}

test('a known key reaches the handler, no key is null', async () => {
  const app = await createApp({ apiKeys: keys })
  app.get('/who', async ({ apiKey }) => ({ keyId: apiKey?.keyId ?? null }))
  expect((await app.inject({ url: '/who' })).json()).toEqual({ keyId: null })
  const keyed = await app.inject({ url: '/who', headers: { 'x-api-key': knownKey } })
  expect(keyed.json()).toEqual({ keyId: 'k1' })
})

test('a wrong key is 401 on every route, whatever it is', async () => {
  const app = await createApp({ apiKeys: keys })
  const wrong = [
    ...Object.getOwnPropertyNames(Object.prototype),
    '',
    'x',
    `${knownKey}, ${knownKey}`,
    `${knownKey},other`,
    ` ${knownKey}x`,
    'ключ',
    'k'.repeat(257),
  ]
  for (const key of wrong) {
    for (const url of ['/lives/v1', '/nothing']) {
      const answer = await app.inject({ url, headers: { 'x-api-key': key } })
      expect([answer.statusCode, answer.json()]).toEqual([
        401,
        { message: 'The API key is missing or not valid.', errorCode: 'UNAUTHORIZED', statusCode: 401 },
      ])
    }
  }
  const repeated = await app.inject({ url: '/lives/v1', headers: { 'x-api-key': [knownKey, knownKey] } })
  expect(repeated.statusCode).toBe(401)
})

test('a key may be sent as a bearer token as well, where an app takes it so', async () => {
  const app = await createApp({ apiKeys: keys, bearerKeys: true })
  app.get('/who', async ({ apiKey }) => ({ keyId: apiKey?.keyId ?? null }))
  const ask = async (headers: Record<string, string>) => {
    const answer = await app.inject({ url: '/who', headers })
    const body: unknown = answer.json()
    return [answer.statusCode, body]
  }
  const known = [200, { keyId: 'k1' }]
  for (const authorization of [`Bearer ${knownKey}`, `bearer ${knownKey}`, `BEARER  ${knownKey}`]) {
    expect(await ask({ authorization }), authorization).toEqual(known)
    expect(await ask({ authorization, 'x-api-key': knownKey }), authorization).toEqual(known)
  }
  for (const token of ['', 'x', `${knownKey}x`, `${knownKey} ${knownKey}`, `${knownKey},`, 'k'.repeat(257)]) {
    const answer = await ask({ authorization: `Bearer ${token}` })
    expect(answer, token).toMatchObject([401, { errorCode: 'UNAUTHORIZED' }])
  }
  // A header of another scheme is ignored: it is meant for a proxy before the service.
  expect(await ask({ authorization: `Basic ${knownKey}` })).toEqual([200, { keyId: null }])
  expect(await ask({ authorization: `Basic ${knownKey}`, 'x-api-key': knownKey })).toEqual(known)
})

test('two different keys of one request are refused by name, whichever of them is known', async () => {
  const app = await createApp({ apiKeys: keys, bearerKeys: true })
  for (const [apiKey, token] of [
    [knownKey, 'another'],
    ['another', knownKey],
    ['', knownKey],
    [knownKey, ''],
  ] as const) {
    const headers = { 'x-api-key': apiKey, authorization: `Bearer ${token}` }
    const answer = await app.inject({ url: '/lives/v1', headers })
    expect([answer.statusCode, answer.json()]).toMatchObject([
      400,
      { errorCode: 'INVALID_REQUEST', message: expect.stringContaining('authorization') },
    ])
  }
})

test('an app that does not take bearer tokens leaves them to others', async () => {
  const app = await createApp({ apiKeys: keys })
  const answer = await app.inject({ url: '/lives/v1', headers: { authorization: 'Bearer wrong' } })
  expect(answer.statusCode).toBe(200)
})

test('an app may serve wrong keys as if none was sent', async () => {
  const app = await createApp({ apiKeys: keys, unknownKeys: 'ignore' })
  expect((await app.inject({ url: '/lives/v1', headers: { 'x-api-key': 'constructor' } })).statusCode).toBe(
    200,
  )
})

test('wrong keys are limited per network before they are looked up', async () => {
  const lookups: string[] = []
  const counting: ApiKeys = {
    find: async (presented) => {
      lookups.push(presented)
      return keys.find(presented)
    },
  }
  const app = await createApp({ apiKeys: counting, rateLimits: { ...unlimited, failedKeysPerMinuteMax: 2 } })
  const ask = async (key: string, remoteAddress: string) =>
    (await app.inject({ url: '/lives/v1', headers: { 'x-api-key': key }, remoteAddress })).statusCode
  expect([await ask('a', '10.0.0.1'), await ask('b', '10.0.0.1')]).toEqual([401, 401])
  expect([await ask('c', '10.0.0.1'), await ask(knownKey, '10.0.0.1')]).toEqual([429, 429])
  expect(await ask(knownKey, '10.0.0.2')).toBe(200)
  expect(lookups).toEqual(['a', 'b', knownKey])
})

test('browsers of every origin may call, without credentials', async () => {
  const app = await createApp()
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/echo',
    headers: {
      origin: 'https://dapp.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,relay-kit-ui-version,authorization,x-of-tomorrow',
    },
  })
  expect([preflight.statusCode, preflight.headers]).toMatchObject([
    204,
    {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'content-type,relay-kit-ui-version,authorization,x-of-tomorrow',
      'access-control-max-age': '600',
    },
  ])
  expect(preflight.headers).not.toHaveProperty('access-control-allow-credentials')
  const refused = await post(app, '{', { ...json, origin: 'https://dapp.example' })
  expect(refused.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-expose-headers': expect.stringContaining('retry-after'),
  })
  const closed = await createApp({ cors: false })
  expect((await post(closed, '{}')).headers).not.toHaveProperty('access-control-allow-origin')
})

test('a deprecated route says so on every answer', async () => {
  const app = await createApp()
  const deprecation = {
    sinceUnixSeconds: 1_700_000_000,
    successor: '/quote',
    sunsetUnixSeconds: 1_800_000_000,
  }
  app.post('/price', { schema: { body: echoSchema }, config: { deprecation } }, async () => ({}))
  for (const payload of ['{"amount":"1"}', '{']) {
    const { headers } = await app.inject({ method: 'POST', url: '/price', payload, headers: json })
    expect(headers).toMatchObject({
      deprecation: '@1700000000',
      link: '</quote>; rel="successor-version"',
      sunset: 'Fri, 15 Jan 2027 08:00:00 GMT',
    })
  }
  expect((await post(app, '{}')).headers).not.toHaveProperty('deprecation')
})

test('one request more than the cap is refused at once, and room is made when one ends', async () => {
  const app = await createApp({ slots: { inFlightMax: 2 } })
  const releases: (() => void)[] = []
  app.get('/slow', () => new Promise((resolve) => releases.push(() => resolve({}))))
  const slow = [app.inject({ url: '/slow' }), app.inject({ url: '/slow' })]
  await expect.poll(() => releases.length).toBe(2)
  const shed = await app.inject({ url: '/late' })
  expect([shed.statusCode, shed.headers['retry-after'], shed.json()]).toMatchObject([
    503,
    '1',
    { errorCode: 'SERVICE_UNAVAILABLE', retryable: true },
  ])
  expect((await app.inject({ url: '/lives/v1' })).statusCode).toBe(200)
  for (const release of releases) release()
  await Promise.all(slow)
  expect((await app.inject({ url: '/items/1' })).statusCode).toBe(200)
})

test('a late handler is answered for and told', async () => {
  const app = await createApp({ handlerTimeoutMs: 30 })
  let reason: unknown
  app.post('/never', ({ cancellation }) => {
    cancellation.addEventListener('abort', () => {
      reason = cancellation.reason
    })
    return new Promise(() => {})
  })
  app.get('/patient', { config: { handlerTimeoutMs: 5_000 } }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 60))
    return {}
  })
  const late = await app.inject({ method: 'POST', url: '/never', payload: '{}', headers: json })
  expect([late.statusCode, late.json()]).toMatchObject([
    503,
    { errorCode: 'REQUEST_TIMED_OUT', retryable: true },
  ])
  expect(reason).toBeInstanceOf(Error)
  expect((await app.inject({ url: '/patient' })).statusCode).toBe(200)
})

test('while draining, answers wind their connection down', async () => {
  const readiness = createReadiness({ checks: [] })
  const app = await createApp({ readiness })
  expect((await app.inject({ url: '/lives/v1' })).headers['connection']).toBe('keep-alive')
  readiness.startDraining()
  const answer = await app.inject({ url: '/lives/v1' })
  expect([answer.statusCode, answer.headers['connection']]).toEqual([200, 'close'])
})

test('a missing response member is a 500, not a broken answer', async () => {
  const app = await createApp()
  const schema = { response: { 200: z.object({ amount: z.string() }), ...errorResponses } }
  // CAST: what a bug in a handler looks like to the serializer.
  app.get('/wrong', { schema }, async () => ({}) as { amount: string })
  const answer = await app.inject({ url: '/wrong' })
  expect([answer.statusCode, answer.json().errorCode]).toEqual([500, 'UNKNOWN_ERROR'])
})
