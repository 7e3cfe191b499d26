import { type DestinationStream, type Logger, pino, symbols } from 'pino'
import { createLogDestination, type LogDestination } from './logDestination.ts'
import { scrubUrls } from './scrubUrls.ts'

export type LoggerOptions = {
  /** Name of the service in every line. */
  readonly service: string
  readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  /** Default: standard output. */
  readonly destination?: DestinationStream
}

const redactedPaths = [
  'apiKey',
  '*.apiKey',
  'privateKey',
  '*.privateKey',
  'password',
  '*.password',
  'PEERS',
  '*.PEERS',
  'authorization',
  'cookie',
  'headers["x-api-key"]',
  '*.headers["x-api-key"]',
  '*.headers.authorization',
  '*.headers.cookie',
]

const causeDepthMax = 4
/** Shared by all loggers of a process: the lines of two destinations could mix within a line. */
let standardOutput: LogDestination | undefined

/** Number of request lines that were not written because the log's reader was too slow. */
export const droppedLines = (): number => standardOutput?.dropped() ?? 0

/**
 * Makes the logger of a service, which writes JSON lines. Objects are reduced to an allow-list: requests and answers to
 * names and numbers, errors to type, code, message and stack without URLs. Known secret fields are redacted. Bodies are
 * never logged.
 */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level,
    base: { service: options.service },
    redact: { paths: redactedPaths, censor: '[redacted]' },
    serializers: {
      err: serializeError,
      error: serializeError,
      req: serializeRequest,
      res: serializeResponse,
    },
  }
  standardOutput ??= createLogDestination()
  const logger = pino(settings, options.destination ?? standardOutput)
  skipTextsAndNumbers(logger)
  return logger
}

/**
 * Writes texts and numbers without redaction of members, which they cannot have. By itself pino searches every field of a
 * line for members, which takes five times as long as the rest of the line.
 * @throws Error if pino keeps its redaction elsewhere
 */
function skipTextsAndNumbers(logger: Logger): void {
  const stringifiers: unknown = Reflect.get(logger, symbols.stringifiersSym)
  if (typeof stringifiers !== 'object' || stringifiers === null) throw new Error('pino redacts nothing')
  const redact: unknown = Reflect.get(stringifiers, symbols.wildcardFirstSym)
  if (typeof redact !== 'function') throw new Error('pino redacts no members')
  Reflect.set(stringifiers, symbols.wildcardFirstSym, (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value) : redact(value),
  )
}

/** An error as it may be logged, its causes included. */
function serializeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const hasCause = error.cause !== undefined && depth < causeDepthMax
  return {
    type: error.name,
    message: scrubUrls(error.message),
    ...('code' in error && isPlain(error.code) && { code: error.code }),
    ...(error.stack !== undefined && { stack: scrubUrls(error.stack) }),
    ...(hasCause && { cause: serializeError(error.cause, depth + 1) }),
  }
}

function isPlain(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

type LoggedRequest = {
  readonly method?: string
  readonly id?: string
  readonly routeOptions?: { readonly url?: string | undefined }
}

/** The route's pattern instead of the URL: paths and queries may hold anything. */
function serializeRequest(request: LoggedRequest): Record<string, unknown> {
  return { method: request.method, route: request.routeOptions?.url, requestId: request.id }
}

function serializeResponse(response: { readonly statusCode?: number }): Record<string, unknown> {
  return { statusCode: response.statusCode }
}
