import { createServer } from 'node:http'
import { onTestFinished } from 'vitest'

/** Fault of an endpoint: what it does with a request instead of answering, or to its answer. */
export type Fault = (
  asked: string,
) => 'pass' | 'fail' | 'pad' | { readonly status: number; readonly text: string }

/** Between a reader and its endpoint, whatever the family: requests as text, their path before their body. */
export type Wire = { readonly url: string; set(fault: Fault): void }

/** Longer than any answer to several questions may be. */
const padding = ' '.repeat(9 * 1_024 * 1_024)
const passes: Fault = () => 'pass'

/** @param targetUrl the endpoint, with the path below which it answers */
export async function startWire(targetUrl: string): Promise<Wire> {
  let fault = passes
  const target = new URL(targetUrl)
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const path = request.url ?? '/'
    const done = fault(`${path} ${body}`)
    if (typeof done === 'object') return response.writeHead(done.status).end(done.text)
    if (done === 'fail') return response.writeHead(500).end('internal error')
    const { 'content-type': type = 'application/json', authorization } = request.headers
    const answer = await fetch(new URL(path, target.origin), {
      method: request.method ?? 'GET',
      headers: { 'content-type': type, ...(authorization !== undefined && { authorization }) },
      ...(request.method === 'POST' && { body }),
    })
    const text = await answer.text()
    return response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(done === 'pad' ? text + padding : text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.closeAllConnections())
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens nowhere')
  return {
    url: `http://127.0.0.1:${address.port}${target.pathname}`,
    set(next) {
      fault = next
    },
  }
}
