import type { ChainClient } from '@causeway/chains'
import { createOrderIdHasher, type QuoteFile } from '@causeway/core'
import { type Market, systemClock } from '@causeway/market'
import type { ConfiguredSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { createInventoryViews } from '../pricing/inventoryView.ts'
import { createOpenQuotes } from '../pricing/openQuotes.ts'
import { createPoolLegQuoter } from '../pricing/poolLegQuoter.ts'
import type { DepositPricing } from '../pricing/priceDeposit.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import type { SponsoredQuoteDependencies } from '../requests/draft/createSponsoredQuote.ts'
import { createOnChainQuoter } from './onChainQuoter.ts'
import { createChainPorts } from './ports.ts'

type Shared = {
  readonly quote: QuoteFile
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, ChainClient>
  readonly market: Market
}

/** What a price is made of, whether it is asked for or a deposit is priced anew. */
export function createDepositPricing(
  { quote, registry, clients, market }: Shared,
  sponsorAsset: DepositPricing['sponsorAsset'],
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
    sponsorAsset,
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
    readonly signer: ConfiguredSigner
    readonly brought: Brought
    readonly logger: Logger
  },
): SponsoredQuoteDependencies {
  const { quote, registry, clients, market, pricing, signer, brought, logger } = options
  const { fillWallet, quoteLifetimeSeconds, orderLifetimeSeconds } = quote
  return {
    ...pricing,
    ...brought,
    quoteLifetimeSeconds,
    orderLifetimeSeconds,
    openQuotes: createOpenQuotes({ perUserBps: quote.openQuotesPerUserBps }),
    fillWallet,
    ...createChainPorts({
      registry,
      clients,
      market,
      clock: systemClock,
      onFactsFailure: (chainId, error) => logger.debug({ chainId, err: error }, 'user facts not read'),
    }),
    clock: systemClock,
    signer,
    orderIdOf: createOrderIdHasher(registry.networkByKey),
  }
}
