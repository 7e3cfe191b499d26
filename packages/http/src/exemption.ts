import type { FastifyRequest } from 'fastify'

export type Exemption = 'liveness' | 'documentation'

/**
 * What takes no part in limits: `/`, `/documentation` with its subpaths and `/lives/*`, whether they
 * exist or not. A route is known by its own pattern, which no caller can choose; a path as it was written
 * is only looked at when it leads to no route, so that no spelling frees a route from its limit.
 * @source attestation-oracle.md, Limits and defaults
 */
export function exemptionOf(request: FastifyRequest): Exemption | undefined {
  return exemptionOfPath(request.is404 ? request.url : (request.routeOptions.url ?? ''))
}

/** By a route's pattern, or by the URL of a request that no route matches. */
export function exemptionOfPath(url: string): Exemption | undefined {
  if (url.startsWith('/lives/')) return 'liveness'
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  return path === '/' || path === '/documentation' || path.startsWith('/documentation/')
    ? 'documentation'
    : undefined
}
