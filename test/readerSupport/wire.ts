import { createServer, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

/** A fault of an endpoint, instead of its answer or in it. */
export type Treatment =
  | 'pass'
  | 'fail'
  /** Accepts and never answers. */
  | 'hang'
  /** Reads the request, then cuts the connection. */
  | 'reset'
  | 'pad'
  /** Behind more white space than any answer may have. */
  | 'oversize'
  /** One byte a second. */
  | 'drip'
  /** Bytes that are not HTTP. */
  | 'garbage'
  | { readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly change: (answer: string) => string }
  /** Another chain answers. */
  | { readonly to: string }
  | { readonly delayMs: number }

/** Fault of an endpoint, by what it is asked. */
export type Fault = (asked: string) => Treatment

/** Between a reader and its endpoint, whatever the family: requests as text, their path before their body. */
export type Wire = {
  readonly url: string
  set(fault: Fault): void
  /** Requests since the start or the last reset. */
  requests(): number
  /** Passes everything, and has counted nothing. */
  reset(): void
  stop(): Promise<void>
}

const mebibyte = 1_024 * 1_024
/** Longer than any answer to several questions may be. */
const padding = ' '.repeat(9 * mebibyte)
const passes: Fault = () => 'pass'

/** Closed when the test ends. @param targetUrl the endpoint, with the path below which it answers */
export async function startWire(targetUrl: string): Promise<Wire> {
  const wire = await openWire(targetUrl)
  onTestFinished(() => wire.stop())
  return wire
}

export async function openWire(targetUrl: string): Promise<Wire> {
  let fault = passes
  let requests = 0
  const target = new URL(targetUrl)
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    requests += 1
    const body = Buffer.concat(chunks).toString()
    const path = request.url ?? '/'
    const done = fault(`${path} ${body}`)
    if (done === 'hang') return
    if (done === 'reset') return request.socket.destroy()
    if (done === 'garbage') return request.socket.end('these bytes are not HTTP\r\n\r\n')
    if (done === 'fail') return response.writeHead(500).end('internal error')
    if (typeof done === 'object' && 'status' in done)
      return response.writeHead(done.status, done.headers).end(done.text)
    if (typeof done === 'object' && 'delayMs' in done)
      await new Promise((resolve) => setTimeout(resolve, done.delayMs))
    const { 'content-type': type = 'application/json', authorization } = request.headers
    const origin = typeof done === 'object' && 'to' in done ? new URL(done.to).origin : target.origin
    const ask = async () => {
      const answer = await fetch(new URL(path, origin), {
        method: request.method ?? 'GET',
        headers: { 'content-type': type, ...(authorization !== undefined && { authorization }) },
        ...(request.method === 'POST' && { body }),
      })
      return { status: answer.status, text: await answer.text() }
    }
    // A node may close a kept connection just as it is used: one more try asks on a new one.
    const answer = await ask()
      .catch(ask)
      .catch(() => undefined)
    if (answer === undefined) return request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    return answerWith(response, done, answer.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens nowhere')
  return {
    url: `http://127.0.0.1:${address.port}${target.pathname}`,
    set(next) {
      fault = next
    },
    requests: () => requests,
    reset() {
      fault = passes
      requests = 0
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answerWith(response: ServerResponse, treatment: Treatment, text: string) {
  if (treatment === 'pad') return response.end(text + padding)
  if (treatment === 'oversize') return response.end(`${' '.repeat(65 * mebibyte)}${text}`)
  if (typeof treatment === 'object' && 'change' in treatment) return response.end(treatment.change(text))
  if (treatment !== 'drip') return response.end(text)
  const bytes = [...text]
  const dripping = setInterval(() => response.write(bytes.shift() ?? ' '), 1_000)
  return response.once('close', () => clearInterval(dripping))
}
