import { ConfigurationError, type Secret } from '@causeway/core'
import { Endpoint, type Wire } from './endpoint.ts'
import { parseEndpoint } from './endpointUrl.ts'
import type { HeadTracking } from './headTracking.ts'
import type { HeaderSource } from './httpTransport.ts'

export type EndpointToCreate = {
  readonly url: string | Secret
  readonly alias?: string
  readonly headers?: HeaderSource
}

export type EndpointsToCreate = {
  readonly chainId: string
  readonly endpoints: readonly EndpointToCreate[]
  readonly headTracking: HeadTracking
  readonly wire?: Wire | undefined
  readonly now: () => number
}

/** @throws ConfigurationError when there is no endpoint, one is no http(s) URL, or one is named twice */
export function createEndpoints(options: EndpointsToCreate): readonly Endpoint[] {
  const { chainId, headTracking: heads, wire, now } = options
  const targets = options.endpoints.map((endpoint, index) => parseEndpoint(endpoint, index + 1))
  if (targets.length === 0) throw new ConfigurationError(`chain ${chainId} has no RPC endpoint`)
  const places = new Set(targets.map(({ origin, path }) => `${origin}${path.reveal()}`))
  const aliases = new Set(targets.map(({ alias }) => alias))
  // Named twice, one endpoint would vote twice.
  if (places.size < targets.length || aliases.size < targets.length) {
    throw new ConfigurationError(`chain ${chainId} names one RPC endpoint twice`)
  }
  return targets.map(
    (target, index) => new Endpoint(target, { heads, wire, headers: options.endpoints[index]?.headers }, now),
  )
}
