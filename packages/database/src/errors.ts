import { DomainError, UpstreamUnavailableError } from '@causeway/core'

/** More statements wait for a connection than may: the caller should come back later. */
export class DatabaseOverloadedError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
  readonly kind = 'overloaded'

  constructor() {
    super('The service is overloaded.', { retryAfterSeconds: 1 })
  }
}

/** SQLSTATEs after which the same transaction may succeed: nothing of it was committed. */
const transientStates: ReadonlySet<string> = new Set([
  '25006', // read-only transaction: a standby, or a disk that is full
  '40001', // serialization failure
  '40P01', // deadlock
  '53000', // insufficient resources
  '53100', // disk full
  '53200', // out of memory
  '53300', // too many connections
  '55P03', // lock not available
  '57014', // statement timeout
  '57P01', // the server is stopping
  '57P02', // the server is recovering from a crash
  '57P03', // the server is starting
  '57P05', // idle session timeout
  '25P03', // idle in transaction timeout
])

/** Class 08 is "connection exception"; Node's own codes start with E. */
const connectionCode = /^(08|E[A-Z])/
const connectionMessage =
  /^(Connection terminated|Client was closed|Client has encountered|Query read timeout|timeout e)/

/** True when an error says that the connection, not the statement, is at fault. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = sqlState(error)
  if (code === undefined) return connectionMessage.test(error.message)
  if (isStalePlan(code, error.message)) return true
  return connectionCode.test(code) || code.startsWith('57P')
}

/** A migration changed what a prepared statement returns: a new connection plans it anew. */
function isStalePlan(code: string, message: string): boolean {
  return code === '0A000' && message.includes('cached plan')
}

/** What a caller of the service should get: unavailability as such, everything else as it is. */
export function toCallerError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error
  const code = sqlState(error)
  const isTransient = code !== undefined && transientStates.has(code)
  if (!isTransient && !isConnectionError(error)) return error
  return new UpstreamUnavailableError('The database did not answer in time.', { cause: error })
}

/** SQLSTATE of a driver error, or Node's code of a socket error. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
