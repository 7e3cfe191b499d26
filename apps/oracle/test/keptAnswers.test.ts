// Goal: an answer that was kept is given for no block that enough endpoints show as replaced. Method: `main.ts`
// over three endpoints of a real node, whose slow look never comes; a real reorganization, and endpoints that
// show one before the others do.
import { type FaultProxy, startFaultProxy, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { callerKey, type OracleProcess, oracleVariables, spawnOracle } from './support/oracleProcess.ts'
import { deposit, native, noOrder } from './support/protocolActors.ts'

let network: TestNetwork
let proxies: readonly FaultProxy[]
let oracle: OracleProcess
let url: string
let transactionId: string

beforeEach(async () => {
  network = await startTestNetwork()
  const { chain, url: targetUrl } = network.chains.base
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl })))
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has users')
  const amount = parseEther('0.1')
  transactionId = await deposit(network, 'base', user, { currency: native, amount, id: noOrder })
  await chain.node.mine({ blocks: 5 })
  oracle = spawnOracle({
    ...oracleVariables(network),
    BASE_RPC_URL: proxies.map((proxy) => proxy.url).join(','),
    FINALITY_CHECK_INTERVAL_MS: '600000',
    HEAD_AGE_MAX_MS: '1500',
  })
  url = await oracle.listening()
})
afterEach(async () => {
  await oracle?.stop()
  for (const proxy of proxies ?? []) await proxy.stop()
  await network?.stop()
})

async function attest(): Promise<number> {
  const answer = await fetch(`${url}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
    body: JSON.stringify({ chainId: 'base', transactionId }),
  })
  await answer.arrayBuffer()
  return answer.status
}

/** Receipts that the endpoints were asked for: none for a kept answer. */
const receiptsRead = () =>
  proxies.reduce((sum, proxy) => sum + (proxy.counters().callsByMethod['eth_getTransactionReceipt'] ?? 0), 0)

const otherBlocks = {
  kind: 'lie',
  rewrite: ({ method }: { readonly method: string }, result: unknown) =>
    method === 'eth_getBlockByNumber' && typeof result === 'object' && result !== null
      ? { ...result, hash: `0x${'ee'.repeat(32)}` }
      : result,
} as const

test('a deep reorganization ends every kept answer with the next look at the heads', async () => {
  expect(await attest()).toBe(200)
  const read = receiptsRead()
  expect([await attest(), receiptsRead()]).toEqual([200, read])
  await fetch(network.chains.base.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [6, []] }),
  })
  await expect.poll(attest, { interval: 20 }).toBe(503)
  expect(await attest()).toBe(503)
})

test('one endpoint of three that shows other blocks ends nothing, two do', async () => {
  expect(await attest()).toBe(200)
  await proxies[0]?.set(otherBlocks)
  const looks = () => proxies[1]?.counters().callsByMethod['eth_getBlockByNumber'] ?? 0
  const before = looks()
  await expect.poll(() => looks() > before + 10).toBe(true)
  expect(await attest()).toBe(200)
  await proxies[1]?.set(otherBlocks)
  await expect.poll(attest, { interval: 20 }).toBe(503)
})

test('P-21: an answer outlives one endpoint of three, and two only until their agreement is too old', async () => {
  expect(await attest()).toBe(200)
  const [first, second] = proxies
  await first?.set({ kind: 'refuse' })
  const read = receiptsRead()
  const until = Date.now() + 4_000
  while (Date.now() < until) expect(await attest()).toBe(200)
  await second?.set({ kind: 'refuse' })
  expect(await attest()).toBe(200)
  await expect.poll(attest, { interval: 20 }).toBe(503)
  expect(await attest()).toBe(503)
  await second?.set({ kind: 'pass' })
  await expect.poll(attest, { interval: 20 }).toBe(200)
  expect(receiptsRead()).toBe(read)
})
