import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as openRequest,
  type Server,
  type ServerResponse,
} from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createCounting, type FaultCounters } from './counting.ts'
import type { FaultMode } from './faultMode.ts'
import { faultyAnswer, faultyRequest } from './faultyAnswer.ts'
import { readCalls } from './rpcBody.ts'

export type SeenRequest = { readonly path: string; readonly headers: IncomingHttpHeaders }

export type FaultProxy = {
  /** Same address through every mode. */
  readonly url: string
  /** Applies to requests that arrive from now on. Resolves when it is in force. */
  set(mode: FaultMode): Promise<void>
  /** What arrived since the start or the last reset. */
  counters(): FaultCounters
  resetCounters(): void
  lastRequest(): SeenRequest | undefined
  stop(): Promise<void>
}

/**
 * A real HTTP server on loopback between a client and a JSON-RPC node, which misbehaves on demand: the
 * faults are seen by the client's own sockets and parser, not by a stand-in of them.
 * @source ledger-and-safety.md 5.1
 */
export async function startFaultProxy(options: { readonly targetUrl: string }): Promise<FaultProxy> {
  const target = new URL(options.targetUrl)
  const agent = new Agent({ keepAlive: true })
  const counting = createCounting()
  let mode: FaultMode = { kind: 'pass' }
  let lastRequest: SeenRequest | undefined

  const server = createServer((request, response) => {
    lastRequest = { path: request.url ?? '', headers: request.headers }
    answer(request, response).catch(() => response.destroy())
  })
  // A client that gives up is what most of the modes are about.
  server.on('clientError', (_error, socket) => socket.destroy())
  server.keepAliveTimeout = 60_000

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const current = mode
    const body = await readBody(request)
    const calls = readCalls(body)
    counting.count(calls)
    if (await answerAlone(current, request, response)) return
    const trueAnswer = await forward({ agent, target }, faultyRequest(current, body))
    await deliver(current, response, { ...trueAnswer, body: faultyAnswer(current, trueAnswer.body, calls) })
  }

  await listen(server, 0)
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the fault proxy has no port')
  const { port } = address

  return {
    url: `http://127.0.0.1:${port}`,
    async set(next) {
      mode = next
      if (next.kind === 'refuse') await stopListening(server)
      else if (!server.listening) await listen(server, port)
    },
    counters: () => counting.read(),
    resetCounters: () => counting.reset(),
    lastRequest: () => lastRequest,
    async stop() {
      agent.destroy()
      await stopListening(server)
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

/** Answers the modes that need no word from the target. False: the target is to be asked. */
async function answerAlone(
  mode: FaultMode,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  switch (mode.kind) {
    case 'hang':
      return true
    case 'refuse':
    case 'reset':
      request.socket.destroy()
      return true
    case 'html200':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Bad gateway</body></html>')
      return true
    case 'garbage':
      request.socket.end(Buffer.from([0, 1, 2, 3, 0xff, 0xfe, 10, 10, 13]))
      return true
    case 'http':
      response
        .writeHead(mode.status, { ...(mode.retryAfter !== undefined && { 'retry-after': mode.retryAfter }) })
        .end('{"error":"refused"}')
      return true
    case 'redirect':
      response.writeHead(307, { location: mode.location }).end()
      return true
    case 'latency':
      await delay(mode.delayMs, response)
      return response.destroyed
    case 'distant':
      await delay(mode.drawDelayMs(), response)
      if (response.destroyed) return true
      if (!mode.drawError()) return false
      response.writeHead(503).end('{"error":"overloaded"}')
      return true
    default:
      return false
  }
}

type TargetAnswer = { readonly status: number; readonly body: string }

function forward(to: { agent: Agent; target: URL }, body: string): Promise<TargetAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = openRequest(
      { agent: to.agent, hostname: to.target.hostname, port: to.target.port, method: 'POST', headers },
      (incoming) => {
        readBody(incoming).then((text) => resolve({ status: incoming.statusCode ?? 502, body: text }), reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function deliver(mode: FaultMode, response: ServerResponse, answer: TargetAnswer): Promise<void> {
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  if (mode.kind === 'slowDrip') {
    for (const byte of Buffer.from(answer.body)) {
      if (response.destroyed) return
      response.write(Buffer.from([byte]))
      await delay(mode.intervalMs, response)
    }
  }
  if (mode.kind === 'oversize') return deliverOversize(response, mode.bytes, answer.body)
  response.end(mode.kind === 'slowDrip' ? undefined : answer.body)
}

/** White space before a JSON value is valid, so only a limit on the size refuses it. */
async function deliverOversize(response: ServerResponse, bytes: number, body: string): Promise<void> {
  const chunk = ' '.repeat(64 * 1024)
  function* parts() {
    for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk
    yield body
  }
  await pipeline(Readable.from(parts()), response)
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}

function stopListening(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Ends early when the client is gone, so that nothing outlives `stop`. */
function delay(delayMs: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, delayMs)
    response.once('close', finish)
    function finish() {
      clearTimeout(timer)
      response.off('close', finish)
      resolve()
    }
  })
}
