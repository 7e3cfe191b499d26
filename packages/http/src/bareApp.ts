import { IncomingMessage } from 'node:http'
import fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { createClientErrorHandler } from './clientErrors.ts'
import { Connections } from './connections.ts'
import type { ErrorPolicy } from './describeFailure.ts'
import { type DrainLimits, drainConnections } from './draining.ts'
import { createErrorHandler } from './errorHandler.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { parseJsonBody } from './json.ts'
import { serializerOf } from './serialization.ts'
import { compileValidator } from './validation.ts'

/** Bounds of one HTTP server; `DrainLimits` adds those of its closing. */
export type ServerLimits = DrainLimits & {
  readonly bodyBytesMax: number
  readonly headerBytesMax: number
  /** Time for the headers of a request to arrive. */
  readonly headersTimeoutMs: number
  /** Time for a whole request to arrive. */
  readonly requestTimeoutMs: number
  /** Silence on a connection before it is closed. */
  readonly connectionTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  /** Answers that one connection may be owed at once; it is closed for one more. */
  readonly outstandingMax: number
  /** Time in which a client must take at least one byte of what waits for it. */
  readonly stalledTimeoutMs: number
}

const defaultLimits: ServerLimits = {
  bodyBytesMax: 64 * 1024,
  headerBytesMax: 8 * 1024,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  connectionTimeoutMs: 15_000,
  keepAliveTimeoutMs: 65_000,
  outstandingMax: 16,
  stalledTimeoutMs: 10_000,
  acceptMs: 1_000,
  firstRequestMs: 1_000,
  // These 18 s and the 5 s for balancers end before the 25 s after which a stopping service is killed.
  closeMs: 18_000,
}

type BareAppOptions = {
  readonly logger: FastifyBaseLogger
  readonly errors: ErrorPolicy
  readonly trustedProxies: readonly string[]
  /** Makes request ids of this process distinct from those of others. */
  readonly processPrefix: string
  readonly limits?: Partial<ServerLimits>
  /** The one path that may be upgraded to a websocket. */
  readonly websocketPath?: string
}

export type BareApp = { readonly app: HttpApp; readonly connections: Connections }

/**
 * Makes the Fastify instance that the public, admin and ops listeners start from: server options, JSON parser, zod
 * compilers, error handling and graceful closing. It has no keys, limits or routes.
 */
export function createBareApp(options: BareAppOptions): BareApp {
  const { logger, errors, trustedProxies, websocketPath } = options
  const limits = { ...defaultLimits, ...options.limits }
  const handleError = createErrorHandler(errors)
  const connections = new Connections(limits)
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'httpRequestId' }),
    genReqId: createRequestIds(options.processPrefix),
    requestIdHeader: false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.connectionTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      maxHeaderSize: limits.headerBytesMax,
      // Node looks for late requests only this often; its default is 30 s.
      connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
      ...(websocketPath !== undefined && { IncomingMessage: upgradesOnlyAt(websocketPath) }),
    },
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    exposeHeadRoutes: false,
    // Requests that arrive while the server closes are served; `registerHeaders` then ends their connections.
    return503OnClosing: false,
    allowErrorHandlerOverride: false,
    clientErrorHandler: createClientErrorHandler(errors, connections),
    frameworkErrors: handleError,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 100 },
  }).withTypeProvider<ZodTypeProvider>()
  app.setErrorHandler(handleError)
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(serializerOf)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    done(null, parseJsonBody(typeof body === 'string' ? body : body.toString('utf8')))
  })
  app.decorateRequest('apiKey', null)
  app.decorateRequest('clientRequestId', null)
  app.decorateRequest('errorCode', null)
  app.decorateRequest('subject', null)
  app.decorateRequest('exchange', null)
  connections.watch(app.server)
  app.addHook('preClose', () => drainConnections(app.server, connections, limits))
  return { app, connections }
}

/** Request ids: a random prefix per process and a counter; cheaper than random bytes per request. */
function createRequestIds(processPrefix: string): () => string {
  let count = 0
  return () => {
    count += 1
    return `${processPrefix}-${count.toString(36)}`
  }
}

const clientRequestIdPattern = /^[\w-]{1,64}$/

/** The caller's own `x-request-id`; undefined for text that could break a log line. */
export function readClientRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && clientRequestIdPattern.test(header) ? header : undefined
}

/**
 * Makes the request class of a server that upgrades one path to websockets and ignores every other upgrade. Without it
 * Node treats each request with an `upgrade` header as an upgrade once an upgrade listener exists, and reads no body.
 * Clients that offer `h2c` with each request, such as Java's, would then get no answer.
 * @source RFC 9110 7.8: a server may ignore the header
 */
function upgradesOnlyAt(path: string): typeof IncomingMessage {
  return class extends IncomingMessage {
    /** `upgrade` as Node's parser set it. No initial value: the base class sets it before this field exists. */
    declare parsedUpgrade: boolean | null

    get upgrade(): boolean {
      if (this.parsedUpgrade !== true) return false
      // As in Node itself, a CONNECT is always an upgrade.
      return this.method === 'CONNECT' || asksForWebsocket(this, path)
    }

    set upgrade(value: boolean | null) {
      this.parsedUpgrade = value
    }
  }
}

function asksForWebsocket(request: IncomingMessage, websocketPath: string): boolean {
  const { method, url = '', headers } = request
  const [path] = url.split('?', 1)
  return method === 'GET' && path === websocketPath && headers.upgrade?.toLowerCase() === 'websocket'
}
