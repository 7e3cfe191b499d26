// Goal: traces cost nobody anything but those that are asked for them. Method: an app whose spans go to a collector
// over HTTP; strangers that want to be traced, collectors that are down, late or silent, and secrets as canaries.
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Secret, type Signer } from '@causeway/core'
import { type ApiKeys, createHttpMetrics, type HttpApp, type Tracing } from '@causeway/http'
import { openTracing, traceSigner } from '@causeway/service'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestApp } from '../../http/test/fixtures/httpTestApp.ts'
import { startTraceCollector, type TraceCollector } from './traceCollector.ts'

const canary = 'CANARY-9d2e'
const trustedKey = `trusted-${canary}`
const customerKey = `customer-${canary}`
const apiKeys: ApiKeys = {
  async find(presented) {
    if (presented === trustedKey) return { keyId: 'solver', label: 'solver', scopes: new Set(['solver']) }
    if (presented === customerKey) return { keyId: 'k-1', label: 'customer', scopes: new Set() }
    return undefined
  },
}
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const sampled = `00-${traceId}-${spanId}-01`

let collector: TraceCollector
const closers: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  collector = await startTraceCollector()
})
afterEach(async () => {
  await collector.stop()
  for (const close of closers.splice(0)) await close()
})

type Bench = {
  readonly app: HttpApp
  readonly tracing: Tracing
  /** Spans by what became of them. */
  outcomes(): Promise<Record<string, number>>
}

async function openApp(ratio = 1): Promise<Bench> {
  const metrics = createHttpMetrics({ service: 'test' })
  const settings = {
    url: new Secret(`${collector.url}/v1/traces`),
    headers: new Secret(`authorization=${encodeURIComponent(`Bearer ${canary}`)}`),
    ratio,
  }
  const told = { service: 'test', registry: metrics.registry, log: pino({ level: 'silent' }) }
  const tracing = await openTracing(settings, told)
  if (tracing === undefined) throw new Error('tracing is on')
  const mayJoin = (scopes: ReadonlySet<string>) => scopes.has('solver')
  const app = await createTestApp({ apiKeys, metrics, traces: { tracing, mayJoin } })
  app.post('/items/:id', async () => {
    await tracing.runSpan('step', {}, async () => {
      await sleep(1)
      tracing.recordEndedCall(
        'chain endpoint',
        { 'server.address': 'rpc.example#1' },
        { seconds: 0.001, failure: undefined },
      )
    })
    return { told: tracing.headers() }
  })
  app.get('/many', async () => {
    for (let count = 0; count < 1_000; count += 1) await tracing.runSpan(`step ${count}`, {}, async () => {})
    return {}
  })
  app.get('/boom', async () => {
    await tracing.runSpan('step', {}, async () => {
      throw new Error(`a bug that quotes https://rpc.example/${canary}`)
    })
  })
  closers.push(() => app.close())
  const outcomes = async () => {
    const metric = await metrics.registry.getSingleMetric('trace_spans_total')?.get()
    return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [labels['outcome'], value]))
  }
  return { app, tracing, outcomes }
}

const ask = (app: HttpApp, headers: Record<string, string | string[]> = {}) =>
  app.inject({ method: 'POST', url: `/items/one?user=${canary}`, headers, payload: { secret: canary } })

test('a request, what it does and whom it asks are one trace, also behind a body', async () => {
  const { app } = await openApp()
  const { told } = (await ask(app)).json()
  const server = await collector.until((spans) => spans.find(({ name }) => name === 'POST /items/:id'))
  const step = collector.spans.find(({ name }) => name === 'step')
  const call = collector.spans.find(({ name }) => name === 'chain endpoint')
  expect(server.parentSpanId).toBeUndefined()
  expect(server.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/items/:id',
    'http.response.status_code': 200,
    'causeway.http_request_id': expect.stringMatching(/^[0-9a-f]{10}-1$/),
  })
  expect([step?.traceId, step?.parentSpanId]).toEqual([server.traceId, server.spanId])
  expect([call?.traceId, call?.parentSpanId]).toEqual([server.traceId, step?.spanId])
  expect(told).toEqual({ traceparent: `00-${server.traceId}-${server.spanId}-01` })
})

