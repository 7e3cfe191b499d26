import type { JsonRpcClient } from '@causeway/rpc'
import type { QuoteRegistry } from '../registry.ts'

/** Chain of the sponsorship wallets. Without a client, ERC-1271 signatures of contract wallets cannot be checked. */
export type SponsorshipChain = { readonly chainId: number; readonly client: JsonRpcClient | undefined }

const baseChainId = 8_453
const baseSepoliaChainId = 84_532

/** Base or its testnet, on which balances are topped up; if neither is configured, Base without a client. */
export function findSponsorshipChain(
  registry: QuoteRegistry,
  clients: ReadonlyMap<string, JsonRpcClient>,
): SponsorshipChain {
  const chain = registry.chainById.get(baseChainId) ?? registry.chainById.get(baseSepoliaChainId)
  if (chain === undefined) return { chainId: baseChainId, client: undefined }
  return { chainId: chain.chainId, client: clients.get(chain.key) }
}

/** The currency of sponsor balances, as clients see it. */
export type SponsorCurrency = { readonly chainId: number; readonly currency: string }

/** The token that balances are topped up with. Where none is configured, `currency` is empty. */
export function sponsorCurrency(
  registry: QuoteRegistry,
  args: { readonly chainId: number; readonly assetId: string | undefined },
): SponsorCurrency {
  const { chainId, assetId } = args
  const currencies = registry.chainById.get(chainId)?.currencies.values() ?? []
  for (const { asset, address } of currencies) if (asset.id === assetId) return { chainId, currency: address }
  return { chainId, currency: '' }
}
