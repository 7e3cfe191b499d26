/**
 * Class of an asset, which decides the guards of its price, its automatic slippage and its platform fee.
 * @source rule Q-152
 */
export type AssetClass = 'stable' | 'major' | 'longtail'

/** Names one currency on one chain: `<chainId>:<canonical address>`. */
export type CurrencyKey = `${number}:${string}`

/** A currency as configuration knows it. `address` is in canonical spelling. */
export type Currency = {
  readonly chainId: number
  readonly address: string
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly logoUri?: string
  readonly isNative: boolean
}

/** @param address canonical spelling, see `VmCodec.canonicalAddress` */
export function currencyKey(chainId: number, address: string): CurrencyKey {
  return `${chainId}:${address}`
}
