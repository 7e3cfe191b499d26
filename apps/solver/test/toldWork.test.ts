// Goal: the solver pays when it is told of work, and goes on when it is told of a block; its clock is set to a minute, so
// that nothing else can make it. Attackers: endpoints that tell of blocks that there are not, without end, or fall silent, or
// end each connection; whoever gains when that makes it pay what is not deposited, ask its chains without pause, or stand
// still. Method: the solver as an operator runs it, on real nodes with real deposits.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type FaultProxy, startFaultProxy, waitUntil } from '@causeway/localnet'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { deposit, fillItem, type PaidOrder, paidOrder, signOrder } from './support/paidOrders.ts'
import { startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBed, startSolverBed } from './support/solverBed.ts'
import { querySolver, type SolverSettings, startSolver } from './support/solverBench.ts'

let bed: SolverBed
let network: SolverBed['network']
let proxy: FaultProxy

beforeAll(async () => {
  bed = await startSolverBed()
  network = bed.network
  proxy = await startFaultProxy({ targetUrl: network.chains.base.url })
})
afterAll(async () => {
  await proxy?.stop()
  await bed?.stop()
})
beforeEach(() => proxy.resetCounters())

const socketOf = (url: string) => url.replace('http:', 'ws:')
const told = () => ({
  BASE_WS_RPC_URL: socketOf(network.chains.base.url),
  OPTIMISM_WS_RPC_URL: socketOf(network.chains.optimism.url),
})
/** The longest that may be set. */
const byMinute = { POLL_INTERVAL_MS: '60000' }

async function start(overrides: Readonly<Record<string, string>>, { holds = true } = {}) {
  const work = await startScriptedWork({ holds })
  const settings = await bed.bench.settings(work, overrides)
  const solver = startSolver(settings)
  await solver.ready()
  await waitUntil(
    'it has the leases, and a question is held',
    async () =>
      (solver.output().match(/lease_won/g) ?? []).length >= 2 &&
      (!holds || (await metric(solver.output(), 'solver_work_told')) === 1),
  )
  return { work, settings, solver }
}

/** Metric of a running solver, found by its printed URL; the sum over its labels. */
async function metric(output: string, name: string, labels = ''): Promise<number> {
  const opsUrl = /"opsUrl":"([^"]+)"/.exec(output)?.[1]
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

const outcomesOf = async (settings: SolverSettings, id: string) =>
  (await querySolver(settings, `select outcome from signed_record where id = '${id}'`)).map(
    ({ outcome }) => outcome,
  )

type Teller = { readonly url: string; readonly connections: () => number; tellOf(count: number): void }

