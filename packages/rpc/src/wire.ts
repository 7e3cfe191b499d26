import { EndpointFailure } from './endpointFailure.ts'
import type { HttpAnswer, HttpRequest } from './httpTransport.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'

/** The JSON-RPC body of the calls, with ids from `firstId` on; a single call is no array. */
export function encodeCalls(calls: readonly RpcCall[], firstId: number): string {
  const bodies = calls.map(({ method, params }, index) => ({
    jsonrpc: '2.0',
    id: firstId + index,
    method,
    params,
  }))
  return JSON.stringify(bodies.length === 1 ? bodies[0] : bodies)
}

/**
 * Parses a JSON-RPC body into answers in call order, whatever their order in the body.
 * @throws EndpointFailure if the text is not JSON (`not_json`), does not have exactly one well-formed answer for each
 * id (`bad_answer`), or is an error for too many requests (`rate_limited`)
 */
export function parseAnswers(
  text: string,
  expected: { readonly alias: string; readonly count: number; readonly firstId: number },
): readonly RpcAnswer[] {
  const { alias, count, firstId } = expected
  const parsed = parseJson(text, alias)
  if (count > 1 && !Array.isArray(parsed)) throw refusedBatch(parsed, text, alias)
  const members: readonly unknown[] =
    count === 1 ? [withId(parsed, firstId)] : Array.isArray(parsed) ? parsed : []
  // Fewer answers than calls may mean that the endpoint takes no larger batch, so the number goes into `said`.
  if (members.length !== count) {
    const message = members.length < count ? `${members.length} answers` : ''
    throw new EndpointFailure({ alias, reason: 'bad_answer', said: message })
  }

  const answers = new Array<RpcAnswer | undefined>(count).fill(undefined)
  for (const member of members) {
    const { id, answer } = parseMember(member, alias)
    const index = id - firstId
    if (index < 0 || index >= count || answers[index] !== undefined) {
      throw new EndpointFailure({ alias, reason: 'bad_answer' })
    }
    answers[index] = answer
  }
  // There are as many members as calls, and each has another id, so none is missing.
  return answers.filter((answer) => answer !== undefined)
}

/**
 * The node's own error for a single call, in a body with another status than 200; undefined if there is none.
 * @throws EndpointFailure if that error means too many requests
 */
export function refusalIn(
  text: string,
  expected: { readonly alias: string; readonly count: number; readonly firstId: number },
): readonly RpcAnswer[] | undefined {
  if (expected.count > 1) return undefined
  try {
    const answers = parseAnswers(text, expected)
    return answers.every(({ ok }) => !ok) ? answers : undefined
  } catch (error) {
    if (error instanceof EndpointFailure && error.reason !== 'rate_limited') return undefined
    throw error
  }
}

/** Most characters that are kept of a refusal's text. */
export const saidMax = 1_000

/** Code for a refusal by a node with a path interface, which has no codes. */
const refusalCode = -32_000

/** Statuses by which such nodes also report, to a GET, a missing object; the body then counts as an answer. */
const answerStatuses = [400, 404]

/**
 * Asks a node with a path interface (Tron). The method of a call is the path; its first parameter is POSTed as JSON,
 * and a call without parameters is a GET. The first call is answered before the others are sent, all at once: so a head
 * that is asked for first is no newer than the other answers.
 * @throws EndpointFailure
 */
export async function askPaths(
  calls: readonly RpcCall[],
  alias: string,
  fetch: (request: HttpRequest) => Promise<HttpAnswer>,
): Promise<readonly RpcAnswer[]> {
  const ask = async ({ method: path, params: [body] }: RpcCall): Promise<RpcAnswer> => {
    const request: HttpRequest =
      body === undefined ? { method: 'GET', path, answerStatuses } : { method: 'POST', path, body }
    return readPathAnswer((await fetch(request)).text, alias)
  }
  const [first, ...others] = calls
  if (first === undefined) return []
  const firstAnswer = await ask(first)
  return [firstAnswer, ...(await Promise.all(others.map(ask)))]
}

/** An answer; the node's exception, in the member `Error`, becomes an error. @throws EndpointFailure if it is no JSON */
function readPathAnswer(text: string, alias: string): RpcAnswer {
  const body = parseJson(text, alias)
  if (isObject(body) && 'Error' in body)
    return { ok: false, code: refusalCode, message: String(body['Error']) }
  return { ok: true, result: body }
}

function parseJson(text: string, alias: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new EndpointFailure({ alias, reason: 'not_json', said: text.slice(0, saidMax) })
  }
}

function parseMember(member: unknown, alias: string): { id: number; answer: RpcAnswer } {
  if (!isObject(member)) throw new EndpointFailure({ alias, reason: 'bad_answer' })
  const error = parseError(member)
  if (error !== undefined && isRateLimit(error)) throw new EndpointFailure({ alias, reason: 'rate_limited' })
  const { id } = member
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) {
    throw new EndpointFailure({ alias, reason: 'bad_answer' })
  }
  if (error !== undefined) return { id, answer: error }
  if (!('result' in member) || isPresent(member['error'])) {
    throw new EndpointFailure({ alias, reason: 'bad_answer' })
  }
  return { id, answer: { ok: true, result: member['result'] } }
}

/** Adds the id of the only call to an error whose `id` is null or missing. @source JSON-RPC 2.0, 5 */
function withId(member: unknown, id: number): unknown {
  return isObject(member) && isPresent(member['error']) && !isPresent(member['id'])
    ? { ...member, id }
    : member
}

/** Turns a receipt without logs, whose bloom filter shows that there are some, into a temporary error. @source F-64 */
export function refuseHollow(answer: RpcAnswer, call: RpcCall | undefined): RpcAnswer {
  if (call?.method !== 'eth_getTransactionReceipt' || !answer.ok || !isObject(answer.result)) return answer
  const { logs, logsBloom } = answer.result
  const isHollow = Array.isArray(logs) && logs.length === 0 && /^0x0*[1-9a-f]/i.test(String(logsBloom))
  return isHollow ? { ok: false, code: -32_603, message: 'the node does not show the logs yet' } : answer
}

type NodeRefusal = Extract<RpcAnswer, { ok: false }>

function parseError(member: Readonly<Record<string, unknown>>): NodeRefusal | undefined {
  const { error } = member
  if (!isObject(error)) return undefined
  const { code, message, data } = error
  if (typeof code !== 'number' || !Number.isFinite(code)) return undefined
  return {
    ok: false,
    code,
    message: typeof message === 'string' ? message : '',
    ...(data !== undefined && { data }),
  }
}

/** Failure for a batch that was answered by one object: the endpoint refused it as a whole. */
function refusedBatch(parsed: unknown, text: string, alias: string): EndpointFailure {
  const error = isObject(parsed) ? parseError(parsed) : undefined
  const isLimited = error !== undefined && isRateLimit(error)
  const excerpt = text.slice(0, saidMax)
  return new EndpointFailure({ alias, reason: isLimited ? 'rate_limited' : 'bad_answer', said: excerpt })
}

/**
 * True for an error that means too many requests; providers send it with status 200 as well. Some codes also mean too
 * many results of a log query or a skipped slot, which the caller must see, so for these the message decides.
 * @source F-61
 */
function isRateLimit({ code, message }: NodeRefusal): boolean {
  if (code === 429 || code === -32_029) return true
  return limitCodes.has(code) && limitWords.test(message)
}

const limitCodes: ReadonlySet<number> = new Set([-32_005, -32_007, -32_016])
const limitWords = /too many requests|rate.?limit|request (limit|rate)|per second|capacity/i

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Some nodes send `"error": null` beside a result. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
