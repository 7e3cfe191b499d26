// Goal: whatever one endpoint does, callers get a true answer from another one or a typed refusal within
// their budget, and the client mends without a restart. Method: a real node behind proxies that misbehave.
import { Secret, UpstreamUnavailableError } from '@causeway/core'
import { type Anvil, type FaultMode, type FaultProxy, startAnvil, startFaultProxy } from '@causeway/localnet'
import { createJsonRpcClient, type JsonRpcClient, NodeError } from '@causeway/rpc'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'

const chainIdCall = { method: 'eth_chainId', params: [] }
const chainIdHex = '0x7a69'
/** Ample: a busy machine must not fail a test. */
const ampleMs = 20_000
/** For calls that are meant to run out of time. */
const shortMs = 600

let anvil: Anvil
let first: FaultProxy
let second: FaultProxy

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 })
  first = await startFaultProxy({ targetUrl: anvil.url })
  second = await startFaultProxy({ targetUrl: anvil.url })
})
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()])
  await anvil.stop()
})
beforeEach(async () => {
  await Promise.all([first.set({ kind: 'pass' }), second.set({ kind: 'pass' })])
  first.resetCounters()
  second.resetCounters()
})

/** `skipMs` moves the client's clock: pauses end without waiting for them. */
function clientOf(proxies: readonly FaultProxy[]): JsonRpcClient & { skip(ms: number): void } {
  let skippedMs = 0
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: proxies.map(({ url }) => ({ url: new Secret(url) })),
    now: () => Date.now() + skippedMs,
    timeoutMs: ampleMs,
    headProbeIntervalMs: Number.POSITIVE_INFINITY,
  })
  onTestFinished(() => client.close())
  return { ...client, skip: (ms) => (skippedMs += ms) }
}

async function refusalOf(run: Promise<unknown>): Promise<UpstreamUnavailableError> {
  const outcome = await run.catch((error: unknown) => error)
  if (!(outcome instanceof UpstreamUnavailableError))
    throw new Error('not refused as expected', { cause: outcome })
  return outcome
}

const faults: readonly (readonly [string, FaultMode, code: string, reason: RegExp])[] = [
  ['never answers', { kind: 'hang' }, 'REQUEST_TIMED_OUT', /timeout/],
  ['answers too late', { kind: 'latency', delayMs: 60_000 }, 'REQUEST_TIMED_OUT', /timeout/],
  ['sends one byte at a time', { kind: 'slowDrip', intervalMs: 200 }, 'REQUEST_TIMED_OUT', /timeout/],
  ['refuses connections', { kind: 'refuse' }, 'RPC_HTTP_ERROR', /unreachable \(ECONNREFUSED\)/],
  ['cuts connections', { kind: 'reset' }, 'RPC_HTTP_ERROR', /connection_lost/],
  ['does not speak HTTP', { kind: 'garbage' }, 'RPC_HTTP_ERROR', /connection_lost/],
  ['answers with a page', { kind: 'html200' }, 'RPC_HTTP_ERROR', /not_json/],
  ['answers with half of the JSON', { kind: 'halfJson' }, 'RPC_HTTP_ERROR', /not_json/],
  ['answers 500', { kind: 'http', status: 500 }, 'RPC_HTTP_ERROR', /http_status \(500\)/],
  ['answers 502', { kind: 'http', status: 502 }, 'RPC_HTTP_ERROR', /http_status \(502\)/],
  ['answers 401', { kind: 'http', status: 401 }, 'RPC_HTTP_ERROR', /http_status \(401\)/],
  ['answers 429', { kind: 'http', status: 429 }, 'RPC_HTTP_ERROR', /rate_limited \(429\)/],
  [
    'limits the rate in JSON',
    { kind: 'nodeError', code: 429, message: 'slow' },
    'RPC_HTTP_ERROR',
    /rate_limited/,
  ],
  ['answers another id', { kind: 'wrongId' }, 'RPC_HTTP_ERROR', /bad_answer/],
  ['redirects', { kind: 'redirect', location: 'http://127.0.0.1:1/' }, 'RPC_HTTP_ERROR', /redirect \(307\)/],
  ['sends too much', { kind: 'oversize', bytes: 65 * 1024 * 1024 }, 'RPC_HTTP_ERROR', /oversize/],
]

/** Silence is only seen by a deadline; every other fault is seen when it happens. */
const budgetFor = (code: string) => ({ timeoutMs: code === 'REQUEST_TIMED_OUT' ? shortMs : ampleMs })

