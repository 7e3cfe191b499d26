// Goal: what feeds a signature is said by enough of the configured endpoints, and endpoints that lag are
// not read. Method: one real node behind proxies, of which some lie, hang or show an old chain.
import { ConfigurationError, UpstreamDisagreementError, UpstreamUnavailableError } from '@causeway/core'
import { type Anvil, type FaultMode, type FaultProxy, startAnvil, startFaultProxy } from '@causeway/localnet'
import {
  createJsonRpcClient,
  type JsonRpcClient,
  type JsonRpcClientOptions,
  MalformedAnswerError,
  NodeError,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
} from '@causeway/rpc'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'

const blockCall = { method: 'eth_getBlockByNumber', params: ['0x5', false] }
const lie: FaultMode = { kind: 'lie', rewrite: () => ({ hash: '0xbad' }) }

let anvil: Anvil
let proxies: readonly FaultProxy[]

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 })
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: anvil.url })))
  const client = clientOf(1)
  await client.request({ method: 'anvil_mine', params: ['0x14'] })
  await client.close()
})
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  await anvil.stop()
})
beforeEach(async () => {
  await setAll({ kind: 'pass' }, { kind: 'pass' }, { kind: 'pass' })
})

async function setAll(...modes: readonly FaultMode[]): Promise<void> {
  await Promise.all(proxies.map((proxy, index) => proxy.set(modes[index] ?? { kind: 'pass' })))
  for (const proxy of proxies) proxy.resetCounters()
}

function clientOf(count: number, options: Partial<JsonRpcClientOptions> = {}): JsonRpcClient {
  return createJsonRpcClient({
    chainId: 'base',
    endpoints: proxies.slice(0, count).map(({ url }, index) => ({ url, alias: `e${index + 1}` })),
    timeoutMs: 20_000,
    headProbeIntervalMs: Number.POSITIVE_INFINITY,
    ...options,
  })
}

function testClient(count: number, options: Partial<JsonRpcClientOptions> = {}): JsonRpcClient {
  const client = clientOf(count, options)
  onTestFinished(() => client.close())
  return client
}

