// Goal: a request may wait for news for longer than any other may last, and harms nobody. Attackers: a caller who opens
// hundreds of such requests, leaves them, or reads no answer, so that others are refused or what he holds is never given
// back; a service that stops while they wait, or whose other work hangs unseen behind them.
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HttpApp } from '../src/fastifyTypes.ts'
import { holdRequest } from '../src/holding.ts'
import { createHttpMetrics, createReadiness, type HttpMetrics, type Readiness } from '../src/index.ts'
import { createTestApp } from './fixtures/httpTestApp.ts'
import { portOf } from './rawSocket.ts'

const inFlightMax = 8
const heldMax = 20
const waitMs = 30_000

let app: HttpApp
let port: number
let metrics: HttpMetrics
let readiness: Readiness
let tellNews: () => void
let ended: number
const sockets: Socket[] = []

beforeEach(async () => {
  metrics = createHttpMetrics({ service: 'test' })
  readiness = createReadiness({ checks: [] })
  ended = 0
  const waiting = new Set<() => void>()
  tellNews = () => {
    for (const tell of waiting) tell()
  }
  app = await createTestApp({
    metrics,
    readiness,
    slots: { inFlightMax, heldMax },
    handlerTimeoutMs: 300,
    limits: { connectionTimeoutMs: 500, stalledTimeoutMs: 1_000 },
  })
  app.get('/news', async (request) => {
    await holdRequest(request, waitMs, async (over) => {
      await new Promise<void>((resolve) => {
        waiting.add(resolve)
        over.addEventListener('abort', () => resolve())
        if (over.aborted) resolve()
      })
    })
    ended += 1
    return { news: 'x'.repeat(100) }
  })
  app.get('/late', async (request) => {
    await holdRequest(request, 10, async () => {})
    await pause(2_000)
    return {}
  })
  app.get('/broken', async (request) => {
    await holdRequest(request, waitMs, () => Promise.reject(new Error('the look failed')))
    return {}
  })
  app.get('/chains', async () => ({ chains: [] }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = portOf(app)
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app.close()
})

const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)

async function gauge(name: string): Promise<number | undefined> {
  const read = await metrics.registry.getSingleMetric(name)?.get()
  return read?.values[0]?.value
}
const held = () => gauge('http_requests_held')
const working = () => gauge('http_requests_in_flight')

/** A client that asks and does nothing else. */
async function open(path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  socket.pause()
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
  return socket
}

test('a request waits past the time of its handler and of a silent connection, and is answered with the news', async () => {
  const answer = ask('/news')
  await expect.poll(held).toBe(1)
  await pause(1_500)
  expect(await held()).toBe(1)
  tellNews()
  expect((await answer).status).toBe(200)
  await expect.poll(held).toBe(0)
  expect(await working()).toBe(0)
})

test('its wait is no time that it took', async () => {
  const answer = ask('/news')
  await expect.poll(held).toBe(1)
  await pause(1_100)
  tellNews()
  await (await answer).json()
  const seconds = async () => {
    const text = await metrics.registry.metrics()
    return /http_request_duration_seconds_sum\{.*route="\/news".*\} (\S+)/.exec(text)?.[1]
  }
  await expect.poll(seconds).toBeDefined()
  expect(Number(await seconds())).toBeLessThan(0.5)
})

test('O-165: 700 of one caller take no place of other requests, and no more than the bound wait', async () => {
  await Promise.all(Array.from({ length: 700 }, () => open('/news')))
  await expect.poll(() => ended, { timeout: 10_000 }).toBe(700 - heldMax)
  expect(await held()).toBe(heldMax)
  for (let each = 0; each < 2 * inFlightMax; each += 1) expect((await ask('/chains')).status).toBe(200)
  // One more is held, and another one is answered for it.
  const last = ask('/news')
  await expect.poll(() => ended).toBe(701 - heldMax)
  tellNews()
  expect((await last).status).toBe(200)
  await expect.poll(held).toBe(0)
})

test('who leaves, or reads nothing, gives back what he held', async () => {
  const leaving = await Promise.all(Array.from({ length: heldMax }, () => open('/news')))
  await expect.poll(held).toBe(heldMax)
  for (const socket of leaving) socket.destroy()
  await expect.poll(held).toBe(0)
  expect(await working()).toBe(0)
  await Promise.all(Array.from({ length: heldMax }, () => open('/news')))
  await expect.poll(held).toBe(heldMax)
  tellNews()
  await expect.poll(held).toBe(0)
  expect(await working()).toBe(0)
})

test('a service that stops answers at once what waits, and holds nothing more', async () => {
  const waiting = [ask('/news'), ask('/news')]
  await expect.poll(held).toBe(2)
  const stoppedMs = performance.now()
  readiness.startDraining()
  for (const answer of await Promise.all(waiting)) {
    expect(answer.status).toBe(200)
    expect(answer.headers.get('connection')).toBe('close')
  }
  expect((await ask('/news')).status).toBe(200)
  expect(performance.now() - stoppedMs).toBeLessThan(5_000)
})

test('after its wait a handler has the time of every other, and what fails in the wait is its failure', async () => {
  expect((await ask('/late')).status).toBe(503)
  expect((await ask('/broken')).status).toBe(500)
  expect(await held()).toBe(0)
  await expect.poll(working).toBe(0)
})
