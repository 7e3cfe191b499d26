import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type SeenQuestion = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
}

export type ScriptedAnswer = {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** Text as it is; anything else as JSON. */
  readonly body: unknown
}

export type HttpPeer = {
  readonly url: string
  readonly questions: readonly SeenQuestion[]
  /** Sockets that are open now: a client may keep one for its next question. */
  openSockets(): number
  /** Questions that somebody still waits for. */
  openQuestions(): number
  /** The most that were open at once: a busy machine may look too late to see them. */
  mostSockets(): number
  stop(): Promise<void>
}

/** A peer as a real HTTP server on loopback; what it answers is scripted, everything else is real. */
export async function startHttpPeer(
  answer: (question: SeenQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>,
): Promise<HttpPeer> {
  const questions: SeenQuestion[] = []
  let openQuestions = 0
  let openSockets = 0
  let mostSockets = 0
  const server = createServer((request, response) => {
    // A GET only probes the peer, so it is not counted as a question.
    if (request.method === 'GET') return void response.writeHead(404).end()
    const chunks: Buffer[] = []
    openQuestions += 1
    response.once('close', () => {
      openQuestions -= 1
    })
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
      const question = { path: request.url ?? '', headers: request.headers, body }
      questions.push(question)
      const { status = 200, headers = {}, body: answered } = await answer(question)
      const text = typeof answered === 'string' ? answered : JSON.stringify(answered)
      if (!response.destroyed) {
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
      }
    })
  })
  server.on('connection', (socket) => {
    openSockets += 1
    mostSockets = Math.max(mostSockets, openSockets)
    socket.once('close', () => {
      openSockets -= 1
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // CAST: a server that listens on TCP has an address of this kind.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    questions,
    openSockets: () => openSockets,
    openQuestions: () => openQuestions,
    mostSockets: () => mostSockets,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Holds whoever waits for it until it is opened: order in time without a clock. */
export function createGate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