describe('agree', () => {
  test('returns what two of three say, and who said it', async () => {
    await setAll({ kind: 'pass' }, lie, { kind: 'pass' })
    const { answers, agreeingEndpoints } = await testClient(3).agree([blockCall])
    expect(answers).toMatchObject([{ ok: true, result: { number: '0x5' } }])
    expect(agreeingEndpoints.toSorted()).toEqual(['e1', 'e3'])
  })

  test('agrees with one dead endpoint of three', async () => {
    await setAll({ kind: 'refuse' })
    const { agreeingEndpoints } = await testClient(3).agree([blockCall])
    expect(agreeingEndpoints.toSorted()).toEqual(['e2', 'e3'])
  })

  test('does not wait for a slow minority, and gives its call up', async () => {
    await setAll({ kind: 'hang' })
    const client = testClient(3, { timeoutMs: 60_000 })
    const { agreeingEndpoints } = await client.agree([blockCall])
    expect(agreeingEndpoints.toSorted()).toEqual(['e2', 'e3'])
    // A call given up is noted with the time that it had; one still out has none.
    await expect.poll(() => client.health()[0]?.latencyMs).toBeTypeOf('number')
    expect(client.health()).toMatchObject([{ consecutiveFailures: 0 }, {}, {}])
  })

  test.each<readonly [string, readonly FaultMode[]]>([
    ['one lies and one is dead', [lie, { kind: 'refuse' }]],
    ['one lies and one never answers', [lie, { kind: 'hang' }]],
    ['all say something else', [lie, { kind: 'lie', rewrite: () => ({ hash: '0xother' }) }]],
  ])('refuses as a disagreement when %s', async (_name, modes) => {
    await setAll(...modes)
    const refusal = await testClient(3)
      .agree([blockCall], { timeoutMs: 3_000 })
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(UpstreamDisagreementError)
    expect(refusal).toMatchObject({ code: 'UPSTREAM_DISAGREEMENT', data: { chainId: 'base' } })
  })

  test.each<readonly [string, readonly FaultMode[], string]>([
    ['two are dead', [{ kind: 'refuse' }, { kind: 'refuse' }], 'RPC_HTTP_ERROR'],
    ['two never answer', [{ kind: 'hang' }, { kind: 'hang' }], 'REQUEST_TIMED_OUT'],
    ['two answer nonsense', [{ kind: 'html200' }, { kind: 'garbage' }], 'RPC_HTTP_ERROR'],
  ])('refuses as silence when %s', async (_name, modes, code) => {
    await setAll(...modes)
    const refusal = await testClient(3)
      .agree([blockCall], { timeoutMs: 3_000 })
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(UpstreamUnavailableError)
    expect(refusal).toMatchObject({ code })
  })

  test('never lowers the threshold because endpoints are paused', async () => {
    const client = testClient(3)
    await setAll({ kind: 'http', status: 500 }, { kind: 'http', status: 500 })
    for (let round = 0; round < 6; round += 1) await client.agree([blockCall]).catch(() => undefined)
    expect(client.health()).toMatchObject([{ healthy: false }, { healthy: false }, { healthy: true }])
    const asked = proxies[0]?.counters().requests
    await expect(client.agree([blockCall])).rejects.toBeInstanceOf(UpstreamUnavailableError)
    expect(proxies[0]?.counters().requests).toBe(asked)
  })

  test('asks each endpoint once, all calls in one request', async () => {
    await testClient(3, { threshold: 3 }).agree([blockCall, { method: 'net_version', params: [] }])
    for (const proxy of proxies) {
      expect(proxy.counters()).toMatchObject({ batches: 1, callsByMethod: { net_version: 1 } })
    }
  })

  test('compares only what the caller names', async () => {
    const decorated: FaultMode = {
      kind: 'lie',
      rewrite: (_call, result) => (typeof result === 'object' ? { ...result, extra: '0x1' } : result),
    }
    await setAll(decorated, { kind: 'pass' }, { kind: 'refuse' })
    const client = testClient(3)
    await expect(client.agree([blockCall])).rejects.toBeInstanceOf(UpstreamDisagreementError)
    const { agreeingEndpoints } = await client.agree([blockCall], {
      project: ([answer]) => (answer?.ok ? Reflect.get(Object(answer.result), 'hash') : undefined),
    })
    expect(agreeingEndpoints.toSorted()).toEqual(['e1', 'e2'])
  })

  const late: FaultMode = { kind: 'latency', delayMs: 300 }
  const refusing: FaultMode = { kind: 'nodeError', code: -32_000, message: 'header not found' }
  const unreadable: FaultMode = { kind: 'lie', rewrite: () => 'nonsense' }
  /** Throws for any answer that is no block, as readers do. */
  const heightIn = ([answer]: readonly RpcAnswer[]) => {
    if (answer?.ok !== true) throw new NodeError(answer ?? { code: 0, message: 'no answer' })
    return parseQuantity(parseRecord(answer.result, 'block')['number'], 'block')
  }

  test.each<readonly [string, FaultMode]>([
    ['refuses', refusing],
    ['answers nonsense', unreadable],
  ])('F-66: one that %s first ends no agreement of the others', async (_name, mode) => {
    await setAll(mode, late, late)
    const { answers, agreeingEndpoints } = await testClient(3).agree([blockCall], { project: heightIn })
    expect(heightIn(answers)).toBe(5n)
    expect(agreeingEndpoints.toSorted()).toEqual(['e2', 'e3'])
  })

  test.each<readonly [string, FaultMode, typeof NodeError | typeof MalformedAnswerError]>([
    ['refuse', refusing, NodeError],
    ['answer nonsense', unreadable, MalformedAnswerError],
  ])(
    'F-66: that enough of them %s is what they agree on, for its reader to tell',
    async (_name, mode, kind) => {
      await setAll(mode, { kind: 'pass' }, mode)
      const { answers, agreeingEndpoints } = await testClient(3).agree([blockCall], { project: heightIn })
      expect(() => heightIn(answers)).toThrow(kind)
      expect(agreeingEndpoints.toSorted()).toEqual(['e1', 'e3'])
    },
  )

  test('takes the word of a single configured endpoint', async () => {
    expect(await testClient(1).agree([blockCall])).toMatchObject({ agreeingEndpoints: ['e1'] })
  })
})

