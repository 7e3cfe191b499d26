// Goal: the first request for a final deposit costs no question to anybody, whatever endpoints and peers do by then,
// and is worth what a later one is. Method: `main.ts` over three endpoints of a real node behind proxies that count, and
// beside peers of which one is a real oracle and one is a socket that never answers.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DepositsResponse } from '@causeway/attestations'
import type { Hex } from '@causeway/core'
import {
  type FaultProxy,
  freeLoopbackPort,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { callerKey, type OracleProcess, oracleVariables, spawnOracle } from './support/oracleProcess.ts'
import { deposit, native, noOrder, pay, signedOrder } from './support/protocolActors.ts'

const peerKey = 'peer-key-of-the-tests'
const recipient: Hex = `0x${'d5'.repeat(20)}`
let directory: string
let network: TestNetwork
let proxies: readonly FaultProxy[]
const started: OracleProcess[] = []
const silent: Server[] = []
const passing: HttpServer[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-ahead-'))
  network = await startTestNetwork()
  const { url: targetUrl } = network.chains.base
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl })))
})
afterEach(async () => {
  for (const oracle of started.splice(0)) await oracle.stop()
  for (const server of silent.splice(0)) server.close()
  for (const server of passing.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  for (const proxy of proxies ?? []) await proxy.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

type Running = { readonly oracle: OracleProcess; readonly url: string; readonly opsUrl: string }

async function start(variables: Readonly<Record<string, string>> = {}): Promise<Running> {
  const opsPort = await freeLoopbackPort()
  const oracle = spawnOracle({
    ...oracleVariables(network),
    BASE_RPC_URL: proxies.map((proxy) => proxy.url).join(','),
    AHEAD: 'on',
    OPS_PORT: String(opsPort),
    ...variables,
  })
  started.push(oracle)
  return { oracle, url: await oracle.listening(), opsUrl: `http://127.0.0.1:${opsPort}` }
}

async function deposited(): Promise<string> {
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has users')
  const transactionId = await deposit(network, 'base', user, {
    currency: native,
    amount: parseEther('0.1'),
    id: noOrder,
  })
  await network.mine('base', 3)
  return transactionId
}

type Outcome = 'prepared' | 'remembered'

async function counted({ opsUrl }: Running, wanted: Outcome): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  const lines = text.matchAll(/^oracle_ahead_transactions_total\{[^}]*outcome="(\w+)"[^}]*\} (\d+)$/gm)
  return [...lines].reduce((sum, [, outcome, count]) => sum + (outcome === wanted ? Number(count) : 0), 0)
}

const until = (running: Running, outcome: Outcome, count: number) =>
  waitUntil(`${count} are ${outcome}`, async () => (await counted(running, outcome)) >= count, {
    patienceMs: 60_000,
    circumstances: () => running.oracle.output().slice(-2_000),
  })
const untilPrepared = (running: Running, count = 1) => until(running, 'prepared', count)

