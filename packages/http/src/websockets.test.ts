// Goal: no client of a websocket takes more than its share, and none keeps the service from ending. Method: real
// sockets of `ws` and of TCP against an app of its own, with bounds that a test can reach.
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createTestApp, unlimited } from '../test/fixtures/httpTestApp.ts'
import type { HttpAppOptions } from './createHttpApp.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { createHttpMetrics } from './metrics.ts'
import { createReadiness } from './readiness.ts'
import type { OpenSocket, WebsocketRoute } from './websockets.ts'

const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

type Bed = { readonly app: HttpApp; readonly port: number; readonly url: string; readonly open: OpenSocket[] }

/** Echoes what it receives; a socket is idle unless `isIdle` says otherwise. */
async function start(
  limits: WebsocketRoute['limits'] = {},
  options: Partial<HttpAppOptions> = {},
  isIdle = false,
): Promise<Bed> {
  const open: OpenSocket[] = []
  const websocket: WebsocketRoute = {
    path: '/ws',
    limits,
    rateLimitClass: 'read',
    open(socket) {
      open.push(socket)
      return {
        onMessage: async (received) => socket.send({ received, isAllowed: await socket.count() }),
        isIdle: () => isIdle,
        onClose: () => {},
      }
    },
  }
  const app = await createTestApp({ websocket, ...options })
  app.get('/read', async () => ({ ok: true }))
  app.post('/read', async ({ body }) => ({ body }))
  closers.push(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  // CAST: a server that listens on TCP has such an address.
  const { port } = app.server.address() as AddressInfo
  return { app, port, url: `ws://127.0.0.1:${port}/ws`, open }
}

/** @returns the open socket, or the HTTP status that refused it */
async function dial(url: string, options: { autoPong?: boolean } = {}): Promise<WebSocket | number> {
  const socket = new WebSocket(url, options)
  socket.on('error', () => {})
  closers.push(() => socket.terminate())
  return new Promise((resolve) => {
    socket.once('open', () => resolve(socket))
    socket.once('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode))
  })
}

async function opened(url: string, options: { autoPong?: boolean } = {}): Promise<WebSocket> {
  const socket = await dial(url, options)
  if (typeof socket === 'number') throw new Error(`refused with ${socket}`)
  return socket
}

async function ask(socket: WebSocket, data: string | Buffer): Promise<unknown> {
  const answered = once(socket, 'message')
  socket.send(data)
  const [answer] = await answered
  return JSON.parse(String(answer))
}

const closeCode = async (socket: WebSocket): Promise<unknown> => (await once(socket, 'close'))[0]

const wantsSocket = (path: string) =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${'A'.repeat(22)}==\r\n\r\n`

/** All that is answered until the server closes the connection, or a body has ended. */
async function raw(port: number, text: string): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1')
  closers.push(() => socket.destroy())
  socket.write(text)
  let answer = ''
  for await (const chunk of socket) {
    answer += String(chunk)
    if (answer.includes('}')) break
  }
  return answer
}

describe('a message', () => {
  test('that is binary, too long or no JSON is named as such, and the socket stays', async () => {
    const { url } = await start()
    const socket = await opened(url)
    const problem = (text: string) => ({ received: { problem: text }, isAllowed: true })
    expect(await ask(socket, Buffer.from('{}'))).toEqual(problem('Messages are text, not binary.'))
    expect(await ask(socket, '{')).toEqual(problem('The message is not valid JSON.'))
    const longest = JSON.stringify('x'.repeat(4_094))
    expect(await ask(socket, longest)).toMatchObject({ received: { json: 'x'.repeat(4_094) } })
    expect(await ask(socket, `${longest} `)).toEqual(problem('A message has at most 4096 bytes.'))
  })

  test('of four times the length closes its socket alone', async () => {
    const { url } = await start()
    const [socket, other] = [await opened(url), await opened(url)]
    socket.send('x'.repeat(4 * 4_096 + 1))
    await once(socket, 'close')
    expect(await ask(other, '1')).toEqual({ received: { json: 1 }, isAllowed: true })
  })

  test('counts against the limit that requests of its caller count against', async () => {
    const limit = { perKeyMax: 0, perIpMax: 3 }
    const rateLimits = { ...unlimited, windowMs: 60_000, classes: { read: limit } }
    const { url, port } = await start({}, { rateLimits })
    const socket = await opened(url)
    expect(await ask(socket, '1')).toMatchObject({ isAllowed: true })
    expect(await ask(socket, '1')).toMatchObject({ isAllowed: true })
    expect(await ask(socket, '1')).toMatchObject({ isAllowed: false })
    expect((await fetch(`http://127.0.0.1:${port}/read`)).status).toBe(429)
    expect(await dial(url)).toBe(429)
  })
})

