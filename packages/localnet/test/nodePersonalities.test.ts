// Goal: each personality gives the answer that its page documents when its condition is met, and the truth otherwise.
// Method: plain requests through the proxy, to a real node and to a server that says what it was asked.
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Anvil,
  type FaultProxy,
  nodePersonalities,
  type PersonalityName,
  startAnvil,
  startFaultProxy,
} from '../src/index.ts'

let anvil: Anvil
let proxy: FaultProxy
let other: FaultProxy
const server = createServer((request, response) =>
  response.end(JSON.stringify({ id: 1, result: `${request.method} ${request.url}` })),
)

const event = `0x${'11'.repeat(32)}`
/** Emits `event` with no topics but that one. */
const emitter = `0x7f${event.slice(2)}60006000a100`
const emitterAddress = `0x${'e0'.repeat(20)}`

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proxy = await startFaultProxy({ targetUrl: anvil.url })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  other = await startFaultProxy({ targetUrl: `http://127.0.0.1:${port}` })
  await result('anvil_setCode', [emitterAddress, emitter])
  await result('anvil_mine', ['0x100'])
})
afterAll(async () => {
  await proxy.stop()
  await other.stop()
  server.close()
  await anvil.stop()
})

const be = (name: PersonalityName) => {
  const personality = nodePersonalities[name]
  return (personality.family === 'ethereum' ? proxy : other).set({ kind: 'hosted', personality })
}

