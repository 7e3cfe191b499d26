import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { ConfigurationError, type Secret } from '@causeway/core'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { unauthorized } from './apiKeyHook.ts'
import { checkKeySetting } from './apiKeys.ts'
import { createBareApp } from './bareApp.ts'
import type { ErrorPolicy } from './describeFailure.ts'
import { notFound } from './errorHandler.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { type OpenApiOptions, registerOpenApi } from './openapi.ts'
import { descriptionPath } from './referencePage.ts'

export type AdminListenerOptions = {
  readonly logger: FastifyBaseLogger
  readonly errors: ErrorPolicy
  /** Address that the caller will bind the listener to; decides whether a key is required. */
  readonly host: string
  /** `ENVIRONMENT=local`, the only one whose listener may stand open on loopback. */
  readonly isLocal: boolean
  /** `ADMIN_API_KEY`; may be absent in `local` and on loopback only. */
  readonly apiKey?: Secret
  readonly openApi: Omit<OpenApiOptions, 'servers'>
}

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * Makes the listener for mutations by operators; the caller adds routes and listens on `host`.
 *
 * With a key: every request must carry it in `x-api-key`. Exempt are the description of the routes, which is public
 * with the source, and files of pages (`config.isPage`): they hold no secret, and a browser needs them before it can
 * send a key.
 *
 * Without a key: allowed only in `local` and only on loopback. Requests must then name loopback in `host`, which stops
 * a web page that reaches the listener through DNS rebinding. Other environments require the key on loopback as well,
 * because any program on the machine could act as operator there.
 * @throws ConfigurationError for a key that is missing or can be guessed
 * @source rule O-141
 */
export async function createAdminListener(options: AdminListenerOptions): Promise<HttpApp> {
  const { logger, errors, apiKey, openApi } = options
  checkAdminKey(options)
  const { app } = createBareApp({
    logger,
    errors,
    trustedProxies: [],
    processPrefix: randomBytes(5).toString('hex'),
  })
  const isAllowed = apiKey === undefined ? namesLoopback : keyedAccess(createKeyCheck(apiKey))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('cache-control', 'no-store')
    if (!isAllowed(request)) return done(unauthorized())
    done(request.is404 ? notFound() : undefined)
  })
  await registerOpenApi(app, {
    ...openApi,
    servers: [{ url: '/', description: 'This listener' }],
    policy: errors,
    bearerKeys: false,
    isAdmin: true,
  })
  return app
}

/** @throws ConfigurationError where a key is required and missing, or is easy to guess */
export function checkAdminKey({
  host,
  isLocal,
  apiKey,
}: Pick<AdminListenerOptions, 'host' | 'isLocal' | 'apiKey'>): void {
  const mayStandOpen = isLocal && loopbackHosts.has(host)
  // A short key will do there too, because only the operator reaches the listener.
  if (apiKey !== undefined) checkKeySetting(apiKey.reveal(), 'ADMIN_API_KEY', mayStandOpen)
  if (apiKey !== undefined || mayStandOpen) return
  throw new ConfigurationError(
    isLocal
      ? 'ADMIN_HOST is not a loopback address, so ADMIN_API_KEY must be set.'
      : 'ADMIN_API_KEY is required in every environment but local, on loopback too.',
  )
}

type AccessCheck = (request: FastifyRequest) => boolean

function keyedAccess(hasKey: AccessCheck): AccessCheck {
  return (request) => request.routeOptions.config.isPage === true || isDescription(request) || hasKey(request)
}

/** Looks at the pattern of the matched route and not at the URL, which a caller may spell in many ways. */
function isDescription({ routeOptions: { url = '' }, is404 }: FastifyRequest): boolean {
  return !is404 && (url === descriptionPath || url.startsWith(`${descriptionPath}/`))
}

function namesLoopback(request: FastifyRequest): boolean {
  const host = request.headers.host ?? ''
  const name = host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.split(':', 1)[0]
  return name !== undefined && loopbackHosts.has(name)
}

/** Compares hashes in constant time, so that timing shows neither content nor length of the key. */
function createKeyCheck(apiKey: Secret): AccessCheck {
  const expected = createHash('sha256').update(apiKey.reveal()).digest()
  return (request) => {
    const presented = request.headers['x-api-key']
    if (typeof presented !== 'string') return false
    return timingSafeEqual(createHash('sha256').update(presented).digest(), expected)
  }
}
