// The market data that a quote was priced from. It is stored with the quote, so that the price can be explained later,
// when the snapshot is gone.
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import type { PricedRequest } from '../../pricing/priceRequest.ts'
import { storedInteger } from './storedFees.ts'

/** One source's price of a unit, and the block that it was read at on a chain. */
const sourceRow = z.object({
  source: z.string(),
  usdX18: storedInteger,
  atMs: z.number(),
  block: storedInteger.optional(),
})
/** The chain's head, and its network fee in words; `agreed` of `configured` endpoints gave them. */
const chainRow = z.object({
  block: storedInteger,
  hash: z.string().optional(),
  networkFee: z.string().optional(),
  agreed: z.number().optional(),
  configured: z.number().optional(),
})

/** Shape of member `market` of `orders.quoted`, which `marketBasisText` writes. */
export const marketBasisSchema = z.object({
  /** Prices of each source, by price key, e.g. `ETH/USD`. */
  prices: z.record(z.string(), z.array(sourceRow)),
  /** Block and number of agreeing endpoints, by chain id. */
  chains: z.record(z.string(), chainRow),
})

export type MarketBasis = z.output<typeof marketBasisSchema>

/** Cache: all quotes of one route and snapshot have the same text. */
const textsBySnapshot = new WeakMap<MarketSnapshot, Map<string, string>>()

/** JSON text of the market data of a priced request. */
export function marketBasisText({ snapshot, route, feeCurrency }: PricedRequest): string {
  const { origin, destination, currencyIn, currencyOut } = route
  const currencies = [currencyIn, currencyOut, feeCurrency, origin.native, destination.native]
  const priceKeys = [...new Set(currencies.map(({ asset }) => asset.priceKey))]
  const chainIds = [...new Set([origin.chainId, destination.chainId])]
  const routeKey = [...chainIds, ...priceKeys].join()
  const textsByRoute = textsBySnapshot.get(snapshot) ?? new Map<string, string>()
  textsBySnapshot.set(snapshot, textsByRoute)
  const text = textsByRoute.get(routeKey) ?? basisText(snapshot, priceKeys, chainIds)
  textsByRoute.set(routeKey, text)
  return text
}

function basisText(
  snapshot: MarketSnapshot,
  priceKeys: readonly string[],
  chainIds: readonly number[],
): string {
  const prices = priceKeys.map((priceKey) => [
    priceKey,
    snapshot.witnesses(priceKey).map(({ source, usdX18, updatedAtMs, block }) => ({
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
