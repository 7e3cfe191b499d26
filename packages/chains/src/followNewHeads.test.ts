// Goal: a new block is known of when it is there. Attackers: an endpoint that tells of blocks without end or of none that
// there are, sends what fills memory, refuses, says half a word, or sends us elsewhere; whoever reads logs for a key.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type HeadSubscription, Secret } from '@causeway/core'
import type { VmType } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { openHeadPushes } from '@causeway/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { followNewHeads } from './followNewHeads.ts'

const subscribed = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' })
const head = (number: number) =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'eth_subscription',
    params: {
      subscription: '0x1',
      result: { number: `0x${number.toString(16)}`, logsBloom: `0x${'0'.repeat(512)}` },
    },
  })

/** Node stand-in: a real WebSocket protocol with messages chosen by the test. */
async function node(onSubscribed: (socket: WebSocket, connection: number) => void) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const asked: string[] = []
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('message', (data) => {
      asked.push(String(data))
      onSubscribed(socket, asked.length)
    })
  })
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  return { port: portOf(server.address()), asked }
}

const portOf = (address: ReturnType<WebSocketServer['address']> | ReturnType<Server['address']>) =>
  (address as AddressInfo).port

function subscriptionOf(vmType: VmType): HeadSubscription {
  const { headSubscription } = families[vmType]
  if (headSubscription === undefined) throw new Error(`nodes of ${vmType} tell of no blocks`)
  return headSubscription
}

type Following = { readonly leastMs?: number; readonly path?: string; readonly vmType?: VmType }

function follow(port: number, { leastMs = 0, path = '/', vmType = 'ethereum-vm' }: Following = {}) {
  const told: string[] = []
  const counted = { heads: 0 }
  const pushes = openHeadPushes({
    urls: [new Secret(`ws://127.0.0.1:${port}${path}`)],
    leastMs,
    subscription: subscriptionOf(vmType),
    onHead: () => {
      counted.heads += 1
    },
    onChange: (endpoint, end) => told.push(`${endpoint} ${end ?? 'live'}`),
  })
  onTestFinished(() => pushes.close())
  const says = (word: string) => expect.poll(() => told.join()).toContain(`127.0.0.1:${port}#1 ${word}`)
  return { pushes, counted, told, says }
}

test('each head of a subscription is told of, and nothing before it', async () => {
  const { port, asked } = await node((socket) => {
    for (const text of [head(1), 'no json', '[]', 'null', '{"method":"other"}', subscribed, head(2), head(3)])
      socket.send(text)
  })
  const { counted, told } = follow(port, { path: '/v2/secret-key' })
  await expect.poll(() => counted.heads).toBe(2)
  expect(asked.map((text) => JSON.parse(text))).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] },
  ])
  // The key in the path is told to nobody.
  expect(told).toEqual([`127.0.0.1:${port}#1 live`])
})

test('slots of Solana are told of, by a subscription with a number', async () => {
  const slot = (number: number) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'slotNotification',
      params: { result: { parent: number - 1, root: number - 32, slot: number }, subscription: 0 },
    })
  const { port, asked } = await node((socket) => {
    for (const text of [slot(76), '{"jsonrpc":"2.0","result":0,"id":1}', slot(77), head(1), slot(78)])
      socket.send(text)
  })
  const { counted, told } = follow(port, { vmType: 'solana-vm' })
  await expect.poll(() => counted.heads).toBe(2)
  await pause(100)
  expect(counted.heads).toBe(2)
  expect(asked.map((text) => JSON.parse(text))).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'slotSubscribe', params: [] },
  ])
  expect(told).toEqual([`127.0.0.1:${port}#1 live`])
})

test('of many heads at once one counts', async () => {
  const { port } = await node((socket) => {
    socket.send(subscribed)
    for (let number = 0; number < 100; number += 1) socket.send(head(number))
  })
  const { counted, says } = follow(port, { leastMs: 60_000 })
  await says('live')
  await expect.poll(() => counted.heads).toBe(1)
  await pause(200)
  expect(counted.heads).toBe(1)
})