describe.each(faults)('an endpoint that %s', (_name, mode, code, reason) => {
  test('alone makes a typed refusal within the budget, and works again when it is mended', async () => {
    const client = clientOf([first])
    await first.set(mode)
    const refusal = await refusalOf(client.request(chainIdCall, budgetFor(code)))
    expect(refusal).toMatchObject({ code, kind: 'upstream_unavailable', retryable: true })
    expect(String(refusal.cause)).toMatch(reason)

    await first.set({ kind: 'pass' })
    client.skip(30_000)
    expect(await client.request(chainIdCall)).toBe(chainIdHex)
  })

  test('beside a healthy one costs no answer', async () => {
    const client = clientOf([first, second])
    await first.set(mode)
    expect(await client.request(chainIdCall)).toBe(chainIdHex)
    expect(second.counters().callsByMethod).toEqual({ eth_chainId: 1 })
  })

  test('next to another like it makes a typed refusal within the budget', async () => {
    const client = clientOf([first, second])
    await Promise.all([first.set(mode), second.set(mode)])
    expect(await refusalOf(client.batch([chainIdCall, chainIdCall], budgetFor(code)))).toMatchObject({ code })
  })
})

describe('batches', () => {
  const calls = [chainIdCall, { method: 'net_version', params: [] }]
  const answers = [
    { ok: true, result: chainIdHex },
    { ok: true, result: '31337' },
  ]

  test('are one request and keep the order of the calls when the answers come in another', async () => {
    const client = clientOf([first])
    await first.set({ kind: 'reversedBatch' })
    expect(await client.batch(calls)).toEqual(answers)
    expect(first.counters()).toMatchObject({ requests: 1, batches: 1, calls: 2 })
  })

  test('with a repeated answer are refused', async () => {
    const client = clientOf([first])
    await first.set({ kind: 'repeatedAnswer' })
    expect(String((await refusalOf(client.batch(calls))).cause)).toMatch(/bad_answer/)
  })

  test('F-80: with fewer answers than calls are asked for in parts', async () => {
    const client = clientOf([first])
    await first.set({ kind: 'missingAnswer' })
    expect(await client.batch(calls)).toEqual(answers)
  })

  test('carry refusals of the node as values, and single requests throw them', async () => {
    const client = clientOf([first])
    const unknown = { method: 'no_such_method', params: [] }
    expect(await client.batch([chainIdCall, unknown])).toMatchObject([
      { ok: true },
      { ok: false, code: -32_601 },
    ])
    const thrown = await client.request(unknown).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(NodeError)
    expect(thrown).toMatchObject({ code: -32_601 })
  })

  test('without calls ask nobody', async () => {
    expect(await clientOf([first]).batch([])).toEqual([])
    expect(first.counters().requests).toBe(0)
  })
})

describe('pauses', () => {
  test('an endpoint that keeps failing is left alone and probed once per pause', async () => {
    const client = clientOf([first])
    await first.set({ kind: 'http', status: 500 })
    for (let call = 0; call < 20; call += 1) await refusalOf(client.request(chainIdCall))
    // The head, once four failed, and what was out beside it.
    expect(first.counters().requests).toBe(6)
    expect(client.health()).toMatchObject([{ healthy: false, consecutiveFailures: 5 }])

    client.skip(1_000)
    await Promise.all(Array.from({ length: 20 }, () => refusalOf(client.request(chainIdCall))))
    // One question, and the head beside it.
    expect([7, 8]).toContain(first.counters().requests)

    await first.set({ kind: 'pass' })
    // The head beside it may still be out, and fail after a pause.
    const askAfterPause = () => {
      client.skip(8_000)
      return client.request(chainIdCall).catch(() => undefined)
    }
    await expect.poll(askAfterPause).toBe(chainIdHex)
    expect(client.health()).toMatchObject([{ healthy: true, consecutiveFailures: 0 }])
  })

  test('an endpoint that asks for a pause gets it, up to 30 s, and the caller learns how long', async () => {
    const client = clientOf([first])
    await first.set({ kind: 'http', status: 429, retryAfter: '7' })
    expect((await refusalOf(client.request(chainIdCall))).retryAfterSeconds).toBe(7)
    await first.set({ kind: 'pass' })
    client.skip(5_000)
    expect((await refusalOf(client.request(chainIdCall))).retryAfterSeconds).toBe(2)
    expect(first.counters().requests).toBe(1)
    client.skip(2_000)
    expect(await client.request(chainIdCall)).toBe(chainIdHex)

    await first.set({ kind: 'http', status: 429, retryAfter: '86400' })
    expect((await refusalOf(client.request(chainIdCall))).retryAfterSeconds).toBe(30)
  })

  test('a slow endpoint that is not at fault is overtaken, then asked second', async () => {
    const client = clientOf([first, second])
    await first.set({ kind: 'latency', delayMs: 10_000 })
    expect(await client.request(chainIdCall)).toBe(chainIdHex)
    second.resetCounters()
    first.resetCounters()
    for (let call = 0; call < 5; call += 1) await client.request(chainIdCall)
    expect([first.counters().requests, second.counters().requests]).toEqual([0, 5])
    expect(client.health()).toMatchObject([{ healthy: true }, { healthy: true, consecutiveFailures: 0 }])
  })
})

