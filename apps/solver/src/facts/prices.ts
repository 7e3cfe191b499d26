import { type NetworkOf, usdValueDown } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import { codecOf } from '@causeway/core/encodings'
import type { MarketSnapshot } from '@causeway/market'
import type { Valuer } from '../judge/verdict.ts'

/** Data by which an amount of a currency is valued. */
type Unit = { readonly decimals: number; readonly priceKey: string }

/** Decimals and price key of each currency of the quote file, by numeric chain id and canonical address. */
export type Units = ReadonlyMap<string, Unit>

const unitKey = (chainId: number, currency: string) => `${chainId} ${currency}`

export function readUnits(file: Pick<QuoteFile, 'assets' | 'chains'>, networkOf: NetworkOf): Units {
  const priceKeys = new Map(file.assets.map(({ id, priceKey }) => [id, priceKey]))
  const units = new Map<string, Unit>()
  for (const [key, { chainId, currencies }] of Object.entries(file.chains)) {
    const network = networkOf(key)
    if (network === undefined) continue
    const codec = codecOf(network)
    for (const { address, decimals, asset } of currencies) {
      const priceKey = priceKeys.get(asset)
      if (priceKey === undefined) continue
      units.set(unitKey(chainId, codec.canonicalAddress(address)), { decimals, priceKey })
    }
  }
  return units
}

/** Values amounts by the prices of one market snapshot; undefined where its guards refuse the price. */
export function valuerOf(units: Units, snapshot: Pick<MarketSnapshot, 'price'>): Valuer {
  return (chainId, currency, amount) => {
    if (amount === 0n) return 0n
    const unit = units.get(unitKey(chainId, currency))
    if (unit === undefined) return undefined
    const price = snapshot.price(unit.priceKey)
    return 'reason' in price
      ? undefined
      : usdValueDown(amount, { decimals: unit.decimals, usdX18: price.usdX18 })
  }
}
