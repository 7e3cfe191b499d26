import type { PricedUnit } from '@causeway/core'
import type { QuoteAsset } from '@causeway/core/config'
import type { ChainMarket, MarketSnapshot, UsdPrice } from '@causeway/market'
import { QuoteError } from '../errors.ts'
import type { QuotableCurrency } from '../registry.ts'
import type { AssetInventory } from './inventory.ts'
import type { InventoryView } from './inventoryView.ts'

/** A currency's unit and guarded price, and by how much its sources disagree. */
export type PricedCurrency = PricedUnit & { readonly spreadBps: bigint }

/** The guarded price of a currency. @throws QuoteError PRICE_FETCH_FAILED, retryable, when there is none now */
export function requirePrice(snapshot: MarketSnapshot, currency: QuotableCurrency): PricedCurrency {
  let prices = pricesOfSnapshot.get(snapshot)
  if (prices === undefined) {
    prices = new Map()
    pricesOfSnapshot.set(snapshot, prices)
  }
  const known = prices.get(currency)
  if (known !== undefined) return known
  const { usdX18, spreadBps } = requireAssetPrice(snapshot, currency.asset)
  const price = { decimals: currency.decimals, usdX18, spreadBps }
  prices.set(currency, price)
  return price
}

/** A price asks for the same few about ten times. */
const pricesOfSnapshot = new WeakMap<MarketSnapshot, Map<QuotableCurrency, PricedCurrency>>()

/**
 * A price to show beside an amount that does not depend on it: the last guarded one while it is refused.
 * @throws QuoteError PRICE_FETCH_FAILED, retryable, when there has been none for too long
 */
export function shownPrice(snapshot: MarketSnapshot, currency: QuotableCurrency): PricedCurrency {
  const last = snapshot.lastPrice(currency.asset.priceKey)
  if (last === undefined) return requirePrice(snapshot, currency)
  return { decimals: currency.decimals, usdX18: last.usdX18, spreadBps: last.spreadBps }
}

/** The price of whole units of an asset. @throws QuoteError PRICE_FETCH_FAILED, retryable */
export function requireAssetPrice(snapshot: MarketSnapshot, { priceKey }: QuoteAsset): UsdPrice {
  const price = snapshot.price(priceKey)
  if ('reason' in price) {
    const reasonText = price.reason === 'second_source_missing' ? ': its second source is missing' : ''
    throw new QuoteError(
      'PRICE_FETCH_FAILED',
      `There is no usable ${priceKey} price at the moment${reasonText}.`,
      { data: { priceKey, reason: price.reason } },
    )
  }
  return price
}

/**
 * The solver's inventory of a currency's asset.
 * @throws QuoteError SERVICE_UNAVAILABLE, retryable, when it cannot be valued or is not known
 * @source Q-83
 */
export function requireInventory(view: InventoryView, currency: QuotableCurrency): AssetInventory {
  const inventory = view(currency.asset)
  if (inventory === undefined) {
    throw new QuoteError('SERVICE_UNAVAILABLE', 'The solver inventory cannot be valued at the moment.')
  }
  if (inventory.unknownChains.has(currency.chainId)) throw unknownBalance(currency)
  return inventory
}

export function unknownBalance({ symbol, chainId }: QuotableCurrency): QuoteError {
  return new QuoteError(
    'SERVICE_UNAVAILABLE',
    `What the solver holds of ${symbol} on chain ${chainId} cannot be read at the moment.`,
    { data: { chainId, reason: 'inventory_unknown' } },
  )
}

/**
 * The market of one chain: fees, pools and the solver's balances.
 * @throws QuoteError SERVICE_UNAVAILABLE, retryable, when the chain's head or gas price is too old or
 * disputed, GAS_PRICE_TOO_HIGH, retryable, when it is above the ceiling
 */
export function requireChain(snapshot: MarketSnapshot, chainId: number): ChainMarket {
  const chain = snapshot.chain(chainId)
  if (!('reason' in chain)) return chain
  const data = { chainId, reason: chain.reason }
  if ('ceiling' in chain) {
    const text = `${chain.charge} on chain ${chainId} ${chain.cost}, above the ceiling of ${chain.ceiling}.`
    throw new QuoteError('GAS_PRICE_TOO_HIGH', text, { data })
  }
  const text =
    chain.reason === 'no_data'
      ? `Chain ${chainId} is starting, or has no endpoint: nothing of it was read since this service started.`
      : `Chain ${chainId} cannot be priced at the moment.`
  throw new QuoteError('SERVICE_UNAVAILABLE', text, { data })
}
