import { startDeadline, whenAborted } from '@causeway/core'
import { request } from 'undici'

export type TextRequest = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** From the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number
  readonly answerBytesMax: number
  readonly signal: AbortSignal
}

export type TextAnswer = {
  readonly status: number
  readonly text: string
  /** By which the same answer is known again, where the service names one. */
  readonly etag?: string
}

/**
 * One request to an external service; redirects are answers like any other. It does not use `fetch`, which takes much
 * more processor time.
 * @throws AnswerTooLongError
 * @throws UpstreamUnavailableError `REQUEST_TIMED_OUT` at the limit
 * @throws Error of the connection, or the reason of `signal`
 */
export async function requestText(question: TextRequest): Promise<TextAnswer> {
  const deadline = startDeadline(question.signal, question.timeoutMs)
  try {
    // undici heeds the signal from the moment that it has a connection.
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
    // The deadline is one for all of it; these would only fire beside it.
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

/** The answer has more bytes than it may; its connection is closed. */
export class AnswerTooLongError extends Error {}

/** Leaving the loop early closes the connection. */
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
