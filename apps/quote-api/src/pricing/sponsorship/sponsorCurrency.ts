import type { QuoteRegistry } from '../registry.ts'

/** The currency of sponsor balances, as clients see it. */
export type SponsorCurrency = { readonly chainId: number; readonly currency: string }

/** The token that balances are topped up with, or its chain alone where none is configured. */
export function sponsorCurrency(
  registry: QuoteRegistry,
  args: { readonly chainId: number; readonly assetId: string | undefined },
): SponsorCurrency {
  const { chainId, assetId } = args
  const currencies = registry.chainById.get(chainId)?.currencies.values() ?? []
  for (const { asset, address } of currencies) if (asset.id === assetId) return { chainId, currency: address }
  return { chainId, currency: '' }
}
