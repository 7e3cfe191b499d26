// Market data that a quote was priced from, stored with it: sources and blocks are gone when its price is questioned
// later.
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import type { Priced } from '../../pricing/priceRequest.ts'
import { storedInteger } from './storedFees.ts'

const sourceRow = z.object({
  source: z.string(),
  usdX18: storedInteger,
  atMs: z.number(),
  block: storedInteger.optional(),
})
const chainRow = z.object({
  block: storedInteger,
  hash: z.string().optional(),
  networkFee: z.string().optional(),
  agreed: z.number().optional(),
  configured: z.number().optional(),
})

/** Member `market` of `orders.quoted`. Written by `marketBasisText`. */
export const marketBasisSchema = z.object({
  /** Prices of each source, by price key, e.g. `ETH/USD`. */
  prices: z.record(z.string(), z.array(sourceRow)),
  /** Block and number of agreeing endpoints, by chain id. */
  chains: z.record(z.string(), chainRow),
})

export type MarketBasis = z.output<typeof marketBasisSchema>

/** Quotes of one route in one snapshot share the text. */
const textsBySnapshot = new WeakMap<MarketSnapshot, Map<string, string>>()

/** JSON text of what a priced request rests on. */
export function marketBasisText({ snapshot, route, feeCurrency }: Priced): string {
  const { origin, destination, currencyIn, currencyOut } = route
  const currencies = [currencyIn, currencyOut, feeCurrency, origin.native, destination.native]
  const priceKeys = [...new Set(currencies.map(({ asset }) => asset.priceKey))]
  const chainIds = [...new Set([origin.chainId, destination.chainId])]
  const key = [...chainIds, ...priceKeys].join()
  const ofSnapshot = textsBySnapshot.get(snapshot) ?? new Map<string, string>()
  textsBySnapshot.set(snapshot, ofSnapshot)
  const text = ofSnapshot.get(key) ?? basisText(snapshot, priceKeys, chainIds)
  ofSnapshot.set(key, text)
  return text
}

function basisText(
  snapshot: MarketSnapshot,
  priceKeys: readonly string[],
  chainIds: readonly number[],
): string {
  const prices = priceKeys.map((key) => [
    key,
    snapshot.witnesses(key).map(({ source, usdX18, updatedAtMs, block }) => ({
      source,
      usdX18: usdX18.toString(),
      atMs: updatedAtMs,
      ...(block !== undefined && { block: block.toString() }),
    })),
  ])
  const chains = chainIds.flatMap((id) => {
    const basis = snapshot.basis(id)
    return basis === undefined ? [] : [[id, { ...basis, block: basis.block.toString() }]]
  })
  return JSON.stringify({ prices: Object.fromEntries(prices), chains: Object.fromEntries(chains) })
}
