// Goal: each request has one line, found by what an operator knows of it, and no caller writes into it what he likes.
// Method: an app with a real logger; hostile ids, labels and methods; refusals of every kind.
import { EventEmitter, once } from 'node:events'
import { type HttpApp, type HttpAppOptions, noteSubject } from '@causeway/http'
import { createLogger } from '@causeway/service'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestApp } from '../../http/test/fixtures/httpTestApp.ts'

const requestId = `0x${'ab'.repeat(32)}`
const orderId = `0x${'cd'.repeat(32)}`
const hash = `0x${'ef'.repeat(32)}`
const label = `shop\n{"event":"request"}\u202e\u2028${'x'.repeat(300)}`

const open: HttpApp[] = []
/** Tells that a handler runs. */
const begun = new EventEmitter()
afterEach(async () => {
  for (const app of open.splice(0)) await app.close()
})

type Line = Readonly<Record<string, unknown>>

async function openApp(level: 'info' | 'debug' = 'info', options: Partial<HttpAppOptions> = {}) {
  let text = ''
  const destination = {
    write(line: string) {
      text += line
    },
  }
  const app = await createTestApp({
    logger: createLogger({ service: 'test', level, destination }),
    apiKeys: {
      find: async (key) => (key === 'good' ? { keyId: 'k-1', label, scopes: new Set() } : undefined),
    },
    ...options,
  })
  open.push(app)
  app.post('/quote', async (request) => {
    noteSubject(request, { requestId, orderId })
    return {}
  })
  app.get(
    '/status',
    { schema: { querystring: z.object({ requestId: z.string(), txHash: z.string().optional() }) } },
    async () => ({}),
  )
  app.get('/wait', async ({ cancellation }) => {
    await new Promise((_resolve, reject) => {
      cancellation.addEventListener('abort', () => reject(cancellation.reason))
      begun.emit('wait')
    })
  })
  app.get('/boom', async () => {
    throw new Error('a bug')
  })
  const lines = (): Line[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return { app, lines, text: () => text }
}

test('O-201: a request is found by the ids that its handler made, its key and its own id', async () => {
  const { app, lines } = await openApp()
  const answer = await app.inject({
    method: 'POST',
    url: '/quote',
    headers: { 'x-api-key': 'good', 'x-request-id': 'mine-1' },
  })
  expect(lines()).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      service: 'test',
      event: 'request',
      msg: 'request answered',
      method: 'POST',
      route: '/quote',
      statusCode: 200,
      milliseconds: expect.any(Number),
      httpRequestId: answer.headers['x-request-id'],
      clientRequestId: 'mine-1',
      requestId,
      orderId,
      keyId: 'k-1',
      apiKeyLabel: `shop?{"event":"request"}??${'x'.repeat(64 - 26)}`,
    },
  ])
})

test('a request is found by the ids that its caller wrote', async () => {
  const { app, lines } = await openApp()
  await app.inject({ url: `/status?requestId=${requestId}&txHash=${hash}` })
  expect(lines()).toMatchObject([{ requestId, transactionHash: hash, statusCode: 200 }])
})

test.each([
  ['a line of its own', 'x"}\n{"event":"request","requestId":"forged'],
  ['control characters', '\u0000\u001b[2J12345678'],
  ['characters that turn text around', '\u202e12345678'],
  ['a long text', 'a'.repeat(4_000)],
  ['a short text', 'a'],
])('%s for an id stands in no line', async (_name, written) => {
  const { app, lines, text } = await openApp('debug')
  await app.inject({ url: `/status?requestId=${encodeURIComponent(written)}` })
  expect(lines()).toHaveLength(1)
  expect(lines()[0]).not.toHaveProperty('requestId')
  expect(text().length).toBeLessThan(400)
})

test('a refusal, a bug and an unknown URL have one line each, a bug with its stack', async () => {
  const { app, lines } = await openApp()
  await app.inject({ url: '/boom' })
  await app.inject({ url: '/nothing' })
  await app.inject({ url: '/status' })
  await app.inject({ url: '/status', headers: { 'x-api-key': 'bad' } })
  expect(lines()).toMatchObject([
    { level: 50, statusCode: 500, msg: 'request failed unexpectedly', err: { message: 'a bug' } },
    { level: 30, statusCode: 404, msg: 'request refused', errorCode: 'NOT_FOUND' },
    { level: 30, statusCode: 400, msg: 'request refused', errorCode: 'INVALID_REQUEST' },
    { level: 30, statusCode: 401, msg: 'request refused', errorCode: 'UNAUTHORIZED' },
  ])
})

test('a request that its caller leaves is one line, and no failure', async () => {
  const { app, lines } = await openApp()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const leaving = new AbortController()
  const running = once(begun, 'wait')
  const asked = fetch(`${url}/wait`, { signal: leaving.signal })
  await running
  leaving.abort()
  await expect(asked).rejects.toThrow()
  const ofRequests = () => lines().filter(({ event }) => event === 'request')
  await expect
    .poll(ofRequests)
    .toMatchObject([{ route: '/wait', statusCode: 499, level: 30, msg: 'caller went away' }])
  await app.close()
  expect(ofRequests()).toHaveLength(1)
})

test('neither probes nor a flood of limited requests are lines, unless somebody wants all', async () => {
  const rateLimits: HttpAppOptions['rateLimits'] = {
    windowMs: 60_000,
    defaultClass: 'read',
    failedKeysPerMinuteMax: 0,
    classes: { read: { perKeyMax: 0, perIpMax: 1 } },
  }
  const quiet = await openApp('info', { rateLimits })
  const loud = await openApp('debug', { rateLimits })
  for (const { app } of [quiet, loud])
    for (const url of ['/lives/v1', '/nothing', '/nothing', '/nothing']) await app.inject({ url })
  expect(quiet.lines().map(({ statusCode }) => statusCode)).toEqual([404])
  expect(loud.lines().map(({ statusCode }) => statusCode)).toEqual([200, 404, 429, 429])
})

test('an answer to nobody about nothing is no line, unless somebody wants all; its refusal is one', async () => {
  const { app, lines } = await openApp()
  expect((await app.inject({ method: 'POST', url: '/status' })).statusCode).toBe(404)
  expect(lines()).toMatchObject([{ statusCode: 404 }])
  await app.inject({ url: '/lives/v1' })
  expect(lines()).toHaveLength(1)
  const all = await openApp('debug')
  all.app.get('/nothing', async () => ({}))
  await all.app.inject({ url: '/nothing' })
  expect(all.lines()).toMatchObject([{ route: '/nothing', level: 20 }])
})
