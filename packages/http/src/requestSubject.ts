import type { FastifyRequest } from 'fastify'

/** Subject of a request; its log line and its span are found by these ids. */
export type RequestSubject = {
  readonly requestId?: string
  readonly orderId?: string
  readonly transactionHash?: string
  /** Id of a solver's work item. */
  readonly item?: string
}

/** As ids of requests, orders, items and transactions of every family are written: no space, no control character. */
const idForm = /^[\w-]{8,128}$/

/** Names that callers use for these ids. */
const spellings: readonly (readonly [string, keyof RequestSubject])[] = [
  ['requestId', 'requestId'],
  ['orderId', 'orderId'],
  ['txHash', 'transactionHash'],
  ['transactionHash', 'transactionHash'],
  ['transactionId', 'transactionHash'],
  ['hash', 'transactionHash'],
]

/** Handlers say what they made: the ids of a quote stand in no request. */
export function noteSubject(request: FastifyRequest, subject: RequestSubject): void {
  request.subject = { ...request.subject, ...subject }
}

/**
 * Ids that handlers noted or the caller wrote. Text that has no form of an id is left out, so that no caller can write
 * arbitrary text into the log.
 */
export function subjectOf(request: FastifyRequest): RequestSubject {
  const subject: { -readonly [Name in keyof RequestSubject]: string } = {}
  for (const part of [request.params, request.query, request.body]) {
    if (typeof part !== 'object' || part === null) continue
    for (const [spelling, name] of spellings) {
      const id = readId(part, spelling)
      if (id !== undefined) subject[name] ??= id
    }
  }
  return request.subject === null ? subject : Object.assign(subject, request.subject)
}

function readId(part: object, name: string): string | undefined {
  if (!Object.hasOwn(part, name)) return undefined
  const value: unknown = Reflect.get(part, name)
  return typeof value === 'string' && idForm.test(value) ? value : undefined
}