describe('what must not be sent twice', () => {
  test('goes to one endpoint once, even when that one breaks the connection', async () => {
    const client = clientOf([first, second])
    await first.set({ kind: 'reset' })
    const transfer = { from: `0x${'11'.repeat(20)}`, to: `0x${'22'.repeat(20)}`, value: '0x1' }
    await refusalOf(client.request({ method: 'eth_sendTransaction', params: [transfer] }))
    expect([first.counters().requests, second.counters().requests]).toEqual([1, 0])
  })
})

describe('the caller', () => {
  test('can give up, which counts against nobody', async () => {
    const client = clientOf([first])
    await first.set({ kind: 'hang' })
    const caller = new AbortController()
    const call = client.request(chainIdCall, { signal: caller.signal, timeoutMs: 60_000 })
    setTimeout(() => caller.abort(), 50)
    expect(await refusalOf(call)).toMatchObject({ code: 'REQUEST_TIMED_OUT' })
    expect(client.health()).toMatchObject([{ healthy: true, consecutiveFailures: 0 }])
    expect(await refusalOf(client.request(chainIdCall, { signal: caller.signal }))).toMatchObject({
      code: 'REQUEST_TIMED_OUT',
    })
  })

  test('gets typed refusals after close, and close ends what is in flight', async () => {
    const client = clientOf([first])
    await first.set({ kind: 'hang' })
    const inFlight = refusalOf(client.request(chainIdCall, { timeoutMs: 60_000 }))
    await new Promise((resolve) => setTimeout(resolve, 50))
    await client.close()
    expect(await inFlight).toMatchObject({ code: 'RPC_HTTP_ERROR' })
    expect(await refusalOf(client.request(chainIdCall))).toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })
})

describe('credentials in a URL', () => {
  const secrets = ['canaryuser', 'canarypass', 'canarypath', 'canaryquery']

  function secretClient(): JsonRpcClient {
    const url = new URL(`${first.url}/v2/canarypath?key=canaryquery`)
    url.username = 'canaryuser'
    url.password = 'canarypass'
    const client = createJsonRpcClient({
      chainId: 'base',
      endpoints: [{ url: new Secret(url.href) }],
      timeoutMs: ampleMs,
    })
    onTestFinished(() => client.close())
    return client
  }

  test('reach the endpoint as path and Authorization header', async () => {
    expect(await secretClient().request(chainIdCall)).toBe(chainIdHex)
    const basic = Buffer.from('canaryuser:canarypass').toString('base64')
    expect(first.lastRequest()).toMatchObject({
      path: '/v2/canarypath?key=canaryquery',
      headers: { authorization: `Basic ${basic}` },
    })
  })

  test.each(faults)('are in no error and no alias of an endpoint that %s', async (_name, mode, code) => {
    const client = secretClient()
    await first.set(mode)
    const refusal = await refusalOf(client.request(chainIdCall, budgetFor(code)))
    const shown = [inspectDeep(refusal), inspectDeep(client.health()), refusal.stack ?? ''].join('\n')
    for (const secret of secrets) expect(shown).not.toContain(secret)
  })
})

function inspectDeep(value: unknown): string {
  const seen = new Set<unknown>()
  const visit = (one: unknown): string => {
    if (typeof one !== 'object' || one === null || seen.has(one)) return String(one)
    seen.add(one)
    return Reflect.ownKeys(one)
      .map((key) => `${String(key)}=${visit(Reflect.get(one, key))}`)
      .join('\n')
  }
  return visit(value)
}
