import { DomainError } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import type { ReadinessCheck } from '@causeway/http'
import type { Market } from '@causeway/market'
import type { QuotableChain, QuoteRegistry } from '../pricing/registry.ts'

/** Reasons that every quote would be refused, as `/ready` names them. */
const reasons = {
  noFillWallet: {
    code: 'FILL_WALLET_MISSING',
    message: 'No fill wallet is configured, so every quote is refused.',
  },
  noEndpoint: {
    code: 'NO_CHAIN_ENDPOINT',
    message: 'No quoted chain has an endpoint, so every quote is refused.',
  },
  noChain: { code: 'NO_CHAIN_PRICED', message: 'No chain can be priced at the moment.' },
  noPrice: { code: 'NO_PRICE', message: 'No price is known at the moment.' },
} as const

class NotQuotableError extends DomainError {
  readonly code: string
  readonly kind = 'upstream_unavailable'

  constructor({ code, message }: (typeof reasons)[keyof typeof reasons]) {
    super(message)
    this.code = code
  }
}

/** True if at least one chain has an account that pays orders. */
export function hasFillWallet({ fillWallet, chains }: Pick<QuoteFile, 'fillWallet' | 'chains'>): boolean {
  return fillWallet !== undefined || Object.values(chains).some((chain) => chain.fillWallet !== undefined)
}

/** Readiness fails where every quote would be refused: a balancer then sends traffic elsewhere, and an operator reads why. */
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
        if (!hasFillWallet(quote)) throw new NotQuotableError(reasons.noFillWallet)
      },
    },
    {
      name: 'market',
      async check() {
        if (clients.size === 0) throw new NotQuotableError(reasons.noEndpoint)
        const snapshot = market.snapshot()
        const priced = registry.chains.filter(({ chainId }) => !('reason' in snapshot.chain(chainId)))
        if (priced.length === 0) throw new NotQuotableError(reasons.noChain)
        const hasPrice = ({ currencies }: QuotableChain) =>
          [...currencies.values()].some(({ asset }) => !('reason' in snapshot.price(asset.priceKey)))
        if (!priced.some(hasPrice)) throw new NotQuotableError(reasons.noPrice)
      },
    },
  ]
}
