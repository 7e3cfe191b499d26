import { UpstreamUnavailableError } from '@causeway/core'

/** A node's answer is JSON, but not of the form that the method returns. Callers treat it like no answer. */
export class MalformedAnswerError extends UpstreamUnavailableError {
  /**
   * @param subject the method or function that was asked, never what it answered
   * @param cause the node's own error, for logs
   */
  constructor(subject: string, cause?: Error) {
    super('A chain gave an unreadable answer.', { code: 'RPC_HTTP_ERROR', data: { what: subject }, cause })
  }
}

/** Result of `read`; `undefined` if the answer is unreadable. */
export function unlessUnreadable<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedAnswerError) return undefined
    throw error
  }
}
