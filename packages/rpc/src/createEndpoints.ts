import { ConfigurationError, type Secret } from '@causeway/core'
import { Endpoint, type Wire } from './endpoint.ts'
import { parseEndpoint } from './endpointUrl.ts'
import type { HeadTracking } from './headTracking.ts'
import type { HeaderSource } from './httpTransport.ts'

/** Configuration of one endpoint. */
export type EndpointToCreate = {
  readonly url: string | Secret
  readonly alias?: string
  readonly headers?: HeaderSource
}

/** Configuration of all endpoints of one chain. */
export type EndpointsToCreate = {
  readonly chainId: string
  readonly endpoints: readonly EndpointToCreate[]
  readonly headTracking: HeadTracking
  readonly wire?: Wire | undefined
  /** Milliseconds of a clock that is never set. Default: this process's. */
  readonly now?: (() => number) | undefined
}

/** Makes a chain's endpoints. @throws ConfigurationError if there is none, or one is no http(s) URL or named twice */
export function createEndpoints(options: EndpointsToCreate): readonly Endpoint[] {
  const { chainId, headTracking: heads, wire, now = () => performance.now() } = options
  const targets = options.endpoints.map((endpoint, index) => parseEndpoint(endpoint, index + 1))
  if (targets.length === 0) throw new ConfigurationError(`chain ${chainId} has no RPC endpoint`)
  const distinctUrls = new Set(targets.map(({ origin, path }) => `${origin}${path.reveal()}`))
  const aliases = new Set(targets.map(({ alias }) => alias))
  // An endpoint that is named twice would be asked twice.
  if (distinctUrls.size < targets.length || aliases.size < targets.length) {
    throw new ConfigurationError(`chain ${chainId} names one RPC endpoint twice`)
  }
  return targets.map(
    (target, index) => new Endpoint(target, { heads, wire, headers: options.endpoints[index]?.headers }, now),
  )
}
