// An integrator's receiver over real HTTP on loopback. It keeps what arrives, byte for byte.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { webhookBodySchema } from '../../src/webhooks/webhookMessage.ts'

export type Received = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Receiver = {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  /** Most requests that were open at the same time. */
  readonly openMax: () => number
  /** Answer to a message; the default is 204. */
  answer: (response: ServerResponse, received: Received) => void
  stop(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let open = 0
  let openMax = 0
  const server = createServer((request, response) => {
    open += 1
    openMax = Math.max(openMax, open)
    response.once('close', () => {
      open -= 1
    })
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      }
      received.push(one)
      receiver.answer(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // CAST: a listening TCP server has such an address.
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    openMax: () => openMax,
    answer: (response) => answerWith(response, 204),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}

export function answerWith(response: ServerResponse, status: number, headers = {}): void {
  response.writeHead(status, headers).end()
}

export function messageOf({ body }: Received) {
  return webhookBodySchema.parse(JSON.parse(body))
}
