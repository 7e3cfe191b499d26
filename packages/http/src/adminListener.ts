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
  /** Address it will be bound to. */
  readonly host: string
  /** `ENVIRONMENT=local`, the only one whose listener may stand open on loopback. */
  readonly isLocal: boolean
  /** `ADMIN_API_KEY`; may be absent in `local` and on loopback only. */
  readonly apiKey?: Secret
  readonly openApi: Omit<OpenApiOptions, 'servers'>
}

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * The listener for mutations by operators; the caller adds routes and listens on `host`.
 * With a key every request needs it in `x-api-key`; only the description of the routes, which is public with the
 * source, may be read without. Without a key, in `local` alone, only loopback may be
 * bound, and requests must name loopback in `host`, so that a web page cannot reach it through a rebound
 * name. Elsewhere whatever runs on the machine could be operator, so loopback needs the key as well. Files of pages
 * (`config.isPage`) hold nothing and need no key: a browser cannot send one before it has them.
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
  const isAllowed = apiKey === undefined ? namesLoopback : eitherOf(isDescription, createKeyCheck(apiKey))
  const isOpen = (request: FastifyRequest) =>
    apiKey !== undefined && request.routeOptions.config.isPage === true
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('cache-control', 'no-store')
    if (!isOpen(request) && !isAllowed(request)) return done(unauthorized())
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

/** @throws ConfigurationError where nobody could tell the operator from others */
export function checkAdminKey({
  host,
  isLocal,
  apiKey,
}: Pick<AdminListenerOptions, 'host' | 'isLocal' | 'apiKey'>): void {
  const mayStandOpen = isLocal && loopbackHosts.has(host)
  if (apiKey !== undefined) checkKeySetting(apiKey.reveal(), 'ADMIN_API_KEY', mayStandOpen)
  if (apiKey !== undefined || mayStandOpen) return
  throw new ConfigurationError(
    isLocal
      ? 'ADMIN_HOST is not a loopback address, so ADMIN_API_KEY must be set.'
      : 'ADMIN_API_KEY is required in every environment but local, on loopback too.',
  )
}

type Check = (request: FastifyRequest) => boolean

function eitherOf(one: Check, other: Check): Check {
  return (request) => one(request) || other(request)
}

/** By the route that was found, whatever the URL looked like. */
function isDescription({ routeOptions: { url = '' }, is404 }: FastifyRequest): boolean {
  return !is404 && (url === descriptionPath || url.startsWith(`${descriptionPath}/`))
}

function namesLoopback(request: FastifyRequest): boolean {
  const host = request.headers.host ?? ''
  const name = host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.split(':', 1)[0]
  return name !== undefined && loopbackHosts.has(name)
}

/** Compares hashes, so that neither content nor length of the key shows in the time it takes. */
function createKeyCheck(apiKey: Secret): Check {
  const expected = createHash('sha256').update(apiKey.reveal()).digest()
  return (request) => {
    const presented = request.headers['x-api-key']
    if (typeof presented !== 'string') return false
    return timingSafeEqual(createHash('sha256').update(presented).digest(), expected)
  }
}