describe('an endpoint whose head lags', () => {
  const stale: FaultMode = { kind: 'staleHead', block: 3n }
  const headCall = { method: 'eth_blockNumber', params: [] }

  test('is not asked until it has caught up', async () => {
    const client = testClient(2)
    await setAll(stale)
    await client.probeHeads()
    expect(client.health()).toMatchObject([
      { alias: 'e1', healthy: false, headBlock: 3n },
      { alias: 'e2', healthy: true, headBlock: 20n },
    ])
    expect(await client.request(headCall)).toBe('0x14')

    await setAll({ kind: 'pass' })
    await client.probeHeads()
    expect(client.health()).toMatchObject([{ healthy: true, headBlock: 20n }, { healthy: true }])
  })

  test('is noticed by the rounds that run beside other calls', async () => {
    const client = testClient(2, { headProbeIntervalMs: 0 })
    await setAll(stale)
    await client.request({ method: 'eth_chainId', params: [] })
    await client.probeHeads()
    expect(client.health()).toMatchObject([{ healthy: false }, { healthy: true }])
  })

  test('is refused even when the other one dies, until a new round finds nothing better', async () => {
    let skippedMs = 0
    const client = testClient(2, { now: () => Date.now() + skippedMs })
    await setAll(stale)
    await client.probeHeads()
    await setAll(stale, { kind: 'http', status: 500 })
    await expect(client.request(headCall)).rejects.toBeInstanceOf(UpstreamUnavailableError)
    for (let call = 0; call < 4; call += 1) await client.request(headCall).catch(() => undefined)
    skippedMs = 1_000
    await expect(client.request(headCall), 'probes the dead one').rejects.toBeInstanceOf(
      UpstreamUnavailableError,
    )
    expect(await client.request(headCall)).toBe('0x3')
  })

  test('is compared anew within the budget of the caller, not within that of the round', async () => {
    let skippedMs = 0
    const client = testClient(2, { now: () => Date.now() + skippedMs })
    await setAll(stale)
    await client.probeHeads()
    await setAll({ kind: 'hang' }, { kind: 'http', status: 500 })
    for (let call = 0; call < 5; call += 1) await client.request(headCall).catch(() => undefined)
    skippedMs = 1_000
    await client.request(headCall).catch(() => undefined) // The probe of the second, which pauses it again.
    const order: string[] = []
    const refused = client.request(headCall, { timeoutMs: 50 }).catch(() => order.push('refused'))
    await Promise.all([refused, client.probeHeads().then(() => order.push('round'))])
    expect(order).toEqual(['refused', 'round'])
  })

  test('cannot be made of two honest ones by a single far head', async () => {
    await setAll({ kind: 'lie', rewrite: () => '0xffffffff' })
    const client = testClient(3)
    await client.probeHeads()
    expect(client.health()).toMatchObject([{}, { healthy: true }, { healthy: true }])
  })
})

describe('askEach', () => {
  test('tells what every endpoint says, and which one says nothing', async () => {
    await setAll({ kind: 'pass' }, { kind: 'html200' }, { kind: 'lie', rewrite: () => '0x1' })
    const each = await testClient(3).askEach([{ method: 'eth_chainId', params: [] }])
    const hostOf = (index: number) => new URL(proxies[index]?.url ?? '').host
    expect(each).toEqual([
      { alias: 'e1', voice: hostOf(0), answers: [{ ok: true, result: '0x7a69' }] },
      { alias: 'e2', voice: hostOf(1), answers: undefined },
      { alias: 'e3', voice: hostOf(2), answers: [{ ok: true, result: '0x1' }] },
    ])
  })
})

describe('createJsonRpcClient refuses', () => {
  const base = { chainId: 'base', now: Date.now }
  test.each([
    ['no endpoint', []],
    ['one endpoint twice, which would vote twice', ['http://rpc.example/a', 'http://rpc.example/a']],
    ['what is no URL', ['rpc.example']],
  ])('%s', (_name, urls) => {
    expect(() => createJsonRpcClient({ ...base, endpoints: urls.map((url) => ({ url })) })).toThrow(
      ConfigurationError,
    )
  })
})
