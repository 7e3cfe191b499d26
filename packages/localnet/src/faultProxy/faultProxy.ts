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
import { createPersonality, type WireAnswer } from './personality.ts'
import { isRpc, readCalls } from './rpcBody.ts'

/** Path and headers of a request that reached the proxy. */
export type SeenRequest = { readonly path: string; readonly headers: IncomingHttpHeaders }

export type FaultProxy = {
  /** Stays the same through every mode. */
  readonly url: string
  /** Applies to requests that arrive from now on. Resolves when it is in force. */
  set(mode: FaultMode): Promise<void>
  /** Requests since the start or the last reset. */
  counters(): FaultCounters
  resetCounters(): void
  lastRequest(): SeenRequest | undefined
  stop(): Promise<void>
}

/**
 * Starts an HTTP server on loopback between a client and a node, which misbehaves on demand, so that tests show how the
 * client's real sockets and parser take a fault. It forwards JSON-RPC to the target's root, all else to its own path.
 */
export async function startFaultProxy(options: { readonly targetUrl: string }): Promise<FaultProxy> {
  const target = new URL(options.targetUrl)
  const agent = new Agent({ keepAlive: true })
  const counting = createCounting()
  let mode: FaultMode = { kind: 'pass' }
  let respond: ReturnType<typeof createPersonality> | undefined
  let lastRequest: SeenRequest | undefined

  const server = createServer((request, response) => {
    lastRequest = { path: request.url ?? '', headers: request.headers }
    answer(request, response).catch(() => response.destroy())
  })
  // Most modes make clients give up, so a broken connection is no error here.
  server.on('clientError', (_error, socket) => socket.destroy())
  server.keepAliveTimeout = 60_000

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const current = mode
    const body = await readBody(request)
    const { method = 'POST', url: path = '/' } = request
    const calls = readCalls(body, path)
    counting.count(calls)
    if (await answerAlone(current, request, response)) return
    const targetPath = isRpc(body) ? '/' : path
    const ask = (text: string) => forward({ agent, target, method, path: targetPath }, text)
    if (current.kind === 'hosted' && respond !== undefined) {
      const node = { ask, readHead: async () => headIn(await ask(headRequest)) }
      return deliver(current, response, await respond({ body, calls, isRpc: isRpc(body) }, node))
    }
    const trueAnswer = await ask(faultyRequest(current, body))
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
      respond = next.kind === 'hosted' ? createPersonality(next.personality) : undefined
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

/**
 * Treats a request under a mode that does not need the target's answer, or delays it.
 * @returns true when nothing is left to do; false when the target has to be asked
 */
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

type Target = {
  readonly agent: Agent
  readonly target: URL
  readonly method: string
  readonly path: string
}

function forward({ agent, target, method, path }: Target, body: string): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(body !== '' && { 'content-length': Buffer.byteLength(body) }),
    }
    const { hostname, port } = target
    const outgoing = openRequest({ agent, hostname, port, method, path, headers }, (incoming) => {
      const { statusCode: status = 502 } = incoming
      const type = incoming.headers['content-type']
      readBody(incoming).then(
        (text) => resolve({ status, body: text, ...(type !== undefined && { type }) }),
        reject,
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const headRequest = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
const headIn = ({ body }: WireAnswer) => BigInt(JSON.parse(body)['result'])

async function deliver(mode: FaultMode, response: ServerResponse, answer: WireAnswer): Promise<void> {
  const { type = 'application/json', headers, padding } = answer
  response.writeHead(answer.status, { 'content-type': type, ...headers })
  if (mode.kind === 'slowDrip') {
    for (const byte of Buffer.from(answer.body)) {
      if (response.destroyed) return
      response.write(Buffer.from([byte]))
      await delay(mode.intervalMs, response)
    }
  }
  const bytes = mode.kind === 'oversize' ? mode.bytes : padding
  if (bytes !== undefined) return deliverOversize(response, bytes, answer.body)
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