test('F-41: three endpoints of a chain with fast blocks wake no more often than its clock', async () => {
  const endless = async () => {
    const { port } = await node((socket) => {
      socket.send(subscribed)
      const telling = setInterval(() => socket.send(head(1)), 60)
      socket.on('close', () => clearInterval(telling))
    })
    return new Secret(`ws://127.0.0.1:${port}`)
  }
  const headPushUrls = await Promise.all([1, 2, 3].map(endless))
  let heads = 0
  const pushes = followNewHeads({
    registered: new Map([['base', { vmType: 'ethereum-vm', headPushUrls }]]),
    followed: [{ key: 'base', blockTimeMs: 200 }],
    onHead: () => {
      heads += 1
    },
    onChange: () => {},
  })
  onTestFinished(() => pushes.close())
  await expect.poll(() => heads).toBeGreaterThan(0)
  await pause(2_000)
  // At first, then once in half a second, whoever tells.
  expect(heads).toBeGreaterThanOrEqual(3)
  expect(heads).toBeLessThanOrEqual(6)
})

test('F-41: who floods is cut off, and not asked again soon', async () => {
  const { port, asked } = await node((socket) => {
    socket.send(subscribed)
    for (let number = 0; number < 100_000; number += 1) socket.send(head(number))
  })
  const { counted, says } = follow(port)
  await says('flood')
  expect(counted.heads).toBeLessThanOrEqual(200)
  await pause(1_500)
  expect(asked).toHaveLength(1)
})

test('who floods with what is no message is cut off too', async () => {
  const { port } = await node((socket) => {
    socket.send(subscribed)
    for (let ping = 0; ping < 10_000; ping += 1) socket.ping()
  })
  await follow(port).says('flood')
})

test('a message that is larger than any head ends the connection unread', async () => {
  const { port } = await node((socket) => {
    socket.send(subscribed)
    socket.send(`${head(1).slice(0, -1)},"more":"${'x'.repeat(23_000)}"}`)
  })
  const { counted, says } = follow(port)
  await says('closed')
  expect(counted.heads).toBe(0)
})

test('who refuses subscriptions is told of as such', async () => {
  const { port } = await node((socket) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'no' } })),
  )
  await follow(port).says('refused')
})

test('a connection that breaks is made again, and tells again', async () => {
  const { port, asked } = await node((socket, connection) => {
    socket.send(subscribed)
    socket.send(head(connection))
    if (connection === 1) setTimeout(() => socket.terminate(), 50)
  })
  const { counted, told, says } = follow(port)
  await says('closed')
  await expect.poll(() => counted.heads).toBe(2)
  expect(asked).toHaveLength(2)
  expect(told.map((text) => text.split(' ')[1])).toEqual(['live', 'closed', 'live'])
})

test('a redirection is not followed', async () => {
  const { port: elsewhere, asked } = await node((socket) => socket.send(subscribed))
  const server = createServer((_request, response) =>
    response.writeHead(301, { location: `http://127.0.0.1:${elsewhere}/` }).end(),
  )
  server.on('upgrade', (_request, socket) => {
    socket.end(`HTTP/1.1 301 Moved\r\nLocation: ws://127.0.0.1:${elsewhere}/\r\n\r\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { says } = follow(portOf(server.address()))
  await says('unreachable')
  expect(asked).toEqual([])
})

test('who answers half a handshake, or nobody, is told of once, whatever the number of tries', async () => {
  const server = createTcpServer((socket) => {
    // Whoever gives the handshake up resets its connection.
    socket.on('error', () => undefined).end('HTTP/1.1 101 Switch')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let tries = 0
  server.on('connection', () => {
    tries += 1
  })
  onTestFinished(() => void server.close())
  const { told, says, pushes } = follow(portOf(server.address()))
  await says('unreachable')
  await expect.poll(() => tries).toBeGreaterThan(1)
  expect(told).toHaveLength(1)
  pushes.close()
  const before = tries
  await pause(2_500)
  expect(tries).toBe(before)
})
