import { startDeadline, whenAborted } from '@causeway/core'
import { request } from 'undici'

/** An HTTP request to a service that is no endpoint of a chain. */
export type TextRequest = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** For everything, from the DNS lookup to the last byte of the answer. */
  readonly timeoutMs: number
  readonly answerBytesMax: number
  readonly signal: AbortSignal
}

export type TextAnswer = {
  readonly status: number
  readonly text: string
  /** Header `etag`, if the service sends one. */
  readonly etag?: string
}

/**
 * Sends one request to an external service, such as an oracle or a price source. Redirects are not followed. Uses
 * undici's `request`, because `fetch` takes much more processor time.
 * @throws AnswerTooLongError
 * @throws UpstreamUnavailableError `REQUEST_TIMED_OUT` at the limit
 * @throws Error of the connection, or the reason of `signal`
 */
export async function requestText(question: TextRequest): Promise<TextAnswer> {
  const deadline = startDeadline(question.signal, question.timeoutMs)
  try {
    // undici obeys the signal only once it has a connection, hence the race.
    return await Promise.race([exchange(question, deadline.signal), whenAborted(deadline.signal)])
  } finally {
    deadline.release()
  }
}

async function exchange(question: TextRequest, signal: AbortSignal): Promise<TextAnswer> {
  const { url, method, headers, body, answerBytesMax } = question
  const answer = await request(url, {
    method,
    headers,
    signal,
    // The deadline covers everything, so these timeouts are off.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(body !== undefined && { body }),
  })
  const { etag } = answer.headers
  return {
    status: answer.statusCode,
    text: await readText(answer.body, answerBytesMax),
    ...(typeof etag === 'string' && { etag }),
  }
}

/** The answer has too many bytes; its connection is closed. */
export class AnswerTooLongError extends Error {}

/** Reads a body up to a limit. Throwing inside the loop closes the connection. */
async function readText(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new AnswerTooLongError(`an answer of more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
