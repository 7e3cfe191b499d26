/**
 * A JSON object that a service answered. `textOf`, `listOf` and `memberOf` read its members; a member that is absent or of
 * another type reads as empty.
 */
export type Answer = Readonly<Record<string, unknown>>

/** The service answered with an error status. The message is the service's own. */
export class RefusedError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'RefusedError'
    this.status = status
  }
}

/** Thrown when typed text is not valid for its field. */
export class FieldError extends Error {
  /** Name of the field in its form. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.name = 'FieldError'
    this.field = field
  }
}

const timeoutMs = 15_000

/**
 * Calls a route of the host that the page came from: GET, or POST with a body.
 * @throws RefusedError for an error status
 */
export async function ask(path: string, headers: Headers, body?: object): Promise<Answer> {
  return answerOf(await (await send(path, headers, body)).json().catch(() => undefined))
}

/** Downloads a file, with its name from `content-disposition`. @throws RefusedError for an error status */
export async function askFile(path: string, headers: Headers): Promise<{ file: Blob; name: string }> {
  const response = await send(path, headers)
  const [, name = 'file'] =
    /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? []
  return { file: await response.blob(), name }
}

type Headers = Readonly<Record<string, string>>

async function send(path: string, headers: Headers, body?: object): Promise<Response> {
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    credentials: 'omit',
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.ok) return response
  const answer = answerOf(await response.json().catch(() => undefined))
  const code = textOf(answer, 'errorCode')
  throw new RefusedError(
    response.status,
    `${code === '' ? response.status : code}: ${textOf(answer, 'message')}`,
  )
}

function answerOf(value: unknown): Answer {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** A member that is a text, a number or a boolean, as text; '' for anything else. */
export function textOf(answer: Answer, name: string): string {
  const value = answer[name]
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

export function listOf(answer: Answer, name: string): readonly Answer[] {
  const value = answer[name]
  return Array.isArray(value) ? value.map(answerOf) : []
}

export function memberOf(answer: Answer, name: string): Answer {
  return answerOf(answer[name])
}

/** Shows an integer amount in micro-dollars as dollars with six decimals; `—` for other text. */
export function dollars(microUsd: string): string {
  if (!/^-?[0-9]{1,39}$/.test(microUsd)) return '—'
  const amount = BigInt(microUsd)
  const digits = (amount < 0n ? -amount : amount).toString().padStart(7, '0')
  return `${amount < 0n ? '−' : ''}$${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/** Shows a count. The service counts to 1001 at most, which then means more than a thousand. */
export function countText(count: string): string {
  return count === '1001' ? 'more than 1000' : count
}

/** Converts dollars that a user typed into the field `amount` to micro-dollars. @throws FieldError for other text */
export function microUsdOf(text: string): string {
  const match = /^([0-9]{1,12})(?:\.([0-9]{1,6}))?$/.exec(text)
  if (match === null) throw new FieldError('amount', 'An amount is digits, with a point and up to six more.')
  return BigInt(`${match[1]}${(match[2] ?? '').padEnd(6, '0')}`).toString()
}

/** Shows milliseconds as `2.3 s`, `4 min` or `3 h`; `—` for other text. Negative where a chain's clock is ahead. */
export function ageText(ms: string): string {
  if (!/^-?[0-9]{1,15}$/.test(ms)) return '—'
  const seconds = Number(ms) / 1_000
  if (Math.abs(seconds) < 60) return `${seconds.toFixed(1)} s`
  if (Math.abs(seconds) < 7_200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3_600)} h`
}

/** Shows an ISO 8601 time as `2026-11-25 16:00:00 UTC`; `—` for other text. */
export function timeText(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(iso)
  return match === null ? '—' : `${match[1]} ${match[2]} UTC`
}
