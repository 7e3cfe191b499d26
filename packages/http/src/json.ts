import type { MaybePromise } from '@causeway/core'
import { RequestFailure } from './failure.ts'

const depthMax = 20
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const loneSurrogate = /[\ud800-\udfff]/u

/**
 * Parses a JSON body and refuses what `JSON.parse` accepts but handlers must not see: repeated keys (the last would
 * win), keys that reach prototypes, nesting above 20, numbers out of range, and text that no database column can hold
 * (NUL, lone surrogates).
 * @throws RequestFailure `empty_body`, `invalid_json` or `invalid_request`
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
  // Only an escape can write NUL or half a surrogate pair in UTF-8 text.
  const scan: Scan = { keyCount: 0, hasEscapes: text.includes('\\u') }
  inspectValue(value, 1, scan)
  // `JSON.parse` drops repeated keys, so the text then has more members than the value.
  if (countMembers(text) !== scan.keyCount) throw refusal('A member of the body is given twice.')
  return value
}

/** Progress of one inspection. `keyCount`: members of all objects seen so far. `hasEscapes`: texts need a check. */
type Scan = { keyCount: number; readonly hasEscapes: boolean }

function inspectValue(value: unknown, depth: number, scan: Scan): void {
  if (typeof value === 'string') {
    if (scan.hasEscapes) refuseUnsafeText(value)
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
  // `for in` sees own keys only, because `Object.prototype` has no enumerable ones. It is faster than `Object.keys`.
  for (const key in value) {
    scan.keyCount += 1
    if (forbiddenKeys.has(key)) throw refusal(`The body must not have a member named ${key}.`)
    if (scan.hasEscapes) refuseUnsafeText(key)
    // CAST: `key` was just enumerated on this parsed object.
    inspectValue((value as Record<string, unknown>)[key], depth + 1, scan)
  }
}

function refuseUnsafeText(text: string): void {
  if (text.includes('\0') || loneSurrogate.test(text))
    throw refusal('A text in the body holds a NUL or half a surrogate pair.')
}

const colon = 0x3a
const quote = 0x22
const backslash = 0x5c

/** Members written in valid JSON text: its colons outside strings. */
function countMembers(text: string): number {
  let count = 0
  let position = 0
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code === colon) count += 1
    position = code === quote ? endOfString(text, position) : position + 1
  }
  return count
}

/** Index after the quote that ends the string starting at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, position: number): boolean {
  let backslashCount = 0
  while (text.charCodeAt(position - 1 - backslashCount) === backslash) backslashCount += 1
  return backslashCount % 2 === 1
}

function refusal(rule: string): RequestFailure {
  return new RequestFailure('invalid_request', rule)
}

/** The part of a Fastify reply that `answerJson` uses, without the type of the route's schema. */
type JsonReply = {
  /** True once the request is answered, for example by the time limit. */
  readonly sent: boolean
  type(contentType: string): unknown
  send(payload: never): unknown
}

/**
 * Sends JSON text, or the error that its promise rejects with; a text that is there waits for no promise. For hot routes such as quotes: the text skips the
 * serializer of the route's schema, so tests must compare it with the schema. The handler must return nothing, because
 * Fastify's processing of an async handler's promise costs as much as pricing a quote.
 *
 * `setImmediate` sends all answers of one turn of the event loop together, which halves the cost of a write.
 */
export function answerJson(reply: JsonReply, answer: MaybePromise<string>): void {
  const send = (json: string) =>
    setImmediate(() => {
      if (reply.sent) return
      reply.type('application/json; charset=utf-8')
      // CAST: a route's own type asks for the object that this text stands for.
      reply.send(Buffer.from(json) as never)
    })
  if (typeof answer === 'string') {
    send(answer)
    return
  }
  // CAST: every reply takes an error, whatever it answers otherwise.
  answer.then(send, (error: unknown) => {
    if (!reply.sent) reply.send(toError(error) as never)
  })
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error('something else than an error was thrown', { cause: thrown })
}
