// Goal: the proxy shows clients what its mode says and counts what they sent, so that tests about faults
// test the fault that they name. Method: plain requests through it to a real node.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Anvil, type FaultMode, type FaultProxy, startAnvil, startFaultProxy } from '../src/index.ts'

let anvil: Anvil
let proxy: FaultProxy

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 })
  proxy = await startFaultProxy({ targetUrl: anvil.url })
  await ask('anvil_mine', ['0x9'])
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
beforeEach(async () => {
  await proxy.set({ kind: 'pass' })
  proxy.resetCounters()
})

const body = (method: string, params: readonly unknown[] = [], id = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

function post(json: unknown): Promise<Response> {
  return fetch(proxy.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
    redirect: 'manual',
    signal: AbortSignal.timeout(5_000),
  })
}

async function ask(method: string, params: readonly unknown[] = []): Promise<unknown> {
  const response = await post(body(method, params))
  return response.json()
}

describe('the truth', () => {
  test('passes through, and is counted by request, batch and method', async () => {
    expect(await ask('eth_chainId')).toEqual({ jsonrpc: '2.0', id: 1, result: '0x7a69' })
    await post([body('eth_chainId'), body('eth_blockNumber', [], 2)])
    expect(proxy.counters()).toEqual({
      requests: 2,
      batches: 1,
      calls: 3,
      callsByMethod: { eth_chainId: 2, eth_blockNumber: 1 },
    })
    proxy.resetCounters()
    expect(proxy.counters()).toEqual({ requests: 0, batches: 0, calls: 0, callsByMethod: {} })
  })
})

describe('a stale head', () => {
  test('is what every call about the newest block sees, in batches too', async () => {
    await proxy.set({ kind: 'staleHead', block: 4n })
    expect(await ask('eth_blockNumber')).toMatchObject({ result: '0x4' })
    expect(await ask('eth_getBlockByNumber', ['latest', false])).toMatchObject({ result: { number: '0x4' } })
    expect(await ask('eth_getBlockByNumber', ['0x7', false])).toMatchObject({ result: { number: '0x7' } })
    const batch = await post([body('eth_blockNumber'), body('eth_getBlockByNumber', ['latest', false], 2)])
    expect(await batch.json()).toMatchObject([{ result: '0x4' }, { result: { number: '0x4' } }])
  })
})

describe('a distant endpoint', () => {
  test('answers the truth after the delay that was drawn', async () => {
    const delaysMs = [80, 5]
    const drawDelayMs = () => delaysMs.shift() ?? 0
    await proxy.set({ kind: 'distant', drawDelayMs, drawError: () => false })
    const startedMs = performance.now()
    expect(await ask('eth_chainId')).toMatchObject({ result: '0x7a69' })
    // A timer may fire within the millisecond before.
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(79)
    expect(await ask('eth_chainId')).toMatchObject({ result: '0x7a69' })
    expect(delaysMs).toEqual([])
  })

  test('is overloaded when the draw says so', async () => {
    const isError = [true, false]
    const drawError = () => isError.shift() ?? false
    await proxy.set({ kind: 'distant', drawDelayMs: () => 0, drawError })
    expect((await post(body('eth_chainId'))).status).toBe(503)
    expect((await post(body('eth_chainId'))).status).toBe(200)
  })
})

describe('answers', () => {
  test.each<readonly [string, FaultMode, unknown]>([
    ['of another id', { kind: 'wrongId' }, { id: 1_000_001, result: '0x7a69' }],
    [
      'that lie',
      { kind: 'lie', rewrite: ({ method }) => `no ${method}` },
      { id: 1, result: 'no eth_chainId' },
    ],
    ['that refuse', { kind: 'nodeError', code: -32_000, message: 'x' }, { id: 1, error: { code: -32_000 } }],
    [
      'that know no such method',
      { kind: 'unsupported', methods: ['eth_chainId'] },
      { error: { code: -32_601 } },
    ],
  ])('%s', async (_name, mode, expected) => {
    await proxy.set(mode)
    expect(await ask('eth_chainId')).toMatchObject(Object(expected))
  })

  test.each<
    readonly [FaultMode['kind'] & ('reversedBatch' | 'missingAnswer' | 'repeatedAnswer'), readonly number[]]
  >([
    ['reversedBatch', [3, 2, 1]],
    ['missingAnswer', [1, 2]],
    ['repeatedAnswer', [1, 2, 1]],
  ])('of a %s', async (kind, ids) => {
    await proxy.set({ kind })
    const response = await post([1, 2, 3].map((id) => body('eth_chainId', [], id)))
    expect(await response.json()).toMatchObject(ids.map((id) => ({ id })))
  })

  test('with a status, a page or a redirect', async () => {
    await proxy.set({ kind: 'http', status: 429, retryAfter: '7' })
    const limited = await post(body('eth_chainId'))
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
    await proxy.set({ kind: 'html200' })
    const page = await post(body('eth_chainId'))
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html>')])
    await proxy.set({ kind: 'redirect', location: 'http://127.0.0.1:1/' })
    expect((await post(body('eth_chainId'))).status).toBe(307)
  })

  test('of half a JSON text and of too much white space', async () => {
    await proxy.set({ kind: 'halfJson' })
    const half = await (await post(body('eth_chainId'))).text()
    expect(() => JSON.parse(half)).toThrow(SyntaxError)
    await proxy.set({ kind: 'oversize', bytes: 1_000_000 })
    const long = await (await post(body('eth_chainId'))).text()
    expect(long.length).toBeGreaterThan(1_000_000)
    expect(JSON.parse(long)).toMatchObject({ result: '0x7a69' })
  })
})

describe('connections', () => {
  test.each<readonly [string, FaultMode]>([
    ['are refused', { kind: 'refuse' }],
    ['are cut', { kind: 'reset' }],
    ['bring something else than HTTP', { kind: 'garbage' }],
  ])('%s, and work at the same address afterwards', async (_name, mode) => {
    await proxy.set(mode)
    await expect(post(body('eth_chainId'))).rejects.toThrow('fetch failed')
    await proxy.set({ kind: 'pass' })
    expect(await ask('eth_chainId')).toMatchObject({ result: '0x7a69' })
  })

  test('that hang are ended by stop', async () => {
    const other = await startFaultProxy({ targetUrl: anvil.url })
    await other.set({ kind: 'hang' })
    const hanging = fetch(other.url, { method: 'POST', body: '{}' })
    const ended = expect(hanging).rejects.toThrow('fetch failed')
    while (other.counters().requests === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await other.stop()
    await ended
  })
})
