import type { DenyList } from '@causeway/chains'
import { createOrderIdHasher } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import { createAgreedClient, quoteOnChain } from '@causeway/families'
import { type Market, type MarketSnapshot, systemClock } from '@causeway/market'
import type { ChainClient, JsonRpcClient } from '@causeway/rpc'
import type { OnChainQuoter } from '../pricing/legs/poolLegQuoter.ts'
import { createInventoryViews } from '../pricing/market/inventoryView.ts'
import { createOpenAllowances } from '../pricing/openQuotes/openAllowances.ts'
import { createOpenQuotes } from '../pricing/openQuotes/openQuotes.ts'
import { createOpenRewards } from '../pricing/openQuotes/openRewards.ts'
import type { DepositPricing } from '../pricing/priceDeposit.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import type { SponsoredQuoteDependencies } from '../requests/draft/createSponsoredQuote.ts'
import type { OrderKey } from '../requests/draft/orderKey.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'
import type { ChainPorts } from './chainPorts.ts'

/** Parts that both functions below are made from. */
type QuotingParts = {
  readonly quote: QuoteFile
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, ChainClient>
  readonly market: Market
}

/** A request waits this long for the chain's own quoter. */
const quoterTimeoutMs = 600

/** Dependencies of pricing, for a new quote and for a deposit that is priced anew. */
export function createDepositPricing(
  { quote, registry, clients, market, stops }: QuotingParts & { readonly stops: Pick<ChainStops, 'floors'> },
  more: Pick<DepositPricing, 'sponsorAsset' | 'lackOf'>,
): DepositPricing {
  const snapshot = () => market.snapshot()
  return {
    registry,
    schedule: quote.schedule,
    swapImpactMaxBps: quote.swapImpactMaxBps,
    ceilings: quote.ceilings,
    snapshot,
    inventoryView: createInventoryViews(registry, () => stops.floors()),
    quoteOnChain: createOnChainQuoter(registry, clients, snapshot),
    openRewards: createOpenRewards(quote.openRewards),
    ...more,
  }
}

/** Dependencies of a quote that other parts of the service provide. */
type ProvidedDependencies = Pick<
  SponsoredQuoteDependencies,
  | 'reactionMsOf'
  | 'findLiquidity'
  | 'permitTokens'
  | 'store'
  | 'storeSponsored'
  | 'sponsors'
  | 'onExploitableFeePayer'
  | 'randomBytes'
>

/**
 * Everything that `/price` and `/quote` need. Made once per process, because open quotes and allowances are
 * counted in it; deposits that are priced anew share the open rewards of `pricing`.
 */
export function createQuoting(
  options: QuotingParts & {
    readonly pricing: DepositPricing
    readonly denyList: DenyList | undefined
    readonly stops: ChainStops
    readonly ports: ChainPorts
    readonly signer: OrderKey
    readonly provided: ProvidedDependencies
  },
): SponsoredQuoteDependencies {
  const { quote, registry, pricing, denyList, stops, ports, signer, provided } = options
  const { fillWallet, quoteLifetimeSeconds, orderLifetimeSeconds } = quote
  return {
    ...pricing,
    ...provided,
    denyList,
    refuseStopped: (origin, paidOn) => stops.refuse(origin, paidOn),
    quoteLifetimeSeconds,
    orderLifetimeSeconds,
    openAllowances: createOpenAllowances(),
    openQuotes: createOpenQuotes({ perUserBps: quote.openQuotesPerUserBps }),
    fillWallet,
    ...ports,
    clock: systemClock,
    signer,
    orderIdOf: createOrderIdHasher(registry.networkByKey),
  }
}

/**
 * Asks a chain's QuoterV2 by agreement at its newest agreed block. Undefined, so that the pool is left out:
 * the chain has no endpoint, names no QuoterV2, or has no usable market with an agreed block at present.
 */
function createOnChainQuoter(
  registry: QuoteRegistry,
  clients: ReadonlyMap<string, JsonRpcClient>,
  snapshot: () => MarketSnapshot,
): OnChainQuoter {
  return async ({ chainId, pool, zeroForOne, trade, amount }) => {
    const chain = registry.chainById.get(chainId)
    const client = chain === undefined ? undefined : clients.get(chain.key)
    const quoterV2 = chain?.config.uniswapV3?.quoterV2
    const market = snapshot().chain(chainId)
    if (client === undefined || quoterV2 === undefined || 'reason' in market) return undefined
    const { hash: blockHash } = market.head
    if (blockHash === undefined) return undefined
    const question = { zeroForOne, trade, amount }
    const agreedClient = createAgreedClient(client, { timeoutMs: quoterTimeoutMs })
    return quoteOnChain(agreedClient, { quoterV2, pool, question, blockHash })
  }
}