test('a caller that may join goes on with its own trace, and its decision counts', async () => {
  const { app } = await openApp(0)
  await ask(app, { 'x-api-key': trustedKey, traceparent: sampled })
  const server = await collector.until((spans) => spans.find(({ name }) => name === 'POST /items/:id'))
  expect([server.traceId, server.parentSpanId]).toEqual([traceId, spanId])
  const unsampled = await ask(app, { 'x-api-key': trustedKey, traceparent: sampled.replace(/01$/, '00') })
  expect(unsampled.json().told.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  await sleep(1_500)
  expect(collector.spans.filter(({ name }) => name === 'POST /items/:id')).toHaveLength(1)
})

test('O-202: no stranger and no customer has a request traced by a header', async () => {
  const { app } = await openApp(0)
  await ask(app, { traceparent: sampled })
  await ask(app, { traceparent: sampled, 'x-api-key': customerKey })
  await ask(app, { traceparent: sampled, 'x-api-key': 'wrong' })
  await sleep(1_500)
  expect(collector.texts).toEqual([])
})

test.each([
  ['no hex', `00-${'z'.repeat(32)}-${spanId}-01`],
  ['an empty trace', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['an unknown version', `ff-${traceId}-${spanId}-01`],
  ['more behind it', `${sampled}-${'x'.repeat(4_000)}`],
  ['nothing', ''],
  ['two of them', [sampled, sampled]],
])('a traceparent with %s begins a new trace', async (_name, traceparent) => {
  const { app } = await openApp()
  expect((await ask(app, { 'x-api-key': trustedKey, traceparent })).statusCode).toBe(200)
  const server = await collector.until((spans) => spans.find(({ name }) => name === 'POST /items/:id'))
  expect(server.traceId).not.toBe(traceId)
  expect(server.parentSpanId).toBeUndefined()
})

test('O-202: what is refused before its work makes no span', async () => {
  const { app } = await openApp()
  expect((await ask(app, { 'x-api-key': 'wrong' })).statusCode).toBe(401)
  expect((await app.inject({ url: '/nothing' })).statusCode).toBe(404)
  expect((await app.inject({ method: 'POST', url: '/items/one', payload: '{' })).statusCode).toBe(415)
  await sleep(1_500)
  expect(collector.texts).toEqual([])
})

test('O-202: one request cannot push out the spans of others', async () => {
  const { app, outcomes } = await openApp()
  await app.inject({ url: '/many' })
  await collector.until((spans) => spans.find(({ name }) => name === 'GET /many'))
  expect(collector.spans.length).toBeLessThanOrEqual(129)
  expect((await outcomes())['dropped']).toBe(1_000 - 128)
})

test('no secret of a request, an error or the exporter stands in a span', async () => {
  const { app, tracing } = await openApp()
  await ask(app, { 'x-api-key': customerKey, authorization: canary, cookie: canary, 'x-request-id': canary })
  await app.inject({ url: `/boom?${canary}` })
  const key: Signer = {
    address: '0x00',
    sign: async () => `0x${Buffer.from(canary).toString('hex')}`,
  }
  const signed = traceSigner(key, tracing)
  await tracing.runTrace('signing', {}, () => signed.sign({ purpose: 'order', orderId: '0x00' }))
  const boom = await collector.until((spans) => spans.find(({ name }) => name === 'GET /boom'))
  const sign = await collector.until((spans) => spans.find(({ name }) => name === 'sign'))
  expect(boom.isFailed).toBe(true)
  expect(sign.attributes).toEqual({})
  const text = collector.texts.join()
  expect(text).not.toContain(canary)
  expect(text).not.toContain(Buffer.from(canary).toString('hex'))
  expect(collector.requestHeaders[0]?.authorization).toBe(`Bearer ${canary}`)
})

test.each(['refuses', 'unavailable', 'hangs', 'trickles'] as const)(
  'O-202: a collector that %s costs no request anything and no memory without end',
  async (mood) => {
    collector.become(mood)
    const { app, outcomes, tracing } = await openApp()
    const first = performance.now()
    const inTurn = 1_500
    for (let count = 0; count < inTurn; count += 1) expect((await ask(app)).statusCode).toBe(200)
    // A request that waited for the collector would wait for its time limit.
    expect(performance.now() - first).toBeLessThan(inTurn * 15)
    const { dropped = 0, failed = 0, exported = 0 } = await outcomes()
    expect(exported).toBe(0)
    // Spans neither dropped nor failed are kept: at most the queue and the batches in flight.
    expect(3 * inTurn - dropped - failed).toBeLessThanOrEqual(2_048 + 2 * 256)
    expect(mood === 'refuses' ? failed : dropped).toBeGreaterThan(0)
    const closing = performance.now()
    await tracing.close()
    expect(performance.now() - closing).toBeLessThan(3_000)
  },
  60_000,
)

test('where no collector is named nothing of OpenTelemetry is loaded', async () => {
  const script = fileURLToPath(new URL('./tracingLibrariesProcess.ts', import.meta.url))
  const loadedBy = async (word: 'on' | 'off'): Promise<readonly string[]> => {
    const words = [script, word]
    const { stdout } = await promisify(execFile)(process.execPath, words)
    return JSON.parse(stdout)
  }
  // The interface without anything behind it, which prom-client brings.
  expect(await loadedBy('off')).toEqual(['@opentelemetry/api'])
  expect(await loadedBy('on')).toContain('@opentelemetry/sdk-trace')
})
