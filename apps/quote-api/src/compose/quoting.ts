import { type ChainClient, createAgreedClient, type JsonRpcClient, quoteOnChain } from '@causeway/chains'
import { createOrderIdHasher, type QuoteFile } from '@causeway/core'
import { type Market, type MarketSnapshot, systemClock } from '@causeway/market'
import type { ConfiguredSigner } from '@causeway/signer'
import { createInventoryViews } from '../pricing/inventoryView.ts'
import { createOpenQuotes } from '../pricing/openQuotes.ts'
import { createPoolLegQuoter, type OnChainQuoter } from '../pricing/poolLegQuoter.ts'
import type { DepositPricing } from '../pricing/priceDeposit.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import type { SponsoredQuoteDependencies } from '../requests/draft/createSponsoredQuote.ts'
import type { ChainPorts } from './ports.ts'

type Shared = {
  readonly quote: QuoteFile
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, ChainClient>
  readonly market: Market
}

/** What a price is made of, whether it is asked for or a deposit is priced anew. */
export function createDepositPricing(
  { quote, registry, clients, market }: Shared,
  more: Pick<DepositPricing, 'sponsorAsset' | 'lackOf'>,
): DepositPricing {
  const snapshot = () => market.snapshot()
  return {
    registry,
    schedule: quote.schedule,
    swapImpactMaxBps: quote.swapImpactMaxBps,
    ceilings: quote.ceilings,
    snapshot,
    inventoryView: createInventoryViews(registry),
    legQuoter: createPoolLegQuoter(createOnChainQuoter(registry, clients, snapshot)),
    ...more,
  }
}

/** What other parts of the service bring to a quote. */
type Brought = Pick<
  SponsoredQuoteDependencies,
  | 'reactionMsOf'
  | 'permitTokens'
  | 'store'
  | 'storeSponsored'
  | 'sponsors'
  | 'onExploitableFeePayer'
  | 'randomBytes'
>

/** Everything that `/price` and `/quote` need. */
export function createQuoting(
  options: Shared & {
    readonly pricing: DepositPricing
    readonly ports: ChainPorts
    readonly signer: ConfiguredSigner
    readonly brought: Brought
  },
): SponsoredQuoteDependencies {
  const { quote, registry, pricing, ports, signer, brought } = options
  const { fillWallet, quoteLifetimeSeconds, orderLifetimeSeconds } = quote
  return {
    ...pricing,
    ...brought,
    quoteLifetimeSeconds,
    orderLifetimeSeconds,
    openQuotes: createOpenQuotes({ perUserBps: quote.openQuotesPerUserBps }),
    fillWallet,
    ...ports,
    clock: systemClock,
    signer,
    orderIdOf: createOrderIdHasher(registry.networkByKey),
  }
}

/** A request waits this long for the chain's own quoter. */
const timeoutMs = 600

/** Asks a chain's QuoterV2 by agreement at its newest agreed block; a chain without either cannot be asked. */
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
    const question = { zeroForOne, trade, amount }
    const agreed = createAgreedClient(client, { timeoutMs })
    return quoteOnChain(agreed, { quoterV2, pool, question, blockHash: market.head.hash })
  }
}
