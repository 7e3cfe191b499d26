// Goal: one client stops no service: whatever it leaves unread, unfinished or unanswered, the next request
// of somebody else is answered. Method: raw sockets against a listening app with few slots and short limits.
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { errorBodySchema } from '../src/errorBody.ts'
import type { HttpApp } from '../src/fastifyTypes.ts'
import { createHttpMetrics, createReadiness, type HttpMetrics, type Readiness } from '../src/index.ts'
import { createTestApp } from './fixtures/httpTestApp.ts'
import { parseAnswer, portOf, sendRaw } from './rawSocket.ts'

const inFlightMax = 8
const bodiesArrivingMax = 20
const documentationMax = 10
/** Made once: a slow machine would take longer to make it than a handler may. */
const large = Buffer.alloc(16_000_000, 'x')

let app: HttpApp
let port: number
let metrics: HttpMetrics
let readiness: Readiness
let releases: (() => void)[]
const sockets: Socket[] = []

beforeEach(async () => {
  metrics = createHttpMetrics({ service: 'test' })
  readiness = createReadiness({ checks: [] })
  releases = []
  app = await createTestApp({
    metrics,
    readiness,
    slots: { inFlightMax, documentationMax, bodiesArrivingMax },
    handlerTimeoutMs: 1_500,
    openApi: { title: 'test', description: 'test', servers: [] },
    limits: { headersTimeoutMs: 1_000, requestTimeoutMs: 2_000, stalledTimeoutMs: 1_000 },
  })
  app.get('/chains', async () => ({ chains: 'x'.repeat(20_000) }))
  app.get('/large', async () => large)
  app.get('/slow', () => new Promise((resolve) => releases.push(() => resolve({}))))
  app.post('/echo', { schema: { body: z.object({ amount: z.string() }) } }, async ({ body }) => body)
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = portOf(app)
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app.close()
})

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const echo = (length: number) =>
  `POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

/** A client that sends and never reads. */
async function sendOnly(bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  socket.pause()
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(bytes)
  return socket
}

async function expectServed(): Promise<void> {
  const chains = await fetch(`http://127.0.0.1:${port}/chains`)
  expect(chains.status).toBe(200)
  await chains.text()
  const posted = await fetch(`http://127.0.0.1:${port}/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":"1"}',
  })
  expect([posted.status, await posted.json()]).toEqual([200, { amount: '1' }])
}

async function metric(name: string): Promise<number> {
  const line = new RegExp(`^${name.replace(/[{}]/g, '\\$&')} ([0-9.]+)$`, 'm')
  return Number(line.exec(await metrics.registry.metrics())?.[1] ?? Number.NaN)
}
const inFlight = () => metric('http_requests_in_flight{service="test"}')
const closed = (reason: string) => metric(`http_connections_closed_total{reason="${reason}",service="test"}`)
const shed = (reason: string) => metric(`http_requests_shed_total{reason="${reason}",service="test"}`)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('700 requests on one socket and a reset hold nothing', async () => {
  const socket = await sendOnly(get('/chains').repeat(700))
  await pause(50)
  socket.resetAndDestroy()
  await expect.poll(inFlight).toBe(0)
  await expectServed()
  expect((await readiness.report()).ready).toBe(true)
})

test('answers that wait behind a slow one end with their socket', async () => {
  const socket = await sendOnly(get('/slow') + get('/chains').repeat(10))
  await expect.poll(() => releases.length).toBe(1)
  socket.resetAndDestroy()
  await expect.poll(inFlight).toBe(0)
  await expectServed()
})

test('O-165: a socket is owed at most 16 answers: one request more closes it', async () => {
  const allowed = await sendRaw(port, [get('/lives/v1').repeat(16)], 500)
  expect([allowed.text.match(/HTTP\/1\.1 200/g)?.length, allowed.closed]).toEqual([16, false])
  const { text, closed: isClosed } = await sendRaw(port, [get('/lives/v1').repeat(17)])
  expect([text, isClosed]).toEqual(['', true])
  expect(await closed('pipelined')).toBe(1)
  await expect.poll(inFlight).toBe(0)
})

test('the same request 700 times, cut in half, holds nothing', async () => {
  const bytes = get('/chains').repeat(700)
  for (const end of [bytes.length / 2, get('/chains').length * 1.5]) {
    const socket = await sendOnly(bytes.slice(0, end))
    socket.end()
  }
  await expectServed()
  await expect.poll(inFlight).toBe(0)
})

test('O-165: answers that are not read hold no slot, and their connections are cut', async () => {
  for (let sent = 0; sent < 20; sent += 4) {
    await Promise.all(Array.from({ length: 4 }, () => sendOnly(get('/large'))))
    await expect.poll(inFlight).toBe(0)
  }
  await expect
    .poll(() => metric('http_request_duration_seconds_count{route="/large",method="GET",status="499"}'))
    .toBeNaN()
  await expectServed()
  expect(await inFlight()).toBe(0)
  await expect.poll(() => closed('stalled')).toBe(20)
  await expectServed()
})

test('a slow reader gets all of an answer, however long it takes', async () => {
  const socket = connect(port, '127.0.0.1', () => socket.write(get('/large')))
  sockets.push(socket)
  let received = 0
  socket.on('data', (chunk) => {
    received += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), chunk.length / 5_000)
  })
  await expect.poll(() => received).toBeGreaterThan(16_000_000)
  expect(await closed('stalled')).toBe(0)
})

test('100 sockets that do not read the documentation take no slot; more than its own share is refused', async () => {
  const file = '/documentation/static/swagger-ui-bundle.js'
  // Files are sent from memory: a few of them fit into what the system itself holds for a connection.
  await Promise.all(Array.from({ length: 100 }, () => sendOnly(get(file).repeat(8))))
  await expect.poll(() => shed('documentation')).toBeGreaterThan(0)
  await expectServed()
  expect(await inFlight()).toBe(0)
  expect(await shed('work')).toBe(0)
  expect((await readiness.report()).ready).toBe(true)
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}${file}`)).status).toBe(200)
})

