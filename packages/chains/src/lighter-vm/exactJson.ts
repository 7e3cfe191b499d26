import { MalformedAnswerError } from '../rpc/malformedAnswer.ts'

/** No true answer comes near it. */
const charactersMax = 1024 * 1024

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const integer = /^-?\d{1,40}$/
const mark = '\u0000'

/**
 * JSON with every integer as a bigint: amounts may be above 2^53, where a number would be another amount.
 * @throws MalformedAnswerError for what is no JSON, or too long
 */
export function parseExactJson(text: string, what: string): unknown {
  if (text.length > charactersMax) throw new MalformedAnswerError(what)
  try {
    // First as it stands: marking could mend what is no JSON.
    JSON.parse(text)
    const marked = text.replace(tokens, (token) => (integer.test(token) ? `"\\u0000${token}"` : token))
    return JSON.parse(marked, (_name, value: unknown) =>
      typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
    )
  } catch {
    throw new MalformedAnswerError(what)
  }
}
