import { ConfigurationError, Secret } from '@causeway/core'
import type { Endpoint, ObserveEndpoints } from '@causeway/rpc'
import { answersTo, createEndpoints, createQuorum, HttpView, type QuorumClient } from '@causeway/rpc'
import type { OpenFamilyChain, ReadableChain } from '../../shared/familyChain.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { createHyperliquidFactsReader } from './factsReader.ts'
import { createHyperliquidView, type ExplorerProxy, type HyperliquidView } from './hyperliquidView.ts'
import { publicExplorerUrl, recentRequest, statusRequest } from './requests.ts'
import { verifyHyperliquidEndpoints, verifyLocalHyperliquidEndpoints } from './verifyEndpoints.ts'

/**
 * Opens a `hyperliquid-vm` chain for the services that read facts. `proxyApiUrl` stands in only for the first
 * endpoint's explorer: behind several endpoints it would vote more than once.
 * @throws ConfigurationError for endpoints that are no URLs, without the hub's generic mapping, for a finality rule
 * or another network than the main one
 */
export const openHyperliquidChain: OpenFamilyChain = (chain, limits, hubEntries) => {
  if (hubEntries === undefined) {
    throw new ConfigurationError(`chains: ${chain.id} needs genericMappingAddress of the hub`)
  }
  refuseMeaninglessSettings(chain)
  const { quorum, observe, close } = openQuorum(chain)
  const depositories = [chain.depository, ...(chain.additionalDepositories ?? [])]
  return {
    reader: createHyperliquidFactsReader({ chain, quorum, hubEntries, limits }),
    readsHub: true,
    verify: (signal) => verifyHyperliquidEndpoints({ quorum, depositories }, signal),
    verifyLocal: (signal) => verifyLocalHyperliquidEndpoints(quorum, signal),
    health: () => quorum.health(),
    observe,
    close,
  }
}

/** A block of the exchange is final when it is shown; only the main network's USDC is the native currency. */
function refuseMeaninglessSettings({ id, finality, network, additionalData }: ReadableChain): void {
  const { finalizationBlocks, finalizationTime } = additionalData
  const rules = [finality, finalizationBlocks, finalizationTime]
  if (rules.some((rule) => rule !== undefined)) {
    throw new ConfigurationError(`chains: ${id} has a rule of finality, which its family does not know`)
  }
  if (network !== undefined) {
    throw new ConfigurationError(`chains: ${id}.additionalData.network: only the main network can be read`)
  }
}

/** Any answer shows that an endpoint is alive: neither API has a height. The account does not matter. */
const infoHeads = answersTo({ method: '/info', params: [statusRequest] })
const explorerHeads = (path = '/explorer') =>
  answersTo({ method: path, params: [recentRequest(`0x${'1'.padStart(40, '0')}`)] })

/**
 * The voters about transactions. Each configured URL is two endpoints of one alias, the info API and the
 * explorer, which may be on another host (`explorerUrl`); together they are one view, with one vote. The
 * quorum observes and closes only the explorers; `observe` and `close` of the result reach the info endpoints
 * and the proxy too.
 */
export function openQuorum(
  chain: Pick<RegisteredChain, 'id' | 'endpoints' | 'rpcThreshold' | 'additionalData'>,
): {
  readonly quorum: QuorumClient<HyperliquidView>
  observe(observerOf: ObserveEndpoints): void
  close(): Promise<void>
} {
  const { id: chainId, endpoints: urls, rpcThreshold: threshold } = chain
  const shared = { chainId, headTracking: infoHeads, wire: 'paths' as const }
  const infos = createEndpoints({ ...shared, endpoints: urls.map((url) => ({ url })) })
  const proxy = openProxy(chain)
  // There is one info endpoint per URL, so each explorer has the alias of its own.
  const explorers = urls.map((url, index) => ({ url: explorerUrl(url), alias: infos[index]?.alias ?? '' }))
  const quorumOptions = { ...shared, endpoints: explorers, threshold, headTracking: explorerHeads() }
  const quorum = createQuorum(quorumOptions, (endpoint, limits) => {
    const isFirst = endpoint.alias === infos[0]?.alias
    // The info API of the same URL: both lists have the same aliases.
    const info = infos.find(({ alias }) => alias === endpoint.alias) ?? endpoint
    return createHyperliquidView({
      explorer: new HttpView(endpoint, limits),
      info: new HttpView(info, limits),
      proxy: proxy === undefined || !isFirst ? undefined : proxyView(proxy, limits),
    })
  })
  const others = proxy === undefined ? infos : [...infos, proxy.endpoint]
  return {
    quorum,
    observe(observerOf) {
      quorum.observe(observerOf)
      for (const endpoint of others) endpoint.observe(observerOf(endpoint.alias))
    },
    async close() {
      await Promise.all([quorum.close(), ...others.map((endpoint) => endpoint.close())])
    },
  }
}

type OpenProxy = { readonly endpoint: Endpoint; readonly path: Secret }

function proxyView(
  { endpoint, path }: OpenProxy,
  limits: ConstructorParameters<typeof HttpView>[1],
): ExplorerProxy {
  return { view: new HttpView(endpoint, limits), path }
}

/** The proxy's endpoint; requests go to the setting's own path, with nothing appended. */
function openProxy({
  id: chainId,
  additionalData,
}: Pick<RegisteredChain, 'id' | 'additionalData'>): OpenProxy | undefined {
  const { proxyApiUrl, proxyApiKey } = additionalData
  if (proxyApiUrl === undefined) return undefined
  if (!URL.canParse(proxyApiUrl.reveal())) {
    throw new ConfigurationError(`chains: ${chainId}.additionalData.proxyApiUrl is no URL`)
  }
  const { origin, pathname, search } = new URL(proxyApiUrl.reveal())
  const path = `${pathname}${search}`
  const headers = {
    // The proxy forwards to the URL in this header.
    url: publicExplorerUrl,
    ...(proxyApiKey !== undefined && { 'X-Nft-Api-Key': proxyApiKey }),
  }
  const [endpoint] = createEndpoints({
    chainId,
    headTracking: explorerHeads(path),
    wire: 'paths',
    endpoints: [{ url: origin, alias: 'proxy', headers }],
  })
  return endpoint && { endpoint, path: new Secret(path) }
}

/** The exchange serves its explorer on the host `rpc.` beside `api.`; others serve both on one. */
export function explorerUrl(url: Secret): Secret {
  return new Secret(
    url
      .reveal()
      .trim()
      .replace(/^(https?:\/\/(?:[^/@]*@)?)api\./i, '$1rpc.'),
  )
}