test('O-165: bodies that never arrive hold no slot and are 408', async () => {
  const halves = Array.from({ length: bodiesArrivingMax - 5 }, () =>
    sendRaw(port, [`${echo(100)}{"amount":`]),
  )
  await expect.poll(() => metric('http_bodies_arriving{service="test"}')).toBe(bodiesArrivingMax - 5)
  expect(await inFlight()).toBe(0)
  await expectServed()
  for (const { text, closed: isClosed } of await Promise.all(halves)) {
    const { status, body } = parseAnswer(text)
    expect([status, errorBodySchema.strict().parse(body).errorCode, isClosed]).toEqual([
      408,
      'REQUEST_LATE',
      true,
    ])
  }
  await expect.poll(() => metric('http_bodies_arriving{service="test"}')).toBe(0)
})

test('O-165: of more bodies than may arrive at once the oldest is cut, so that a new one always may', async () => {
  const startedAt = performance.now()
  const halves = Array.from({ length: bodiesArrivingMax * 3 }, () =>
    sendRaw(port, [`${echo(100)}{"amount":`]),
  )
  await expect.poll(() => shed('body')).toBe(bodiesArrivingMax * 2)
  await expectServed()
  const first = await Promise.race(halves)
  expect(performance.now() - startedAt).toBeLessThan(2_000)
  expect(parseAnswer(first.text)).toMatchObject({ status: 408, body: { errorCode: 'REQUEST_LATE' } })
  await Promise.all(halves)
})

test('a body that is late behind an answer that is under way writes nothing into that answer', async () => {
  /** Reads with pauses that fill the buffers between. @returns what came behind the headers */
  const readSlowly = async (): Promise<string> => {
    const socket = await sendOnly(get('/large') + echo(100))
    const chunks: Buffer[] = []
    await pause(500)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    const ended = new Promise((resolve) => socket.once('close', resolve))
    for (let waited = 0; waited < 35; waited += 1) {
      socket.resume()
      await pause(20)
      socket.pause()
      await pause(60)
    }
    socket.resume()
    await ended
    const [, body = ''] = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n')
    return body.slice(0, 16_000_000)
  }
  // A reader whom a busy machine held up for a second is cut for that, and may have read nothing at all.
  let body = ''
  for (let tries = 0; tries < 5 && body === ''; tries += 1) body = await readSlowly()
  expect(body.length).toBeGreaterThan(0)
  expect([...body].filter((letter) => letter !== 'x')).toEqual([])
})

test('a slow body has the whole time of its handler once it is there', async () => {
  const { text } = await sendRaw(port, [echo(14), { waitMs: 1_700 }, '{"amount":"1"}'], 500)
  expect(parseAnswer(text)).toEqual({ status: 200, body: { amount: '1' } })
})

test('a service that ends nothing is not ready', async () => {
  const other = createReadiness({ checks: [] })
  const stuck = await createTestApp({ readiness: other, handlerTimeoutMs: 100 })
  try {
    // A handler that took the answer over and forgot it: no time limit answers for it.
    stuck.get('/forgotten', (_request, reply) => {
      reply.hijack()
    })
    await stuck.listen({ host: '127.0.0.1', port: 0 })
    sockets.push(
      connect(portOf(stuck), '127.0.0.1', function send(this: Socket) {
        this.write(get('/forgotten'))
      }),
    )
    await pause(1_000)
    expect((await other.report()).checks).toEqual({ requests: 'ok' })
    await expect.poll(async () => (await other.report()).ready).toBe(false)
    for (const socket of sockets.splice(0)) socket.destroy()
    await expect.poll(async () => (await other.report()).ready).toBe(true)
  } finally {
    await stuck.close()
  }
})

test('O-167: a service that sheds stays ready and counts what it shed', async () => {
  const slow = Array.from({ length: inFlightMax }, () => fetch(`http://127.0.0.1:${port}/slow`))
  await expect.poll(() => releases.length).toBe(inFlightMax)
  for (let count = 0; count < 3; count += 1) {
    expect((await fetch(`http://127.0.0.1:${port}/chains`)).status).toBe(503)
  }
  expect(await shed('work')).toBe(3)
  expect((await readiness.report()).ready).toBe(true)
  for (const url of ['/lives/v1', '/documentation/json']) {
    expect((await fetch(`http://127.0.0.1:${port}${url}`)).status).toBe(200)
  }
  for (const release of releases) release()
  for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200)
})
