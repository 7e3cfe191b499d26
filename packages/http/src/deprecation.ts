import type { FastifyReply, RouteOptions } from 'fastify'

/** Deprecation of one route, set as `config.deprecation`; clients learn it from headers. */
export type Deprecation = {
  /** Time from which the route is deprecated, Unix seconds. @source RFC 9745 */
  readonly sinceUnixSeconds: number
  /** Path of the route that replaces it. */
  readonly successor?: string
  /** Time at which it will stop answering, Unix seconds. @source RFC 8594 */
  readonly sunsetUnixSeconds?: number
}

function formatDeprecationHeaders(deprecation: Deprecation): Record<string, string> {
  const { sinceUnixSeconds, successor, sunsetUnixSeconds } = deprecation
  return {
    deprecation: `@${sinceUnixSeconds}`,
    ...(successor !== undefined && { link: `<${successor}>; rel="successor-version"` }),
    ...(sunsetUnixSeconds !== undefined && { sunset: new Date(sunsetUnixSeconds * 1000).toUTCString() }),
  }
}

/** onRoute hook: a route with `config.deprecation` sends its headers on every answer, errors included. */
export function markDeprecatedRoute(route: RouteOptions): void {
  const deprecation = route.config?.deprecation
  if (deprecation === undefined) return
  const headers = formatDeprecationHeaders(deprecation)
  route.onRequest = [
    ...[route.onRequest ?? []].flat(),
    (_request: unknown, reply: FastifyReply, done: () => void) => {
      reply.headers(headers)
      done()
    },
  ]
}
