import { families } from '@causeway/families/rules'
import { z } from 'zod'
import {
  findCurrency,
  type QuotableChain,
  type QuotableCurrency,
  type QuoteRegistry,
} from '../../pricing/registry.ts'
import { takesDepositAddresses } from '../../requests/draft/depositAddress.ts'
import { currencySchema, currencyToWire } from './currencyAmount.ts'

/** Bound of the described answer; `limit` of the body keeps every answer below it. */
const listMax = 1_000

/**
 * Body of POST /currencies/v2 and v1. Every member is optional; unknown members are stripped.
 * docs/reference/clients.md says which have an effect.
 */
export const currenciesBodySchema = z.object({
  defaultList: z.boolean().optional().describe('No effect: there is one list'),
  chainIds: z.array(z.int().positive()).max(200).optional(),
  term: z.string().max(128).optional().describe('Part of symbol or name, any case'),
  address: z.string().max(128).optional(),
  currencyId: z.string().max(64).optional().describe('Asset id: the same asset on every chain'),
  tokens: z.array(z.string().max(160)).max(200).optional().describe('chainId:address'),
  verified: z.boolean().optional().describe('No effect: all are verified by who configured them'),
  limit: z.int().min(1).max(100).default(20),
  includeAllChains: z
    .boolean()
    .optional()
    .describe('Beside chainIds and address: that asset on every chain, and not on these alone'),
  useExternalSearch: z.boolean().optional().describe('No effect: nobody else is asked'),
  depositAddressOnly: z
    .boolean()
    .optional()
    .describe('What a deposit address can be quoted for, and no other'),
})

export const currenciesResponseSchema = z
  .array(z.object({ ...currencySchema.shape, vmType: z.string() }))
  .max(listMax)

/** As /currencies/v1 has it: a list per asset. */
export const groupedCurrenciesSchema = z.array(
  z.array(z.object({ ...currenciesResponseSchema.element.shape, groupID: z.string() })),
)

type CurrenciesBody = z.infer<typeof currenciesBodySchema>
type CurrenciesResponse = z.infer<typeof currenciesResponseSchema>

/** Chains with their currencies, and the wallet that sweeps deposit addresses, for the filter `depositAddressOnly`. */
export type CurrencyDirectory = {
  readonly registry: QuoteRegistry
  readonly fillWallet: string | undefined
}

/** Currencies that satisfy every filter that was given, in configuration order. */
export function selectCurrencies(
  { registry, fillWallet }: CurrencyDirectory,
  body: CurrenciesBody,
): CurrenciesResponse {
  const filter = body.includeAllChains === true ? onEveryChain(registry, body) : body
  const selected: CurrenciesResponse = []
  for (const chain of registry.chains) {
    for (const currency of chain.currencies.values()) {
      if (selected.length >= body.limit) return selected
      if (body.depositAddressOnly === true && !takesDepositAddresses(chain, currency, fillWallet)) continue
      if (matches(chain, currency, filter))
        selected.push({ ...currencyToWire(currency), vmType: families[chain.vmType].publicName })
    }
  }
  return selected
}

/** Currencies grouped by asset, in the order in which assets first occur. @source Q-111 */
export function groupByAsset(
  { registry }: Pick<CurrencyDirectory, 'registry'>,
  currencies: CurrenciesResponse,
): z.infer<typeof groupedCurrenciesSchema> {
  const groups = new Map<string, z.infer<typeof groupedCurrenciesSchema>[number]>()
  for (const currency of currencies) {
    const chain = registry.chainById.get(currency.chainId)
    // The address is never used: all of these currencies are of the registry.
    const groupID = (chain && findCurrency(chain, currency.address))?.asset.id ?? currency.address
    groups.set(groupID, [...(groups.get(groupID) ?? []), { ...currency, groupID }])
  }
  return [...groups.values()]
}

type Filter = Omit<CurrenciesBody, 'limit'> & { readonly assetIds?: ReadonlySet<string> }

/** Filter for the assets that `chainIds` and `address` name, on every chain. */
function onEveryChain(registry: QuoteRegistry, body: CurrenciesBody): Filter {
  const { chainIds, address, ...others } = body
  if (chainIds === undefined || address === undefined) return body
  const assetIds = registry.chains.flatMap((chain) => {
    const currency = chainIds.includes(chain.chainId) ? findCurrency(chain, address) : undefined
    return currency === undefined ? [] : [currency.asset.id]
  })
  return { ...others, assetIds: new Set(assetIds) }
}

function matches(chain: QuotableChain, currency: QuotableCurrency, filter: Filter): boolean {
  const { chainIds, address, assetIds, currencyId, term, tokens } = filter
  if (chainIds !== undefined && !chainIds.includes(chain.chainId)) return false
  if (assetIds !== undefined && !assetIds.has(currency.asset.id)) return false
  if (currencyId !== undefined && currency.asset.id !== currencyId) return false
  if (address !== undefined && !isSameAddress(chain, currency, address)) return false
  if (term !== undefined && !mentions(currency, term) && !isSameAddress(chain, currency, term)) return false
  return tokens === undefined || tokens.some((token) => namesCurrency(chain, currency, token))
}

/** @param token `chainId:address` */
function namesCurrency(chain: QuotableChain, currency: QuotableCurrency, token: string): boolean {
  const separator = token.indexOf(':')
  return (
    separator > 0 &&
    token.slice(0, separator) === String(chain.chainId) &&
    isSameAddress(chain, currency, token.slice(separator + 1))
  )
}

function isSameAddress(chain: QuotableChain, currency: QuotableCurrency, address: string): boolean {
  return findCurrency(chain, address) === currency
}

function mentions({ symbol, name }: QuotableCurrency, term: string): boolean {
  return [symbol, name].some((text) => text.toLowerCase().includes(term.toLowerCase()))
}