async function ask({ url }: Running, kind: string, body: object) {
  const answer = await fetch(`${url}/attestations/${kind}/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
    body: JSON.stringify(body),
  })
  return {
    status: answer.status,
    matched: answer.headers.get('x-quorum-matched'),
    // CAST: compared member by member with another answer, or not read.
    body: (await answer.json()) as DepositsResponse,
  }
}

const attest = (running: Running, transactionId: string, more: object = {}) =>
  ask(running, 'depository-deposits', { chainId: 'base', transactionId, ...more })

const asked = (method: string) =>
  proxies.reduce((sum, proxy) => sum + (proxy.counters().callsByMethod[method] ?? 0), 0)

test('the first request asks nobody, and no endpoint need be there', async () => {
  const before = await deposited()
  const running = await start()
  await untilPrepared(running)
  const after = await deposited()
  await untilPrepared(running, 2)
  const read = asked('eth_getTransactionReceipt')
  for (const proxy of proxies) await proxy.set({ kind: 'hang' })
  const answers = [await attest(running, before), await attest(running, after)]
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(asked('eth_getTransactionReceipt')).toBe(read)
}, 180_000)

test('P-104: is what an oracle signs that prepares nothing', async () => {
  const transactionId = await deposited()
  const running = await start()
  await untilPrepared(running)
  const plain = await start({ AHEAD: 'off' })
  const logs = asked('eth_getLogs')
  const [first, second] = [await attest(running, transactionId), await attest(plain, transactionId)]
  expect(first.body).toEqual(second.body)
  expect(asked('eth_getLogs')).toBe(logs)
}, 180_000)

test('an endpoint of three that hides deposits or makes some up changes nothing', async () => {
  const transactionId = await deposited()
  await proxies[0]?.set({
    kind: 'lie',
    rewrite: ({ method }, result) => (method === 'eth_getLogs' ? [] : result),
  })
  const running = await start()
  await untilPrepared(running)
  expect((await attest(running, transactionId)).status).toBe(200)
}, 180_000)

test('a chain that was rewritten takes along what was prepared of it, and what still stands is prepared again', async () => {
  const transactionId = await deposited()
  await network.mine('base', 12)
  const running = await start({ STATE_DIR: directory })
  await untilPrepared(running)
  await fetch(network.chains.base.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [8, []] }),
  })
  await expect.poll(async () => (await attest(running, transactionId)).status, { timeout: 30_000 }).toBe(503)
  const clear = spawnOracle({ STATE_DIR: directory }, ['halted', 'clear', 'base'])
  expect(await clear.ended).toBe(0)
  await untilPrepared(running, 2)
  for (const proxy of proxies) await proxy.set({ kind: 'hang' })
  expect((await attest(running, transactionId)).status).toBe(200)
}, 180_000)

const fillCurrencies: readonly (readonly [string, () => Hex])[] = [
  ['coin', () => native],
  ['a token', () => network.deployment.base.tokens.USDC],
]

test.each(fillCurrencies)(
  'a fill in %s asks nobody, neither for its deposit nor for its payment',
  async (_name, currency) => {
    const [user] = network.keys.users
    if (user === undefined) throw new Error('the network has users')
    const paid = { to: recipient, currency: currency(), amount: 900_000n }
    const { order, orderId, orderSignature } = await signedOrder(network, {
      salt: '1',
      input: { chain: 'base', currency: native, amount: 1_000_000n },
      refundTo: user.address,
      output: { chain: 'base', payments: [paid] },
    })
    const inputTransaction = await deposit(network, 'base', user, {
      currency: native,
      amount: 1_000_000n,
      id: orderId,
    })
    const transactionId = await pay(network, 'base', { orderId, payments: [paid] })
    await network.mine('base', 4)
    const running = await start()
    await untilPrepared(running)
    await until(running, 'remembered', 1)
    const onchainId = (await attest(running, inputTransaction)).body.messages[0]?.result.onchainId
    const read = asked('eth_getTransactionReceipt')
    for (const proxy of proxies) await proxy.set({ kind: 'hang' })
    const { status } = await ask(running, 'solver-fills', {
      order,
      orderSignature,
      fill: { transactionId },
      inputs: [{ transactionId: inputTransaction, onchainId, inputIndex: 0 }],
    })
    expect([status, asked('eth_getTransactionReceipt')]).toEqual([200, read])
  },
  180_000,
)

test('peers have signed before anybody asks: none is waited for, not even one that is gone by then', async () => {
  const [mine, other, third] = network.keys.oracles
  const hole = createServer(() => undefined)
  silent.push(hole)
  const holePort = await freeLoopbackPort()
  await new Promise<void>((resolve) => hole.listen(holePort, '127.0.0.1', resolve))
  const peer = await start({
    ECDSA_PRIVATE_KEY: other.privateKey,
    PEER_API_KEYS: `${peerKey}:peers`,
    AHEAD: 'off',
  })
  const running = await start({
    ECDSA_PRIVATE_KEY: mine.privateKey,
    PEERS: `${peer.url}|${peerKey};http://127.0.0.1:${holePort}|${peerKey}`,
    ORACLE_SIGNERS: [mine, other, third].map(({ address }) => address).join(';'),
    ORACLE_SIGNERS_THRESHOLD: '2',
  })
  const transactionId = await deposited()
  await untilPrepared(running)
  await peer.oracle.stop()
  const { status, matched, body } = await attest(running, transactionId, { requestPeerSignatures: true })
  expect([status, matched]).toEqual([200, '2'])
  const signers = body.messages.flatMap(({ signatures }) =>
    signatures.map(({ oracleSigner }) => oracleSigner.toLowerCase()),
  )
  expect(signers.toSorted()).toEqual([mine.address, other.address].toSorted())
}, 180_000)

/** A peer that takes the keys of callers: it counts who asks with which, and has nothing to say. */
async function passingPeer(): Promise<{ readonly url: string; readonly keys: unknown[] }> {
  const keys: unknown[] = []
  const server = createHttpServer((request, response) => {
    if (request.method === 'POST') keys.push(request.headers['x-api-key'])
    response.writeHead(503).end('{}')
  })
  passing.push(server)
  const port = await freeLoopbackPort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${port}`, keys }
}

test('P-2: a peer that takes the key of the caller is asked by his request alone, beside one of its own key', async () => {
  const [mine, other] = network.keys.oracles
  const signers = [mine, other].map(({ address }) => address).join(';')
  const { url, keys } = await passingPeer()
  const peer = await start({
    ECDSA_PRIVATE_KEY: other.privateKey,
    PEER_API_KEYS: `${peerKey}:peers`,
    AHEAD: 'off',
  })
  const own = { ECDSA_PRIVATE_KEY: mine.privateKey, ORACLE_SIGNERS: signers, ORACLE_SIGNERS_THRESHOLD: '2' }
  const beside = await start({ ...own, PEERS: `${peer.url}|${peerKey};${url}|pass-through` })
  const alone = await start({ ...own, PEERS: `${url}|pass-through` })
  const transactionIds = [await deposited(), await deposited(), await deposited()]
  for (const running of [beside, alone]) await untilPrepared(running, transactionIds.length)
  expect(keys).toEqual([])
  for (const { oracle } of [beside, alone]) expect(oracle.output()).not.toContain('"event":"peer_')
  const [transactionId = ''] = transactionIds
  const prepared = await attest(beside, transactionId, { requestPeerSignatures: true })
  expect([prepared.status, prepared.matched, keys]).toEqual([200, '2', []])
  const asking = await attest(alone, transactionId, { requestPeerSignatures: true })
  expect([asking.status, asking.matched, keys]).toEqual([200, '1', [callerKey]])
}, 180_000)
