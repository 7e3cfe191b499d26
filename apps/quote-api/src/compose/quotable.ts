import { DomainError, type QuoteFile } from '@causeway/core'
import type { ReadinessCheck } from '@causeway/http'
import type { Market } from '@causeway/market'
import type { QuotableChain, QuoteRegistry } from '../pricing/registry.ts'

/** No account pays orders on any chain. */
class FillWalletMissingError extends DomainError {
  readonly code = 'FILL_WALLET_MISSING'
  readonly kind = 'upstream_unavailable'

  constructor() {
    super('No fill wallet is configured, so every quote is refused.')
  }
}

/** No quoted chain has an endpoint. */
class NoChainEndpointError extends DomainError {
  readonly code = 'NO_CHAIN_ENDPOINT'
  readonly kind = 'upstream_unavailable'

  constructor() {
    super('No quoted chain has an endpoint, so every quote is refused.')
  }
}

/** No quoted chain could be read well enough to price. */
class NoChainPricedError extends DomainError {
  readonly code = 'NO_CHAIN_PRICED'
  readonly kind = 'upstream_unavailable'

  constructor() {
    super('No chain can be priced at the moment.')
  }
}

/** No currency of a chain that can be priced has a price. */
class NoPriceError extends DomainError {
  readonly code = 'NO_PRICE'
  readonly kind = 'upstream_unavailable'

  constructor() {
    super('No price is known at the moment.')
  }
}

/** An account that pays on some chain at least. */
export function hasFillWallet({ fillWallet, chains }: Pick<QuoteFile, 'fillWallet' | 'chains'>): boolean {
  return fillWallet !== undefined || Object.values(chains).some((chain) => chain.fillWallet !== undefined)
}

/** Without any of these every quote is refused: a balancer then sends traffic elsewhere, and an operator reads why. */
export function quotableChecks(
  market: Pick<Market, 'snapshot'>,
  {
    quote,
    registry,
    clients,
  }: {
    readonly quote: Pick<QuoteFile, 'fillWallet' | 'chains'>
    readonly registry: Pick<QuoteRegistry, 'chains'>
    readonly clients: ReadonlyMap<string, unknown>
  },
): readonly ReadinessCheck[] {
  return [
    {
      name: 'fill wallet',
      async check() {
        if (!hasFillWallet(quote)) throw new FillWalletMissingError()
      },
    },
    {
      name: 'market',
      async check() {
        if (clients.size === 0) throw new NoChainEndpointError()
        const snapshot = market.snapshot()
        const priced = registry.chains.filter(({ chainId }) => !('reason' in snapshot.chain(chainId)))
        if (priced.length === 0) throw new NoChainPricedError()
        const hasPrice = ({ currencies }: QuotableChain) =>
          [...currencies.values()].some(({ asset }) => !('reason' in snapshot.price(asset.priceKey)))
        if (!priced.some(hasPrice)) throw new NoPriceError()
      },
    },
  ]
}
