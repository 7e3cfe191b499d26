// Goal: what viem reads over our agreement of endpoints is what enough of them say, or an error; nobody else is
// asked. Method: a real node behind three proxies, of which one lies, hangs or lags; a contract that redirects
// its readers to a server of its own.
import { createServer } from 'node:http'
import type { Hex } from '@causeway/core'
import { agreedRead, agreement, agreeOnHead, type ChainHead, type PollingClient } from '@causeway/families'
import { type FaultMode, type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { createJsonRpcClient, toQuantity } from '@causeway/rpc'
import { createPublicClient, encodeErrorResult, erc20Abi, http, offchainLookupAbiItem, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type EvmTestbed, startEvmTestbed } from './evmTestbed.ts'

let testbed: EvmTestbed
let proxies: readonly FaultProxy[]
let head: ChainHead

beforeAll(async () => {
  testbed = await startEvmTestbed()
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: testbed.bed.anvil.url })))
  await testbed.node({ method: 'anvil_mine', params: ['0x3'] })
  head = await agreeOnHead(clientOfThree())
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await testbed?.stop()
})
afterEach(() => setAll())

async function setAll(...modes: readonly FaultMode[]): Promise<void> {
  await Promise.all(proxies.map((proxy, index) => proxy.set(modes[index] ?? { kind: 'pass' })))
  for (const proxy of proxies) proxy.resetCounters()
}

const opened: { close(): Promise<void> }[] = []
afterAll(() => Promise.all(opened.map((client) => client.close())))

function clientOfThree(): PollingClient {
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: proxies.map(({ url }, index) => ({ url, alias: `e${index + 1}` })),
    timeoutMs: 20_000,
    headProbeIntervalMs: Number.POSITIVE_INFINITY,
  })
  opened.push(client)
  return client
}

const liar = (word: string): FaultMode => ({
  kind: 'lie',
  rewrite: (call, result) => (call.method === 'eth_call' ? `0x${word.padStart(64, '0')}` : result),
})

/** viem as the page about agreed reads shows it. */
function openReader() {
  return createPublicClient({ transport: agreement(clientOfThree()), ccipRead: false })
}

function supply(at: { blockNumber: bigint } | { blockHash: Hex } = { blockHash: head.hash }) {
  const reader = openReader()
  return agreedRead(
    reader.readContract({ address: testbed.token, abi: erc20Abi, functionName: 'totalSupply', ...at }),
  )
}

describe('an endpoint of three', () => {
  test.each(['0', '1', 'ff'])('that lies first gets no wrong value out: %s', async (word) => {
    const truth = await supply()
    await setAll(liar(word), { kind: 'latency', delayMs: 20 }, { kind: 'latency', delayMs: 20 })
    expect(await supply()).toBe(truth)
    expect(await supply({ blockNumber: head.number })).toBe(truth)
  })

  test('that is silent takes nothing', async () => {
    const truth = await supply()
    await setAll({ kind: 'hang' })
    expect(await supply()).toBe(truth)
  })

  test('that is behind says nothing about a block that it does not have', async () => {
    const truth = await supply()
    await setAll({ kind: 'nodeError', code: -32_000, message: 'header not found' })
    expect(await supply()).toBe(truth)
  })

  test('cannot decide where the other two fail', async () => {
    await setAll({ kind: 'pass' }, { kind: 'refuse' }, { kind: 'nodeError', code: -32_000, message: 'busy' })
    await expect(supply()).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })
})

test('endpoints that all say something else are a disagreement', async () => {
  await setAll(liar('1'), liar('2'))
  await expect(supply()).rejects.toMatchObject({ code: 'UPSTREAM_DISAGREEMENT' })
})

test('a block that left the chain is not read', async () => {
  const gone = `0x${'12'.repeat(32)}` as const
  await expect(supply({ blockHash: gone })).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
})

test('nothing is asked twice', async () => {
  await setAll(
    ...proxies.map((): FaultMode => ({ kind: 'nodeError', code: -32_005, message: 'limit exceeded' })),
  )
  await expect(supply()).rejects.toThrow()
  expect(proxies.map((proxy) => proxy.counters().requests)).toEqual([1, 1, 1])
})

test('what is asked at once goes out as one batch to each endpoint', async () => {
  await setAll()
  const reader = openReader()
  const at = { blockHash: head.hash }
  const asked = { address: testbed.token, abi: erc20Abi, ...at } as const
  const [decimals, symbol, code] = await Promise.all([
    reader.readContract({ ...asked, functionName: 'decimals' }),
    reader.readContract({ ...asked, functionName: 'symbol' }),
    reader.getCode({ address: testbed.owner, blockNumber: head.number }),
  ])
  expect([decimals, symbol, code]).toEqual([6, 'USDC', undefined])
  await expect.poll(() => proxies.map((proxy) => proxy.counters().requests)).toEqual([1, 1, 1])
})

