import type { QuoteFile } from '@causeway/core/config'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import type { OwnTerms } from './solverTerms.ts'

/**
 * The terms of this service by its configuration.
 * @param options.isRead true for a chain that has endpoints; no other is sold
 */
export function ownTermsOf(options: {
  readonly quote: Pick<QuoteFile, 'fillWallet' | 'ceilings'>
  readonly registry: Pick<QuoteRegistry, 'chains'>
  readonly orderSigner: string
  readonly isRead: (key: string) => boolean
}): OwnTerms {
  const { quote, registry, orderSigner, isRead } = options
  const chains = registry.chains
    .filter(
      ({ key, config, solverCurrencies }) => config.enabled && isRead(key) && solverCurrencies.length > 0,
    )
    .map(({ chainId, key, config }) => ({
      chainId,
      key,
      fillWallet: config.fillWallet ?? quote.fillWallet,
      fillContract: config.fillContract,
    }))
  return { orderSigner, chains, sponsoredMicroUsd: quote.ceilings.sponsorGas.orMicroUsd }
}
