import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export type PriceServiceStandIn = {
  readonly baseUrl: string
  /** Paths with queries, and headers, in the order in which they came. */
  readonly requests: readonly { readonly url: string; readonly headers: IncomingMessage['headers'] }[]
  close(): Promise<void>
}

/**
 * A local server that stands in for a public price service: it sends whatever the test hands it in the
 * documented shape. It says so in its `server` header.
 */
export async function startPriceServiceStandIn(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<PriceServiceStandIn> {
  const requests: { url: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers })
    response.setHeader('server', 'price-service-stand-in')
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the stand-in has no port')
  return {
    baseUrl: `http://127.0.0.1:${address.port}/api/v3`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Answers every request with one JSON document. */
export function sendsJson(body: unknown): (request: IncomingMessage, response: ServerResponse) => void {
  return (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  }
}
