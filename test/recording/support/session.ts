// Asks a service what a scenario says, and keeps each request with its answer as it is written to the recording.
import { z } from 'zod'
import { normalise } from './normalise.ts'

export type Asked = {
  /** Name of the recorded case; unique in its group. */
  readonly name: string
  /** Default: POST with a body, GET without. */
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON; text as it is. */
  readonly body?: object | string
  /** False for an answer with ids of its own in a session whose answers have none. */
  readonly isExact?: false
  /** Members of the answer that differ from run to run and that nobody relies on. */
  readonly volatile?: readonly string[]
  /** Asked again until it holds, at most for a minute; only the last answer is kept. */
  readonly until?: (answer: Answered) => boolean
}

export type Answered = {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON, or the text where it is none. */
  readonly body: unknown
}

export type Exchange = {
  readonly name: string
  readonly method: string
  /** Without query. */
  readonly path: string
  readonly status: number
  /** As it came. */
  readonly body: unknown
  /** As it is kept: normalised. */
  readonly kept: unknown
}

export type Session = {
  ask(asked: Asked): Promise<Answered>
  /** Sends a request without recording it. */
  prepare(asked: Asked): Promise<Answered>
  /** From now on this value of the run is shown under a name. */
  name(value: string, name: string): void
  /** Exchanges since the last call. */
  take(): readonly Exchange[]
}

/** Headers that callers rely on. */
const keptHeaders = [
  ...['content-type', 'cache-control', 'retry-after', 'deprecation', 'sunset', 'link', 'location', 'allow'],
  ...['x-quorum-matched', 'x-quorum-required', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'connection'],
  ...['access-control-allow-origin', 'access-control-allow-methods', 'access-control-allow-headers'],
]
/** Headers of nearly every answer, which are not repeated. */
const usualHeaders: Readonly<Record<string, string>> = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  connection: 'keep-alive',
}
const patienceMs = 60_000
const longestKept = 5_000

export type SessionWords = {
  readonly literals: Set<string>
  readonly names: Map<string, string>
  /** Ids, hashes and signatures are the same in every run. */
  readonly isExact?: boolean
}

export function createSession(url: string, words: SessionWords): Session {
  let exchanges: Exchange[] = []
  return {
    prepare: (asked) => untilItHolds(asked, () => send(url, requestOf(asked))),
    async ask(asked) {
      const request = requestOf(asked)
      const answer = await untilItHolds(asked, () => send(url, request))
      for (const text of JSON.stringify(request).match(/0x[0-9a-f]{40,64}\b/gi) ?? []) {
        if (!words.names.has(text.toLowerCase())) words.literals.add(text.toLowerCase())
      }
      const whole = { request: shortened(request), answer: keptAnswer(answer) }
      const { volatile = [], isExact = words.isExact ?? false } = asked
      const shown = normalise(whole, { ...words, isExact, volatile, nowMs: timeOf(answer) })
      const path = asked.path.replace(/\?.*$/, '')
      exchanges.push({
        name: asked.name,
        method: request.method,
        path,
        status: answer.status,
        body: answer.body,
        kept: { name: asked.name, ...z.record(z.string(), z.unknown()).parse(shown) },
      })
      return answer
    },
    name(value, name) {
      words.names.set(value.toLowerCase(), name)
    },
    take() {
      const taken = exchanges
      exchanges = []
      return taken
    },
  }
}

type Request = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
}

function requestOf({ method, path, headers, body }: Asked): Request {
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    path,
    ...(headers !== undefined && { headers }),
    // As it is sent: without members that are undefined.
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.parse(JSON.stringify(body)) }),
  }
}

async function untilItHolds({ name, until }: Asked, ask: () => Promise<Answered>): Promise<Answered> {
  const giveUpAtMs = Date.now() + patienceMs
  for (;;) {
    const answer = await ask()
    if (until === undefined || until(answer)) return answer
    if (Date.now() > giveUpAtMs) throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Asks again, because who is refused before all of his body is sent may lose the answer to a closed connection. */
async function send(url: string, request: Request, attempts = 5): Promise<Answered> {
  try {
    return await sendOnce(url, request)
  } catch (error) {
    if (attempts === 1 || !(error instanceof TypeError)) throw error
    return send(url, request, attempts - 1)
  }
}

async function sendOnce(url: string, { method, path, headers, body }: Request): Promise<Answered> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: parseExactly(text) }
}

/** JSON that was written as `JSON.stringify` writes it; any other text is kept as it is. */
function parseExactly(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text)
    return JSON.stringify(parsed) === text ? parsed : text
  } catch {
    return text
  }
}

/** A body that is there for its length is not kept whole. */
function shortened({ body, ...request }: Request): object {
  const text = typeof body === 'string' ? body : ''
  if (text.length <= longestKept) return { ...request, ...(body !== undefined && { body }) }
  return { ...request, body: `${text.slice(0, 40)}… of ${text.length} characters` }
}

function keptAnswer({ status, headers, body }: Answered): object {
  const kept = keptHeaders.flatMap((name) => {
    const value = headers.get(name)
    return value === (usualHeaders[name] ?? null) ? [] : [[name, value]]
  })
  return { status, ...(kept.length > 0 && { headers: Object.fromEntries(kept) }), body }
}

function timeOf({ headers }: Answered): number {
  return Date.parse(headers.get('date') ?? new Date().toUTCString())
}

/** One text member of a JSON answer, e.g. `textAt(answer, 'steps', 0, 'id')`. @throws Error when there is none */
export function textAt({ status, body }: Answered, ...path: readonly (string | number)[]): string {
  let at: unknown = body
  for (const step of path) at = typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined
  if (typeof at === 'string') return at
  throw new Error(`${status} has no text ${path.join('.')}: ${JSON.stringify(body)}`)
}
