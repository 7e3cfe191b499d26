import { RequestFailure } from './failure.ts'

const depthMax = 20
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const loneSurrogate = /[\ud800-\udfff]/u

/**
 * Parses a JSON body and closes what `JSON.parse` lets through: repeated keys (the last would win),
 * keys that reach prototypes, nesting above 20, numbers beyond range, and text that no database
 * column can hold (NUL, lone surrogates). Keeps no state.
 * @throws RequestFailure `empty_body`, `invalid_json` or `invalid_request`
 * @source ledger-and-safety.md 3.1
 */
export function parseJsonBody(text: string): unknown {
  if (text.length === 0) throw new RequestFailure('empty_body', 'The request body is empty.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new RequestFailure('invalid_json', 'The request body is not valid JSON.')
    }
    throw error
  }
  // Escapes are the one way to write NUL or half a surrogate pair in UTF-8 text.
  const scan: Scan = { keyCount: 0, checksText: text.includes('\\u') }
  inspectValue(value, 1, scan)
  if (countMembers(text) !== scan.keyCount) throw refusal('A member of the body is given twice.')
  return value
}

type Scan = { keyCount: number; readonly checksText: boolean }

function inspectValue(value: unknown, depth: number, scan: Scan): void {
  if (typeof value === 'string') {
    if (scan.checksText) refuseUnsafeText(value)
    return
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw refusal('A number in the body is out of range.')
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > depthMax) throw refusal(`The body is nested deeper than ${depthMax} levels.`)
  if (Array.isArray(value)) {
    for (const item of value) inspectValue(item, depth + 1, scan)
    return
  }
  // `for in` sees own keys only: a parsed object has none of its prototype's enumerable.
  for (const key in value) {
    scan.keyCount += 1
    if (forbiddenKeys.has(key)) throw refusal(`The body must not have a member named ${key}.`)
    if (scan.checksText) refuseUnsafeText(key)
    // CAST: `key` was just enumerated on this parsed object.
    inspectValue((value as Record<string, unknown>)[key], depth + 1, scan)
  }
}

function refuseUnsafeText(text: string): void {
  if (text.includes('\0') || loneSurrogate.test(text))
    throw refusal('A text in the body holds a NUL or half a surrogate pair.')
}

/** Members written in valid JSON text: its colons outside strings. */
function countMembers(text: string): number {
  let count = 0
  let position = 0
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code === 0x3a) count += 1
    position = code === 0x22 ? endOfString(text, position) : position + 1
  }
  return count
}

/** Index after the quote that ends the string starting at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1
  return backslashes % 2 === 1
}

function refusal(rule: string): RequestFailure {
  return new RequestFailure('invalid_request', rule)
}

/** Members of a reply that `answerJson` needs; the reply of every route fits, whatever its schema. */
type JsonReply = {
  /** True once the request was answered without waiting: because it took too long. */
  readonly sent: boolean
  type(contentType: string): unknown
  send(payload: never): unknown
}

/**
 * Answers with JSON that is text already, once it is there, or with the error that it ends in. The text
 * goes past the serializer of the route's schema, which walks an object member by member: tests must hold
 * it against the schema in its place. For a handler that returns nothing: what Fastify does with the
 * promise of an async one costs as much as pricing.
 *
 * Answers of one turn of the event loop are written together at its end: a write that has to wake its
 * reader costs twice one that finds it awake.
 */
export function answerJson(reply: JsonReply, answer: Promise<string>): void {
  answer.then(
    (json) =>
      setImmediate(() => {
        if (reply.sent) return
        reply.type('application/json; charset=utf-8')
        // CAST: a route's own type asks for the object that this text stands for.
        reply.send(Buffer.from(json) as never)
      }),
    // CAST: every reply takes an error, whatever it answers otherwise.
    (error: unknown) => {
      if (!reply.sent) reply.send(toError(error) as never)
    },
  )
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error('something else than an error was thrown', { cause: thrown })
}