describe('sockets', () => {
  test('L-85: above the bound of their address or of the process are refused with 503 until one closes', async () => {
    for (const limits of [{ perCallerMax: 2 }, { openMax: 2 }]) {
      const { url, port } = await start(limits)
      const first = await opened(url)
      await opened(url)
      expect(await dial(url)).toBe(503)
      expect((await fetch(`http://127.0.0.1:${port}/read`)).status).toBe(200)
      first.close()
      await expect.poll(async () => typeof (await dial(url))).toBe('object')
    }
  })

  test('hold no place for requests, and are counted', async () => {
    const metrics = createHttpMetrics({ service: 'test' })
    const { url, port } = await start({}, { metrics, slots: { inFlightMax: 2 }, handlerTimeoutMs: 50 })
    for (let count = 0; count < 4; count += 1) await opened(url)
    await sleep(100)
    expect((await fetch(`http://127.0.0.1:${port}/read`)).status).toBe(200)
    const text = await metrics.registry.metrics()
    expect(text).toMatch(/^websockets_open\{[^}]*\} 4$/m)
    expect(text).toMatch(/_count\{[^}]*route="\/ws",method="GET",status="101"[^}]*\} 4$/m)
  })

  test('that do not read are cut once too much waits for them', async () => {
    const { url, open } = await start({ bufferedBytesMax: 10_000 })
    const socket = await opened(url)
    socket.pause()
    const closed = once(socket, 'close')
    for (let count = 0; count < 20_000 && open.length === 1; count += 1) {
      open[0]?.send({ text: 'x'.repeat(1_000) })
      if (count % 100 === 0) await sleep(0)
    }
    socket.resume()
    await closed
  })

  test('that do not answer a ping are cut, and those that do stay', async () => {
    const { url } = await start({ pingIntervalMs: 100 })
    const [silent, alive] = [await opened(url, { autoPong: false }), await opened(url)]
    expect(await closeCode(silent)).toBe(1006)
    expect(await ask(alive, '1')).toMatchObject({ isAllowed: true })
  })

  test('that ask for nothing are closed', async () => {
    const { url } = await start({ pingIntervalMs: 50, idleMs: 100 }, {}, true)
    expect(await closeCode(await opened(url))).toBe(1000)
  })

  test('are closed with 1001 when the app ends, also those that never answer', async () => {
    const { app, url } = await start({ closeGraceMs: 200 })
    const [polite, dead] = [await opened(url), await opened(url)]
    dead.pause()
    const code = closeCode(polite)
    const startedAtMs = performance.now()
    await app.close()
    expect(performance.now() - startedAtMs).toBeLessThan(3_000)
    expect(await code).toBe(1001)
  })

  test('are refused while draining', async () => {
    const readiness = createReadiness({ checks: [] })
    const { url } = await start({}, { readiness })
    readiness.startDraining()
    expect(await dial(url)).toBe(503)
  })
})

describe('an upgrade', () => {
  test('to something else, or elsewhere, is an ordinary request with its body', async () => {
    const { port } = await start()
    const headers = 'host: x\r\nconnection: upgrade\r\ncontent-type: application/json\r\n'
    const h2c = `POST /read HTTP/1.1\r\n${headers}upgrade: h2c\r\ncontent-length: 7\r\n\r\n{"a":1}`
    expect(await raw(port, h2c)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"body":\{"a":1\}\}/)
    expect(await raw(port, `GET /read HTTP/1.1\r\n${headers}upgrade: websocket\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 200 /,
    )
    for (const upgrade of ['', 'upgrade: h2c\r\n']) {
      expect(await raw(port, `GET /ws HTTP/1.1\r\n${headers}${upgrade}\r\n`)).toMatch(/^HTTP\/1\.1 400 /)
    }
  })

  test('takes a key from the query, and refuses an unknown one', async () => {
    const record = { keyId: 'id', label: 'l', scopes: new Set<string>() }
    const apiKeys = { find: async (key: string) => (key === 'good' ? record : undefined) }
    const { url, port } = await start({}, { apiKeys })
    await opened(`${url}?apiKey=good`)
    const startedAtMs = performance.now()
    expect(await raw(port, wantsSocket('/ws?apiKey=bad'))).toMatch(/^HTTP\/1\.1 401 /)
    expect(performance.now() - startedAtMs).toBeLessThan(3_000)
    expect(await dial(`${url}?apiKey=bad`)).toBe(401)
    expect(await dial(`${url}?apiKey=good&apiKey=good`)).toBe(401)
    expect((await fetch(`http://127.0.0.1:${port}/read?apiKey=bad`)).status).toBe(200)
  })
})
