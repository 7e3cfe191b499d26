import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeFailure, type ErrorPolicy, type FailureAnswer } from './describeFailure.ts'
import { RequestFailure } from './failure.ts'

type AnswerFailure = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

/** Makes the error handler of every listener: sends the answer of `describeFailure` and has the failure logged once. */
export function createErrorHandler(policy: ErrorPolicy): AnswerFailure {
  return (error, request, reply) => {
    const failure = describeFailure(error, policy)
    request.errorCode = failure.body.errorCode
    const { exchange } = request
    // Normally the log line of the request tells the failure. A line of its own is needed where the request's line is
    // already written, or on listeners that write none.
    if (exchange?.isEnded === false) exchange.failed = { error, failure }
    else if (!isCallerGone(error, request)) logFailure(error, failure, request)
    if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds)
    reply.code(failure.status).type('application/json; charset=utf-8').send(failure.body)
  }
}

/** True if the handler ended only because its caller went away: the request's line already says 499. */
function isCallerGone(error: unknown, { abortController }: FastifyRequest): boolean {
  return abortController?.signal.aborted === true && error === abortController.signal.reason
}

export function notFound(): RequestFailure {
  return new RequestFailure('not_found', 'There is nothing at this URL for this method.')
}

function logFailure(error: unknown, failure: FailureAnswer, request: FastifyRequest): void {
  const { errorCode, statusCode } = failure.body
  const fields = {
    event: 'request',
    method: request.method,
    route: request.routeOptions.url,
    statusCode,
    errorCode,
    clientRequestId: request.clientRequestId ?? undefined,
    keyId: request.apiKey?.keyId,
  }
  if (failure.isBug) request.log.error({ ...fields, err: error }, 'request failed unexpectedly')
  else if (statusCode >= 500) request.log.warn({ ...fields, err: error }, 'request could not be served')
  // A flood of refusals must not become a flood of lines: metrics count them.
  else if (statusCode === 429) request.log.debug(fields, 'request limited')
  else request.log.info(fields, 'request refused')
}
