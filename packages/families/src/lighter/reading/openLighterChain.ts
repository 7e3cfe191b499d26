import { ConfigurationError, Secret } from '@causeway/core'
import { splitList } from '@causeway/core/config'
import type { EndpointToCreate, HttpView } from '@causeway/rpc'
import { answersTo, createHttpQuorumClient, parseEndpoint, type QuorumClient } from '@causeway/rpc'
import type { OpenFamilyChain, ReadableChain } from '../../shared/familyChain.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { createLighterFactsReader, depositoriesOf } from './factsReader.ts'
import { lighterNetworkOf } from './networks.ts'
import { createTransferLookup, explorerHeadTracking, noTransferLookup } from './transferLookup.ts'
import { verifyLighterEndpoints, verifyLocalLighterEndpoints } from './verifyEndpoints.ts'

/** Sent with every request: the API's proxy refuses requests without a user agent. */
const agentHeaders = { 'user-agent': 'causeway-oracle' }

/**
 * Opens a `lighter-vm` chain for the services that read facts. Explorers of `explorerApiUrl` only name transactions
 * that may have executed a withdrawal; the endpoints decide.
 * @throws ConfigurationError for endpoints that are no URLs, other networks, depositories that are no accounts, and
 * finality rules: there is none to choose
 */
export const openLighterChain: OpenFamilyChain = (chain, limits) => {
  checkFinality(chain)
  const network = lighterNetworkOf(chain)
  const quorum = endpointQuorum(chain)
  const explorers = explorersOf(chain)
  const findTransfers = explorers === undefined ? noTransferLookup : createTransferLookup(explorers)
  const opened = [quorum, explorers].filter((one) => one !== undefined)
  return {
    reader: createLighterFactsReader({ chain, quorum, findTransfers, limits }),
    verify: (signal) =>
      verifyLighterEndpoints({ quorum, network, depositories: depositoriesOf(chain) }, signal),
    verifyLocal: (signal) => verifyLocalLighterEndpoints(quorum, signal),
    health: () => opened.flatMap((one) => one.health()),
    observe(observerOf) {
      for (const one of opened) one.observe(observerOf)
    },
    async close() {
      await Promise.all(opened.map((one) => one.close()))
    },
  }
}

function endpointQuorum(chain: ReadableChain): QuorumClient<HttpView> {
  const { id: chainId, rpcThreshold: threshold } = chain
  return createHttpQuorumClient({
    chainId,
    endpoints: lighterEndpoints(chain),
    threshold,
    // Any answer shows that an endpoint is alive.
    headTracking: answersTo({ method: '/', params: [] }),
    wire: 'paths',
  })
}

/** Endpoints with their headers; `rpcApiKey` goes only to the host of the first. @throws ConfigurationError */
export function lighterEndpoints({
  endpoints,
  additionalData: { rpcApiKey },
}: Pick<RegisteredChain, 'endpoints' | 'additionalData'>): readonly EndpointToCreate[] {
  const keyHeaders = rpcApiKey === undefined ? {} : { 'x-api-key': rpcApiKey }
  const origins = endpoints.map((url, index) => parseEndpoint({ url }, index + 1).origin)
  return endpoints.map((url, index) => ({
    url,
    headers: { ...agentHeaders, ...(origins[index] === origins[0] ? keyHeaders : {}) },
  }))
}

/** The explorers of `explorerApiUrl`, one or several; undefined without any. @throws ConfigurationError for no URL */
export function explorersOf({
  id: chainId,
  additionalData,
}: Pick<RegisteredChain, 'id' | 'additionalData'>): QuorumClient<HttpView> | undefined {
  const urls = splitList(additionalData.explorerApiUrl?.reveal(), ',')
  const endpoints = urls.map((url) => ({ url: new Secret(url), headers: agentHeaders }))
  if (endpoints.length === 0) return undefined
  // One answer is enough, because explorers only give hints.
  const dialect = { headTracking: explorerHeadTracking, wire: 'paths' } as const
  return createHttpQuorumClient({ chainId, endpoints, threshold: 1, ...dialect })
}

/** Refuses a finality setting: a transaction is final as soon as the sequencer executed it. @source rule F-162 */
function checkFinality({ id, finality }: Pick<ReadableChain, 'id' | 'finality'>): void {
  if (finality === undefined) return
  throw new ConfigurationError(`chains: ${id}.finality: Lighter chains have no rule to choose`)
}
