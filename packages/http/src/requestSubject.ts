import type { FastifyRequest } from 'fastify'

/** Ids that a request is about. Operators find its log line and its span by them. */
export type RequestSubject = {
  readonly requestId?: string
  readonly orderId?: string
  readonly transactionHash?: string
  /** Id of a solver's work item. */
  readonly item?: string
}

/** Matches ids of requests, orders, items and transactions of every family. */
const idPattern = /^[\w-]{8,128}$/

/** Members of path, query and body that hold these ids, with the member of the subject for each. */
const memberNames: readonly (readonly [string, keyof RequestSubject])[] = [
  ['requestId', 'requestId'],
  ['orderId', 'orderId'],
  ['txHash', 'transactionHash'],
  ['transactionHash', 'transactionHash'],
  ['transactionId', 'transactionHash'],
  ['hash', 'transactionHash'],
]

/** For handlers: adds ids that the request itself does not contain, such as those of a new quote. */
export function noteSubject(request: FastifyRequest, subject: RequestSubject): void {
  request.subject = { ...request.subject, ...subject }
}

/**
 * Collects the ids that the caller sent and that handlers noted; noted ones win. Text that does not look like an id is
 * left out, so that no caller can write arbitrary text into the log.
 */
export function subjectOf(request: FastifyRequest): RequestSubject {
  const subject: { -readonly [Name in keyof RequestSubject]: string } = {}
  for (const members of [request.params, request.query, request.body]) {
    if (typeof members !== 'object' || members === null) continue
    for (const [memberName, name] of memberNames) {
      const id = readId(members, memberName)
      if (id !== undefined) subject[name] ??= id
    }
  }
  return request.subject === null ? subject : Object.assign(subject, request.subject)
}

function readId(members: object, name: string): string | undefined {
  if (!Object.hasOwn(members, name)) return undefined
  const value: unknown = Reflect.get(members, name)
  return typeof value === 'string' && idPattern.test(value) ? value : undefined
}
