import { ConfigurationError, Secret } from '@causeway/core'
import { splitList } from '@causeway/core/config'
import type { HeadTracking } from '@causeway/rpc'
import {
  countHosts,
  createQuorum,
  defaultThreshold,
  EndpointView,
  HttpView,
  type QuorumClient,
} from '@causeway/rpc'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import type { BitcoinView } from './bitcoinView.ts'
import { esploraHeaders } from './esploraAccess.ts'

/** Follows the newest height by a call whose result is a number: a method of nodes, or a path of Esplora. */
const heightBy = (call: string): HeadTracking => ({
  call: { method: call, params: [] },
  readHead: ({ method }, result) =>
    method === call && typeof result === 'number' && Number.isSafeInteger(result)
      ? BigInt(result)
      : undefined,
})

export const bitcoinHeadTracking = heightBy('getblockcount')
/** `paths`: a request is an HTTP path, and no JSON-RPC. */
const esploraProtocol = { headTracking: heightBy('/blocks/tip/height'), wire: 'paths' } as const

/** The endpoints of a `bitcoin-vm` chain by kind; a kind without endpoints is undefined. */
export type BitcoinQuorums<View extends BitcoinView> = {
  readonly nodes: QuorumClient<View> | undefined
  readonly api: QuorumClient<View> | undefined
}

/**
 * Nodes of `httpRpcUrl`, and Esplora-compatible APIs beside them or in their place. Opens no connection.
 * @throws ConfigurationError for endpoints that are no URLs, or a threshold above their hosts
 */
export function openQuorums<View extends BitcoinView>(
  chain: RegisteredChain,
  views: { readonly node: (view: EndpointView) => View; readonly api: (view: HttpView) => View },
): BitcoinQuorums<View> {
  return {
    nodes: hasNodes(chain) ? nodeQuorum(chain, views.node) : undefined,
    api: esploraQuorumOf(chain, views.api),
  }
}

/** URLs of Esplora-compatible APIs. One setting may name several, like `httpRpcUrl`. */
export function esploraUrls({ additionalData }: RegisteredChain): readonly Secret[] {
  return splitList(additionalData.esploraCompatibleApiUrl?.reveal(), ',').map((url) => new Secret(url))
}

/** True if the chain has endpoints of nodes; `ready` says nothing of APIs. */
const hasNodes = ({ ready }: RegisteredChain): boolean => ready

function nodeQuorum<View extends BitcoinView>(
  chain: RegisteredChain,
  viewOf: (view: EndpointView) => View,
): QuorumClient<View> {
  const { id: chainId, endpoints, rpcThreshold: threshold } = chain
  const headTracking = bitcoinHeadTracking
  const options = { chainId, endpoints: endpoints.map((url) => ({ url })), threshold, headTracking }
  return createQuorum(options, (endpoint, limits) => viewOf(new EndpointView(endpoint, limits)))
}

/**
 * The Esplora-compatible APIs of a chain; `undefined` where it has none. Beside nodes one answer is enough, because it
 * is only a hint. Without nodes `rpcThreshold` can only raise the default. @throws ConfigurationError as `openQuorums`
 */
export function esploraQuorumOf<View extends BitcoinView>(
  chain: RegisteredChain,
  viewOf: (view: HttpView) => View,
): QuorumClient<View> | undefined {
  const { id: chainId, additionalData, rpcThreshold } = chain
  const urls = esploraUrls(chain)
  if (urls.length === 0) return undefined
  const hosts = countHosts(urls)
  const threshold = hasNodes(chain) ? 1 : Math.max(rpcThreshold, defaultThreshold(hosts))
  if (threshold > hosts) {
    throw new ConfigurationError(`chains: ${chainId}.rpcThreshold is above the number of endpoint hosts`)
  }
  const endpoints = urls.map((url) => ({
    url,
    headers: esploraHeaders(url, additionalData, () => performance.now()),
  }))
  return createQuorum({ chainId, endpoints, threshold, ...esploraProtocol }, (endpoint, limits) =>
    viewOf(new HttpView(endpoint, limits)),
  )
}
