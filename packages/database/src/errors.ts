import { ConfigurationError, DomainError, UpstreamUnavailableError } from '@causeway/core'
import { UnfitSettingsError } from '@causeway/core/config'

/** Too many callers wait for a connection: the caller should try again later. */
export class DatabaseOverloadedError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
  readonly kind = 'overloaded'

  constructor() {
    super('The service is overloaded.', { retryAfterSeconds: 1 })
  }
}

/** The server answers but takes no writes: it starts, recovers from a crash, or is a standby. */
export class DatabaseStartingError extends UpstreamUnavailableError {
  override readonly code = 'DATABASE_STARTING'

  constructor(options: { cause?: unknown } = {}) {
    super('The database is starting.', { retryAfterSeconds: 2, ...options })
  }
}

/** The server's disk is full. Nothing of the transaction was committed. */
export class DatabaseDiskFullError extends UpstreamUnavailableError {
  override readonly code = 'DATABASE_DISK_FULL'

  constructor(options: { cause?: unknown } = {}) {
    super('The database has no space left on its disk.', { retryAfterSeconds: 5, ...options })
  }
}

/**
 * SQLSTATE of a write in a read-only session. The session may stay read-only after a failover or after the role's
 * setting was changed, so its connection is closed and a new one is opened.
 */
const readOnly = '25006'

/** SQLSTATEs after which the same transaction may succeed: nothing of it was committed. */
const transientStates: ReadonlySet<string> = new Set([
  readOnly,
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
/** Beginnings of messages of pg; the last one is `timeout exceeded when trying to connect`. */
const connectionMessage =
  /^(Connection terminated|Client was closed|Client has encountered|Query read timeout|timeout e)/

/** True if the connection caused the error and not the statement: then it is not used again. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseStartingError) return true
  const code = sqlState(error)
  if (code === undefined) return connectionMessage.test(error.message)
  if (isStalePlan(code, error.message)) return true
  return code === readOnly || connectionCode.test(code) || code.startsWith('57P')
}

/** A migration changed what a prepared statement returns: a new connection plans it anew. */
function isStalePlan(code: string, message: string): boolean {
  return code === '0A000' && message.includes('cached plan')
}

/** Maps an error to the one for callers: unavailability becomes an `UpstreamUnavailableError`, others are unchanged. */
export function toCallerError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error
  const code = sqlState(error)
  if (isDiskFull(error)) return new DatabaseDiskFullError({ cause: error })
  if (code !== undefined && startingStates.has(code)) return new DatabaseStartingError({ cause: error })
  const isTransient = code !== undefined && transientStates.has(code)
  if (!isTransient && !isConnectionError(error)) return error
  return new UpstreamUnavailableError('The database did not answer in time.', { cause: error })
}

/**
 * As `toCallerError`, for errors of connecting: every one is unavailability, since a refused login or too many
 * connections end by themselves or by an operator's act.
 */
export function toConnectingError(error: unknown): unknown {
  const callerError = toCallerError(error)
  if (callerError instanceof DomainError) return callerError
  return new UpstreamUnavailableError('The database takes no connection.', { cause: error })
}

/** SQLSTATE 53100, or the operating system's message where the server reports it under another state. */
function isDiskFull(error: Error): boolean {
  return sqlState(error) === '53100' || /No space left on device|Disk quota exceeded/.test(error.message)
}

const startingStates: ReadonlySet<string> = new Set([readOnly, '57P01', '57P02', '57P03'])

/** SQLSTATEs and socket errors of a server that does not listen yet, or does not accept connections yet. */
const notYetUpStates: ReadonlySet<string> = new Set([
  ...startingStates,
  '53300',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
])

/**
 * Maps an error during a service's start to one that waiting may end; `undefined` for one that an operator must fix,
 * such as a refused login, a missing database or an unknown host name.
 */
export function whileStarting(error: unknown): DatabaseStartingError | DatabaseDiskFullError | undefined {
  if (error instanceof DatabaseStartingError) return error
  if (!(error instanceof Error)) return undefined
  // `openMigrated` wraps the driver's error. A failed migration has a cause too, but no waiting mends it.
  if (error instanceof ConfigurationError && !(error instanceof UnfitSettingsError))
    return whileStarting(error.cause)
  if (isDiskFull(error)) return new DatabaseDiskFullError({ cause: error })
  const code = sqlState(error)
  const isNotYetUp = code === undefined ? connectionMessage.test(error.message) : notYetUpStates.has(code)
  return isNotYetUp ? new DatabaseStartingError({ cause: error }) : undefined
}

/** SQLSTATE of a driver error, or Node's code of a socket error. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
