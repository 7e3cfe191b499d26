import { EndpointFailure } from '../../packages/rpc/src/endpointFailure.ts'
import { parseAnswers } from '../../packages/rpc/src/wire.ts'
import { type Outcome, refused } from './outcome.ts'

/** Words by which nodes say that they are asked too often. */
const limitWords = /rate limit|rate exceed|per second|too many requests|requests? limit reached|capacity/i
const asked = { alias: 'the node', count: 1, firstId: 1 }

/**
 * Reads a refusal as the answer to one call: the error member alone is put into an envelope, and an id that another
 * question had becomes ours. A limit of the rate that is read as the node's own error is a difference.
 */
export function readRefusal(text: string): Outcome {
  const parsedJson = parseJson(text)
  const envelope = Object.hasOwn(Object(parsedJson), 'error') ? Object(parsedJson) : undefined
  const error = envelope?.error ?? parsedJson
  const { code, message } = Object(error)
  if (envelope === undefined && code === undefined) return refused(reasonOf(text))
  const id = typeof envelope?.id === 'number' || typeof envelope?.id === 'string' ? 1 : envelope?.id
  const asAnswer = { jsonrpc: '2.0', id: envelope === undefined || !('id' in envelope) ? 1 : id, error }
  const reason = reasonOf(JSON.stringify(asAnswer))
  if (reason === 'bad_answer') return { kind: 'not understood', reason: `${code} ${message}` }
  if (limitWords.test(String(message)) && reason !== 'rate_limited') {
    return { kind: 'differs', reason: `${reason}, by its words a limit of the rate` }
  }
  return refused(reason)
}

function reasonOf(text: string): string {
  try {
    const [answer] = parseAnswers(text, asked)
    return answer?.ok === false ? `${answer.code} ${answer.message}` : 'a result'
  } catch (error) {
    if (error instanceof EndpointFailure) return error.reason
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
