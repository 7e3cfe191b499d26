import { createServer, type IncomingHttpHeaders } from 'node:http'
import { answerWith, type HttpFault, type Question } from './faults.ts'
import { closeServer, listenOnLoopback } from './listen.ts'

/** A stand-in over HTTP whose answers can be made wrong. */
export type FaultyService = {
  readonly url: string
  set(fault: HttpFault): void
  /** Numbers of requests since the start or the last reset, by `keyOf`. */
  counters(): Readonly<Record<string, number>>
  resetCounters(): void
  lastHeaders(): IncomingHttpHeaders
  stop(): Promise<void>
}

/**
 * Starts an HTTP server on loopback for a stand-in.
 * @param options.keyOf key by which requests are counted
 * @param options.answer the true answer, as JSON; not made where a fault needs none
 * @param options.port default: a free one
 */
export async function startFaultyService(options: {
  readonly keyOf: (question: Question) => string
  readonly answer: (question: Question) => Promise<unknown>
  readonly port?: number | undefined
}): Promise<FaultyService> {
  let fault: HttpFault = { kind: 'none' }
  let lastHeaders: IncomingHttpHeaders = {}
  const counters = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    // A request without a body counts as one with an empty object.
    const question = { path: request.url ?? '', text: Buffer.concat(chunks).toString() || '{}' }
    const key = options.keyOf(question)
    lastHeaders = request.headers
    counters.set(key, (counters.get(key) ?? 0) + 1)
    answerWith(fault, { request, text: question.text }, response, () => options.answer(question)).catch(
      (error) => {
        response.writeHead(500).end(String(error))
      },
    )
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  const url = await listenOnLoopback(server, options.port ?? 0)
  return {
    url,
    set(next) {
      fault = next
    },
    counters: () => Object.fromEntries(counters),
    resetCounters: () => counters.clear(),
    lastHeaders: () => lastHeaders,
    stop: () => closeServer(server),
  }
}
