import { Secret } from '@causeway/core'
import type { EndpointToCreate } from '@causeway/rpc'
import { answersTo, createHttpQuorumClient } from '@causeway/rpc'
import type { OpenFamilyChain } from '../../shared/familyChain.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { createTronFactsReader } from './factsReader.ts'
import { headRequest } from './requests.ts'
import { verifyLocalTronEndpoints, verifyTronEndpoints } from './verifyEndpoints.ts'

/** Path under which nodes serve the Ethereum interface beside their own. */
const jsonRpcPath = /\/jsonrpc\/?(?=\?|$)/

/**
 * Opens a `tron-vm` chain for the services that read facts. @throws ConfigurationError for endpoints that are no URLs
 */
export const openTronChain: OpenFamilyChain = (chain, limits) => {
  const { id, rpcThreshold, hubChainId, depository } = chain
  const quorum = createHttpQuorumClient({
    chainId: id,
    endpoints: tronEndpoints(chain),
    threshold: rpcThreshold,
    // Any answer shows that an endpoint is alive; heights are agreed on by each reading.
    headTracking: answersTo({ method: headRequest.path, params: [headRequest.body] }),
    wire: 'paths',
  })
  return {
    reader: createTronFactsReader({ chain, quorum, limits, recordsPayments: limits.recordsPayments }),
    verify(signal) {
      const contract = { setting: `chains: ${id}.depository`, address: depository }
      return verifyTronEndpoints({ quorum, chainId: BigInt(hubChainId), contract }, signal)
    },
    verifyLocal: (signal) => verifyLocalTronEndpoints(quorum, signal),
    health: () => quorum.health(),
    observe: (observerOf) => quorum.observe(observerOf),
    close: () => quorum.close(),
  }
}

/**
 * Endpoints with their headers. `rpcApiKey` goes only to the host of the first one, because it is one provider's key.
 */
export function tronEndpoints({
  endpoints,
  additionalData: { rpcApiKey },
}: Pick<RegisteredChain, 'endpoints' | 'additionalData'>): readonly EndpointToCreate[] {
  const keyHeaders = rpcApiKey === undefined ? {} : { 'TRON-PRO-API-KEY': rpcApiKey }
  const keyHost = hostOf(endpoints[0])
  return endpoints.map((url) => ({
    url: baseUrl(url),
    headers: hostOf(url) === keyHost ? keyHeaders : {},
  }))
}

/** URL of the HTTP API: public configurations name the path of JSON-RPC, which is beside it. */
function baseUrl(url: Secret): Secret {
  return new Secret(url.reveal().trim().replace(jsonRpcPath, ''))
}

function hostOf(url: Secret | undefined): string | undefined {
  const text = url?.reveal() ?? ''
  return URL.canParse(text) ? new URL(text).host : undefined
}
