// Goal: a deposit is acted on when its block is told of, and not at the next turn of a clock. The clock is set to minutes
// here, so that nothing but a push can end a wait. Attackers: an endpoint that tells of blocks that there are not, without
// end, so that an unpaid order is filled or the chain is asked without pause.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

/** A deposit watcher of such a chain looks every two and a half minutes by its clock. */
const slowBlockMs = 600_000

let bed: SettlementBed
let oracles: StandInOracles
let sponsor: TestSponsor
let configs: ConfigCopy
let liar: Liar

beforeAll(async () => {
  oracles = await startStandInOracles()
  configs = await copyConfigs()
  await configs.replace('quote.local.json', '"blockTimeMs": 2000', `"blockTimeMs": ${slowBlockMs}`)
  liar = await startLiar()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async ({ chains: { base, optimism } }) => ({
      CONFIG_DIR: configs.directory,
      BASE_WS_RPC_URL: `${liar.url},${base.url.replace('http:', 'ws:')}`,
      OPTIMISM_WS_RPC_URL: optimism.url.replace('http:', 'ws:'),
    }),
  })
  sponsor = await createSponsor(bed.database, 1_000_000_000_000n)
})
afterAll(async () => {
  await bed?.stop()
  await liar?.stop()
  await configs?.remove()
  await oracles?.stop()
})

type Liar = { readonly url: string; tellOf(count: number): void; stop(): Promise<void> }

/** Takes subscriptions as a node does, and tells of blocks when a test says so. */
async function startLiar(): Promise<Liar> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('message', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' })))
  })
  const result = { number: '0xffffff', hash: `0x${'66'.repeat(32)}`, parentHash: `0x${'67'.repeat(32)}` }
  const head = { jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0x1', result } }
  // CAST: a server that listens on a port has the address of one.
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}`,
    tellOf(count) {
      for (const socket of server.clients)
        for (let told = 0; told < count; told += 1) socket.send(JSON.stringify(head))
    },
    async stop() {
      for (const socket of server.clients) socket.terminate()
      server.close()
    },
  }
}

test('L-67: a deposit becomes work, and a fill an end, by blocks that are told of alone', async () => {
  // Twice: the first one may still be met by the look that every start begins with.
  for (const _ of [1, 2]) {
    const quote = await bed.requests.quoted(sponsor, { amount: 60_000_000n })
    await bed.requests.execute(quote)
    await bed.solver.carryOut(await bed.requests.workFor(quote, 'fill'))
    await bed.requests.reaches(quote, 'success')
  }
})

test('a refund ends its deposit by blocks that are told of alone', async () => {
  const quote = await bed.requests.quoted(sponsor, { amount: 60_000_000n })
  await bed.requests.deposit(quote, { amount: 20_000_000n })
  await bed.solver.carryOut(await bed.requests.workFor(quote, 'refund'))
  const stateOf = async () => {
    const [row] = await bed.database.query<{ state: string }>(
      'select state from deposit_seen where request_id = $1',
      [bytesOf(quote.requestId)],
    )
    return row?.state
  }
  await expect.poll(stateOf, { timeout: 20_000 }).toBe('refunded')
})

test('which endpoints tell of blocks is shown', async () => {
  const live = async () => {
    const text = await (await fetch(`${bed.opsUrl}/metrics`)).text()
    return text.split('\n').filter((line) => line.startsWith('chain_block_pushes_live{'))
  }
  await expect.poll(async () => (await live()).filter((line) => line.endsWith(' 1')).length).toBe(3)
  expect((await live()).filter((line) => line.includes('chain="base"'))).toHaveLength(2)
})

test('L-67: an order that nobody paid is no work, whatever blocks an endpoint tells of', async () => {
  const quote = await bed.requests.quoted(sponsor, { amount: 60_000_000n })
  for (let times = 0; times < 10; times += 1) {
    liar.tellOf(19)
    await pause(100)
  }
  expect(await bed.requests.openWork(quote, 'fill')).toBeUndefined()
  expect((await bed.requests.statusOf(quote)).status).toBe('waiting')
  // It is heard no more, and the other endpoint of the chain still is.
  liar.tellOf(700)
  const paid = await bed.requests.quoted(sponsor, { amount: 60_000_000n })
  await bed.requests.execute(paid)
  await expect.poll(() => bed.requests.openWork(paid, 'fill')).toBeDefined()
  expect(await bed.requests.openWork(quote, 'fill')).toBeUndefined()
})