describe('logs between heights', () => {
  const range = () => ({
    address: testbed.token,
    fromBlock: toQuantity(1n),
    toBlock: toQuantity(head.number),
  })
  /** Asked at once with the blocks at the ends of the range. */
  async function logs(ends = [0n, head.number]): Promise<number> {
    const reader = openReader()
    const headers = ends.map((height) =>
      reader.request({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] }),
    )
    const asked = Promise.all([reader.request({ method: 'eth_getLogs', params: [range()] }), ...headers])
    return (await agreedRead(asked))[0].length
  }
  /** Its chain ends below the range, or goes on with other blocks; it lists what it has: nothing. */
  const listing = (last: object | null): FaultMode => ({
    kind: 'lie',
    rewrite(call, result) {
      if (call.method === 'eth_getLogs') return []
      const isLast = call.method === 'eth_getBlockByNumber' && call.params[0] === toQuantity(head.number)
      return isLast ? last && Object.assign({}, result, last) : result
    },
  })

  test('F-121: are those that enough endpoints list on one chain', async () => {
    const truth = await logs()
    expect(truth).toBeGreaterThan(0)
    await setAll(listing(null))
    expect(await logs()).toBe(truth)
  })

  test.each<[string, FaultMode, FaultMode]>([
    ['two that are behind', listing(null), listing(null)],
    [
      'one that is behind and one on another branch',
      listing(null),
      listing({ hash: `0x${'ab'.repeat(32)}` }),
    ],
  ])('F-121: lose no event to %s, of three', async (_name, ...late) => {
    await setAll(...late, { kind: 'latency', delayMs: 50 })
    await expect(logs()).rejects.toMatchObject({ kind: expect.stringMatching(/^upstream_/) })
  })

  test('F-121: count for nothing without the blocks at their ends', async () => {
    await expect(logs([])).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
    await expect(logs([head.number])).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })
})

describe('what no block fixes is refused before anybody is asked', () => {
  const reader = openReader
  const asked = () => ({ address: testbed.token, abi: erc20Abi, functionName: 'totalSupply' }) as const
  test.each<[string, () => Promise<unknown>]>([
    ['a call without block', () => reader().readContract(asked())],
    ['latest', () => reader().readContract({ ...asked(), blockTag: 'latest' })],
    ['pending', () => reader().readContract({ ...asked(), blockTag: 'pending' })],
    ['safe', () => reader().readContract({ ...asked(), blockTag: 'safe' })],
    ['finalized', () => reader().readContract({ ...asked(), blockTag: 'finalized' })],
    ['earliest', () => reader().getBalance({ address: testbed.owner, blockTag: 'earliest' })],
    ['the newest number', () => reader().getBlockNumber()],
    ['the newest block', () => reader().getBlock()],
    ['the gas price', () => reader().getGasPrice()],
    ['logs up to the newest', () => reader().getLogs({ address: testbed.token, fromBlock: 1n })],
    ['a transaction', () => reader().getTransaction({ hash: `0x${'ab'.repeat(32)}` })],
    ['sending', () => reader().sendRawTransaction({ serializedTransaction: '0x02' })],
  ])('%s', async (_name, read) => {
    await setAll()
    await expect(agreedRead(read())).rejects.toMatchObject({ name: 'UnpinnedReadError' })
    expect(proxies.map((proxy) => proxy.counters().requests)).toEqual([0, 0, 0])
  })
})

describe('a contract that redirects its readers (EIP-3668)', () => {
  const address: Hex = `0x${'cc'.repeat(20)}`
  const abi = parseAbi(['function owner() view returns (uint256)'])
  const question = { address, abi, functionName: 'owner' } as const

  async function redirecting(): Promise<{ readonly hits: () => number }> {
    let hits = 0
    const gateway = createServer((_request, response) => {
      hits += 1
      // An answer would be taken back to the contract, which redirects again, without end.
      response.statusCode = 404
      response.end()
    })
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => new Promise((resolve) => void gateway.close(() => resolve())))
    const bound = gateway.address()
    if (bound === null || typeof bound === 'string') throw new Error('the gateway has no port')
    const lookup = encodeErrorResult({
      abi: [offchainLookupAbiItem],
      args: [address, [`http://127.0.0.1:${bound.port}/{data}`], '0x12', '0x12345678', '0x'],
    })
    // Reverts with what stands behind its own fourteen bytes.
    const size = ((lookup.length - 2) / 2).toString(16).padStart(4, '0')
    const code = `0x61${size}600e60003961${size}6000fd${lookup.slice(2)}`
    await testbed.node({ method: 'anvil_setCode', params: [address, code] })
    await testbed.node({ method: 'anvil_mine', params: ['0x1'] })
    return { hits: () => hits }
  }

  test('moves viem over one endpoint, and nobody here', async () => {
    const { hits } = await redirecting()
    const plain = createPublicClient({ transport: http(testbed.bed.anvil.url, { retryCount: 0 }) })
    await expect(plain.readContract(question)).rejects.toThrow()
    expect(hits()).toBe(1)
    const at = { blockHash: (await agreeOnHead(clientOfThree())).hash }
    await expect(openReader().readContract({ ...question, ...at })).rejects.toThrow('revert')
    // Not even where somebody forgot to say so.
    const trusting = createPublicClient({ transport: agreement(clientOfThree()) })
    await expect(trusting.readContract({ ...question, ...at })).rejects.toThrow('revert')
    expect(hits()).toBe(1)
  })
})
