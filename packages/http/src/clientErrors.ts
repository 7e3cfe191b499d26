import type { Socket } from 'node:net'
import type { Connections } from './connections.ts'
import { describeFailure, type ErrorPolicy } from './describeFailure.ts'
import { type FrameworkFailure, RequestFailure } from './failure.ts'

const failureByCode: ReadonlyMap<string, { failure: FrameworkFailure; message: string }> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', { failure: 'request_late', message: 'The request took too long to arrive.' }],
  ['HPE_HEADER_OVERFLOW', { failure: 'headers_too_large', message: 'The request headers are too large.' }],
])
const malformed = { failure: 'malformed_http', message: 'The request is not valid HTTP.' } as const

const reasonPhrases: ReadonlyMap<number, string> = new Map([
  [400, 'Bad Request'],
  [408, 'Request Timeout'],
  [431, 'Request Header Fields Too Large'],
])

/** Time for the client to read the answer and close; then the server destroys the connection. */
const lingerMs = 1_000

/**
 * Makes the handler of requests that Node's parser refuses before Fastify sees them: malformed HTTP, slow or oversized
 * headers, a body that does not arrive. It writes the shared error body and closes the connection. Where another answer
 * is being sent on that connection it writes nothing.
 */
export function createClientErrorHandler(
  policy: ErrorPolicy,
  connections: Connections,
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || !connections.canAnswer(socket)) {
      socket.destroy()
      return
    }
    const { failure, message } = failureByCode.get(error.code ?? '') ?? malformed
    const { status, body } = describeFailure(new RequestFailure(failure, message), policy)
    const text = JSON.stringify(body)
    socket.end(
      [
        `HTTP/1.1 ${status} ${reasonPhrases.get(status) ?? 'Bad Request'}`,
        'content-type: application/json; charset=utf-8',
        `content-length: ${Buffer.byteLength(text)}`,
        'cache-control: no-store',
        'connection: close',
        '',
        text,
      ].join('\r\n'),
    )
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }
}
