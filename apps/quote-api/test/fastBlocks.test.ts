// Goal: a chain that makes five blocks a second costs no more requests than one that makes a block in two seconds.
// Method: the running service over two real nodes that make them, behind proxies that count; three endpoints of each chain
// tell of its blocks as often.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import {
  blockTimes,
  type CountedChains,
  findUnequalWork,
  makeBlocks,
  startFaultProxy,
} from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { copyConfigs } from './serviceSupport/configCopy.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'

const tellers = 3
const closers: (() => unknown)[] = []
let oracles: StandInOracles
let bed: SettlementBed
let counted: CountedChains

const quoteFile = z.looseObject({ chains: z.record(z.string(), z.looseObject({})) })

/** Tells of a block every `everyMs`, which a chain that only tells of blocks does not have to make. */
async function startTeller(everyMs: number): Promise<string> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const params = { subscription: '0x1', result: { number: '0xff', hash: `0x${'66'.repeat(32)}` } }
  const head = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
  const tell = (socket: WebSocket) => socket.send(head)
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('message', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' })))
  })
  const telling = setInterval(() => server.clients.forEach(tell), everyMs)
  closers.push(() => {
    clearInterval(telling)
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  // CAST: a server that listens on a port has the address of one.
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const tellersOf = async (everyMs: number) =>
  (await Promise.all(Array.from({ length: tellers }, () => startTeller(everyMs)))).join(',')

beforeAll(async () => {
  oracles = await startStandInOracles()
  const configs = await copyConfigs()
  closers.push(() => configs.remove())
  await configs.edit('quote.local.json', (json) => {
    const { chains, ...file } = quoteFile.parse(json)
    const { base, optimism } = chains
    return {
      ...file,
      chains: {
        base: { ...base, blockTimeMs: blockTimes.base },
        optimism: { ...optimism, blockTimeMs: blockTimes.optimism },
      },
    }
  })
  bed = await startSettlementBed({
    blockTimeSeconds: 2,
    oracles: async () => oracles.setting,
    environment: async ({ chains: { base, optimism } }) => {
      closers.push(makeBlocks(base.url, blockTimes.base))
      counted = {
        base: await startFaultProxy({ targetUrl: base.url }),
        optimism: await startFaultProxy({ targetUrl: optimism.url }),
      }
      return {
        CONFIG_DIR: configs.directory,
        BASE_RPC_URL: counted.base.url,
        OPTIMISM_RPC_URL: counted.optimism.url,
        BASE_WS_RPC_URL: await tellersOf(blockTimes.base),
        OPTIMISM_WS_RPC_URL: await tellersOf(blockTimes.optimism),
      }
    },
  })
})
afterAll(async () => {
  await bed?.stop()
  await Promise.all([counted?.base.stop(), counted?.optimism.stop()])
  for (const close of closers) await close()
  await oracles?.stop()
})

test('F-41, F-106: five blocks a second cost as many requests and calls as one in two seconds', async () => {
  await pause(4_000)
  expect(await findUnequalWork(counted, 20)).toEqual([])
})