const call = (method: string, params: readonly unknown[] = [], id = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

function post(json: unknown, path = ''): Promise<Response> {
  const to = path === '' ? proxy.url : `${other.url}${path}`
  return fetch(to, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
}

async function answer(json: unknown): Promise<unknown> {
  const response = await post(json)
  return { status: response.status, ...Object(await response.json()) }
}

async function result(method: string, params: readonly unknown[] = []): Promise<unknown> {
  const { result: found, error } = Object(await (await post(call(method, params))).json())
  // The node's own word on a busy machine.
  if (error?.message === 'http request handling timeout') return result(method, params)
  if (error !== undefined) throw new Error(error.message)
  return found
}

const hex = (value: number) => `0x${value.toString(16)}`
const logs = (blocks: number) => call('eth_getLogs', [{ fromBlock: '0x5', toBlock: hex(4 + blocks) }])
const calls = (count: number) => Array.from({ length: count }, (_, id) => call('eth_chainId', [], id + 1))
const send = () => result('eth_sendTransaction', [{ from: sender, to: emitterAddress, gas: '0x30000' }])
async function blockOf(hash: unknown): Promise<unknown> {
  await expect.poll(() => result('eth_getTransactionReceipt', [hash])).not.toBeNull()
  return Object(await result('eth_getTransactionReceipt', [hash]))['blockNumber']
}
const sender = '0xf39Fd6e51aad88F6F4ce6aB8827279cfFFb92266'

test('O-52: every personality names a public page, or says that none is known', () => {
  for (const { source } of Object.values(nodePersonalities))
    expect(source).toMatch(/^(https:\/\/[^\s]+\.[^\s]+\/.+|unconfirmed)$/)
})

describe('O-52: a node refuses', () => {
  test.each<[PersonalityName, number, RegExp]>([
    ['log-range-10', 10, /\[0x5, 0xe\]/],
    ['log-range-500', 500, /\[0x5, 0x1f8\]/],
    ['log-range-2000', 2_000, /2K block range.*\[0x5, 0x7d4\]/],
  ])('%s: a wider range', async (name, most, words) => {
    await be(name)
    expect(await answer(logs(most))).toMatchObject({ result: [] })
    expect(await answer(logs(most + 1))).toMatchObject({ error: { message: expect.stringMatching(words) } })
  })

  test.each<[PersonalityName, number, number]>([
    ['batch-none', 1, 200],
    ['batch-3', 3, 500],
    ['batch-10', 10, 200],
    ['batch-100', 100, 200],
  ])('%s: a longer batch, as a whole', async (name, most, status) => {
    await be(name)
    expect(await (await post(calls(most))).json()).toHaveLength(most)
    expect(await answer(calls(most + 1))).toMatchObject({ status, id: null, error: {} })
  })

  test('body-413: a longer body, as plain text', async () => {
    await be('body-413')
    const refused = await post(calls(60))
    expect([refused.status, await refused.text()]).toEqual([413, 'Request Entity Too Large'])
  })

  test.each<[PersonalityName, string, string | null]>([
    ['rate-json', 'application/json', null],
    ['rate-retry-after', 'application/json', '1'],
    ['rate-html', 'text/html', null],
  ])('%s: more requests in a second', async (name, type, retryAfter) => {
    await be(name)
    const answers = await Promise.all(Array.from({ length: 60 }, () => post(call('eth_chainId'))))
    const refused = answers.filter(({ status }) => status === 429)
    // On a busy machine they take more than a second.
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.headers.get('content-type')).toBe(type)
    expect(refused[0]?.headers.get('retry-after')).toBe(retryAfter)
  })

  test('pruned: the state of an old block', async () => {
    await be('pruned')
    expect(await answer(call('eth_getBalance', [sender, 'latest']))).toMatchObject({
      result: expect.anything(),
    })
    expect(await answer(call('eth_getBalance', [sender, '0x5']))).toMatchObject({ error: { code: -32_000 } })
  })

  test('block-object: a block that is an object', async () => {
    await be('block-object')
    const asked = call('eth_getBalance', [sender, { blockNumber: '0x5' }])
    expect(await answer(asked)).toMatchObject({ error: { code: -32_602 } })
    expect(await answer(logs(1))).toMatchObject({ result: [] })
  })

  test('log-entries-10000: logs that are more than it lists', async () => {
    const { when, ...rest } = nodePersonalities['log-entries-10000']
    const hash = await send()
    const blockNumber = await blockOf(hash)
    const asked = call('eth_getLogs', [{ fromBlock: blockNumber, toBlock: blockNumber }])
    await proxy.set({ kind: 'hosted', personality: { ...rest, when } })
    expect(await answer(asked)).toMatchObject({ result: [{}] })
    await proxy.set({ kind: 'hosted', personality: { ...rest, when: { ...when, above: 0 } } })
    expect(await answer(asked)).toMatchObject({ error: { code: -32_005 } })
  })

  test('error-200: one request of four', async () => {
    await be('error-200')
    const answers = []
    for (let turn = 0; turn < 8; turn += 1) answers.push(await answer(call('eth_chainId')))
    expect(answers.filter((one) => 'error' in Object(one))).toHaveLength(2)
  })
})

describe('O-52: a node shows less than there is', () => {
  test('late-logs and late-receipts: logs are missing for three seconds', async () => {
    const hash = await send()
    const blockNumber = await blockOf(hash)
    for (const [name, asked, path] of [
      ['late-logs', call('eth_getLogs', [{ fromBlock: blockNumber, toBlock: blockNumber }]), 'result'],
      ['late-receipts', call('eth_getTransactionReceipt', [hash]), 'logs'],
    ] as const) {
      await be(name)
      const shown = async () => {
        const found = Object(Object(await answer(asked))['result'])
        return path === 'logs' ? found['logs'] : found
      }
      expect(await shown()).toEqual([])
      await expect.poll(shown, { timeout: 5_000 }).toHaveLength(1)
    }
  })

  test('empty-logs: every second list', async () => {
    const hash = await send()
    const blockNumber = await blockOf(hash)
    const asked = call('eth_getLogs', [{ fromBlock: blockNumber, toBlock: blockNumber }])
    await be('empty-logs')
    expect(await answer(asked)).toMatchObject({ result: [{}] })
    expect(await answer(asked)).toMatchObject({ result: [] })
  })

  test('balancer: the head jumps, and nothing is above it', async () => {
    await proxy.set({ kind: 'pass' })
    const head = Number(await result('eth_blockNumber'))
    await be('balancer')
    const heads = []
    for (let turn = 0; turn < 4; turn += 1) heads.push(Number(await result('eth_blockNumber')) - head)
    expect(heads).toEqual([0, -2, -1, -3])
    expect(await result('eth_getBlockByNumber', [hex(head), false])).toMatchObject({ number: hex(head) })
    expect(await result('eth_getBlockByNumber', [hex(head), false])).toBeNull()
    await expect(result('eth_call', [{ to: sender }, hex(head)])).rejects.toThrow('header not found')
  })

  test('long-answers: one list in three is a hundred megabytes long', async () => {
    await be('long-answers')
    const lengths = []
    for (let turn = 0; turn < 3; turn += 1)
      lengths.push((await (await post(logs(1))).arrayBuffer()).byteLength)
    expect(lengths.map((length) => length > 100_000_000)).toEqual([false, false, true])
  })
})

describe('O-52: nodes of other families', () => {
  test('solana-versions: a lower version than the newest', async () => {
    await be('solana-versions')
    const asked = (version: number) =>
      call('getTransaction', ['x', { maxSupportedTransactionVersion: version }])
    const rpc = async (version: number) => Object(await (await post(asked(version), '/')).json())
    expect(await rpc(1)).toMatchObject({ result: 'POST /' })
    expect(await rpc(0)).toMatchObject({ error: { code: -32_015 } })
  })

  test('bitcoin-history: the outputs of an address, by its path', async () => {
    await be('bitcoin-history')
    const get = (path: string) => fetch(`${other.url}${path}`)
    expect(await (await get('/api/blocks/tip/height')).json()).toMatchObject({
      result: 'GET /api/blocks/tip/height',
    })
    const refused = await get('/api/address/bc1q/utxo')
    expect([refused.status, await refused.text()]).toEqual([400, 'Too many history entries'])
  })

  test('hyperliquid-hash: every second transaction, by the type of the body', async () => {
    await be('hyperliquid-hash')
    const asked = async (type: string) => (await post({ type }, '/explorer')).json()
    expect(await asked('txDetails')).toMatchObject({ result: 'POST /explorer' })
    expect(await asked('txDetails')).toMatchObject({ type: 'error' })
    expect(await asked('userDetails')).toMatchObject({ result: 'POST /explorer' })
  })

  test.each<[PersonalityName, number]>([
    ['bitcoin-rate', 429],
    ['tron-rate', 403],
    ['hyperliquid-rate', 429],
    ['lighter-rate', 429],
  ])('%s: more requests in a second', async (name, status) => {
    await be(name)
    const answers = await Promise.all(Array.from({ length: 20 }, () => post({}, '/wallet/getnowblock')))
    expect(answers.filter((one) => one.status === status).length).toBeGreaterThan(4)
    expect(answers.filter((one) => one.status === 200).length).toBeGreaterThan(3)
  })
})
