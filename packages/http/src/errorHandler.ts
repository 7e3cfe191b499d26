import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeFailure, type ErrorPolicy, type FailureAnswer } from './describeFailure.ts'
import { RequestFailure } from './failure.ts'

type AnswerFailure = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

/** The one error handler: writes the answer of `describeFailure` and logs what an operator needs. */
export function createErrorHandler(policy: ErrorPolicy): AnswerFailure {
  return (error, request, reply) => {
    const failure = describeFailure(error, policy)
    request.errorCode = failure.body.errorCode
    const { exchange } = request
    // Said in the line of the request, unless that is written already or there is none.
    if (exchange?.isEnded === false) exchange.failed = { error, failure }
    else if (!isLeft(error, request)) logFailure(error, failure, request)
    if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds)
    reply.code(failure.status).type('application/json; charset=utf-8').send(failure.body)
  }
}

/** Its caller went away, and that alone ended its handler: the line of the request says 499 already. */
function isLeft(error: unknown, { abortController }: FastifyRequest): boolean {
  return abortController?.signal.aborted === true && error === abortController.signal.reason
}

/** Unknown URLs get the shared body; thrown before the body of the request is read. */
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