/** Takes subscriptions as a node does, or does not, and tells of blocks that there are not. */
async function startTeller(kind: 'subscribing' | 'speechless' | 'closing'): Promise<Teller> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  let connections = 0
  server.on('connection', (socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.on('message', () => {
      if (kind === 'subscribing') socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' }))
      if (kind === 'closing') socket.terminate()
    })
  })
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  const result = { number: '0xffffff', hash: `0x${'66'.repeat(32)}`, parentHash: `0x${'67'.repeat(32)}` }
  const head = { jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0x1', result } }
  // CAST: a server that listens on a port has the address of one.
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}`,
    connections: () => connections,
    tellOf(count) {
      for (const socket of server.clients)
        for (let each = 0; each < count; each += 1) socket.send(JSON.stringify(head))
    },
  }
}

test('an order is paid when its work is told of, and its fill ends by blocks that are told of', async () => {
  const { work, settings, solver } = await start({ ...told(), ...byMinute })
  const listings = work.listings()
  const item = fillItem(network, await paidOrder(network))
  await pause(1_500)
  const addedMs = performance.now()
  work.add(item)
  await waitUntil('it is reported', () => work.reports.has(item.id))
  expect(performance.now() - addedMs).toBeLessThan(5_000)
  await waitUntil('it is final', async () => (await outcomesOf(settings, item.id))[0] === 'done')
  await bed.settled([item], solver.output)
  expect(work.listings() - listings).toBeLessThanOrEqual(1)
  solver.kill('SIGTERM')
  expect(await solver.ended).toBe('exit code 0')
})

test('an item whose deposit is not deep enough yet is paid at the block that makes it so', async () => {
  const { work, solver } = await start({ ...told(), ...byMinute })
  const signed = await signOrder(network)
  // The solver wants a block on top of it.
  const paid = await deposit(network, [signed])
  const item = fillItem(network, paid[0] as PaidOrder)
  work.add(item)
  await waitUntil('it is reported', () => work.reports.has(item.id))
  await bed.settled([item], solver.output)
})

test('blocks that are told of where nothing waits cost the chain nothing', async () => {
  const teller = await startTeller('subscribing')
  const { solver } = await start({
    ...byMinute,
    BASE_RPC_URL: proxy.url,
    BASE_WS_RPC_URL: teller.url,
  })
  await waitUntil('it listens', async () => (await metric(solver.output(), 'chain_block_pushes_live')) === 1)
  const perSecond = async () => {
    proxy.resetCounters()
    await pause(6_000)
    return proxy.counters().requests / 6
  }
  const before = await perSecond()
  const telling = setInterval(() => teller.tellOf(3), 200)
  onTestFinished(() => clearInterval(telling))
  const during = await perSecond()
  console.log(JSON.stringify({ before, during }))
  // Two heads a second count, and one look is a request at least; the market's own looks come in threes.
  expect(during).toBeLessThan(before + 1.2)
  expect(await metric(solver.output(), 'solver_rounds_total', 'reason="block"')).toBe(0)
})

test('Q-229: forged blocks make no unpaid order paid, and are looked at no more often than blocks may come', async () => {
  const teller = await startTeller('subscribing')
  const { work, solver } = await start({
    ...byMinute,
    BASE_WS_RPC_URL: `${teller.url},${socketOf(network.chains.base.url)}`,
  })
  await waitUntil('it listens', async () => (await metric(solver.output(), 'chain_block_pushes_live')) === 2)
  // The deposit that it names may come with any block.
  const transactionId = generatePrivateKey()
  const deposits = [{ chainId: network.deployment.base.chainId, transactionId, onchainIndex: '0' }]
  const item = fillItem(network, { ...(await signOrder(network)), deposits })
  work.add(item)
  await pause(1_000)
  const rounds = () => metric(solver.output(), 'solver_rounds_total', 'reason="block"')
  const [before, startedMs] = [await rounds(), performance.now()]
  for (let times = 0; times < 10; times += 1) {
    teller.tellOf(10)
    await pause(200)
  }
  const perSecond = ((await rounds()) - before) / ((performance.now() - startedMs) / 1_000)
  console.log(JSON.stringify({ perSecond }))
  // The node's own block each second, and of the other one a head in a quarter of two seconds.
  expect(perSecond).toBeGreaterThan(0)
  expect(perSecond).toBeLessThanOrEqual(4)
  expect(work.reports.size).toBe(0)
  // Cut off for its flood; the other one is heard.
  teller.tellOf(1_000)
  await waitUntil('it is cut', async () => (await metric(solver.output(), 'chain_block_pushes_live')) === 1)
  const honest = fillItem(network, await paidOrder(network))
  work.add(honest)
  await waitUntil('it is paid', () => work.reports.has(honest.id))
  expect(work.reports.has(item.id)).toBe(false)
})

test('endpoints that say nothing or end each connection leave the clock, and are not asked again and again', async () => {
  const [speechless, closing] = [await startTeller('speechless'), await startTeller('closing')]
  const { work, solver } = await start({
    POLL_INTERVAL_MS: '200',
    BASE_WS_RPC_URL: speechless.url,
    OPTIMISM_WS_RPC_URL: closing.url,
  })
  const item = fillItem(network, await paidOrder(network))
  work.add(item)
  await bed.settled([item], solver.output)
  expect(await metric(solver.output(), 'chain_block_pushes_live')).toBe(0)
  await pause(3_000)
  expect(speechless.connections()).toBe(1)
  expect(closing.connections()).toBeLessThanOrEqual(6)
})

test('a service that holds nothing is asked by the clock', async () => {
  const { work, solver } = await start({ ...told(), POLL_INTERVAL_MS: '200' }, { holds: false })
  const item = fillItem(network, await paidOrder(network))
  work.add(item)
  await bed.settled([item], solver.output)
  expect(await metric(solver.output(), 'solver_work_told')).toBe(0)
  const before = work.listings()
  await pause(2_000)
  expect(work.listings() - before).toBeLessThanOrEqual(11)
})
