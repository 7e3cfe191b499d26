import { UpstreamUnavailableError } from '@causeway/core'
import { EndpointFailure, type FailureReason } from './endpointFailure.ts'
import { NodeError } from './nodeError.ts'

/** True if the range of a log query was too wide: a smaller one may be answered. */
export const isTooWide = (error: unknown): boolean => hasFailed(error, 'too_wide')

/** True if an endpoint's rate left no turn for the request in time: fewer requests may be answered. @source F-65 */
export const isOverPace = (error: unknown): boolean => hasFailed(error, 'busy')

/**
 * Error for callers when no endpoint of a chain gave a usable answer. The reasons, by alias, are in `cause`. Any error
 * other than an `EndpointFailure` is a bug and is rethrown unchanged.
 * @param pauseMs milliseconds until one of the endpoints may be asked again
 */
export function toUpstreamError(
  chainId: string,
  failures: readonly unknown[],
  pauseMs: number,
): UpstreamUnavailableError {
  const bug = failures.find((failure) => failure !== undefined && !(failure instanceof EndpointFailure))
  if (bug !== undefined) throw bug
  const endpointFailures = failures.filter((failure) => failure instanceof EndpointFailure)
  const late = endpointFailures.some(({ reason }) => reason === 'timeout' || reason === 'cancelled')
  return new UpstreamUnavailableError(
    late ? `Chain ${chainId} did not answer in time.` : `Chain ${chainId} cannot be read at the moment.`,
    {
      code: late ? 'REQUEST_TIMED_OUT' : 'RPC_HTTP_ERROR',
      data: { chainId },
      cause: new AggregateError(endpointFailures, endpointFailures.map(({ message }) => message).join('; ')),
      retryAfterSeconds: Math.max(1, Math.ceil(pauseMs / 1_000)),
    },
  )
}

/** True if endpoints refused the request or its answer was too long: a smaller request may be answered. */
export const refusesContent = (error: unknown): boolean =>
  error instanceof NodeError || hasFailed(error, 'oversize')

function hasFailed(error: unknown, reason: FailureReason): boolean {
  const cause = error instanceof UpstreamUnavailableError ? error.cause : undefined
  const failures: readonly unknown[] = cause instanceof AggregateError ? cause.errors : []
  return failures.some((failure) => failure instanceof EndpointFailure && failure.reason === reason)
}
