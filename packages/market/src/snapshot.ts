import type { CurrencyKey, Hex, PoolState } from '@causeway/core'
import type { NetworkFeeRefusal } from '@causeway/families'
import type { NetworkFees, ShapeUnits } from '@causeway/families/rules'

/** One USD price as of one refresh, already guarded. @source pricing-engine.md 2.3 */
export type UsdPrice = {
  /** USD per whole token, 18 fraction digits. */
  readonly usdX18: bigint
  readonly updatedAtMs: number
  /** `degraded`: sources disagree within the hard limit; `spreadBps` is by how much. */
  readonly confidence: 'fresh' | 'degraded'
  readonly spreadBps: bigint
  /** Distance of a stablecoin from 1 USD, present when it is notable; the price is then `degraded`. */
  readonly depegBps?: bigint
}

/**
 * Reason for which a price must not be used. There is no substitute: callers refuse their request, and may be asked
 * again.
 */
export type PriceRefusal = {
  readonly reason:
    | 'no_source'
    | 'stale'
    | 'deviation'
    | 'depeg'
    | 'unconfirmed_jump'
    /** One is configured and has not been heard of within its maximum age. */
    | 'second_source_missing'
}

/** Price by a source that made or confirmed it. */
export type PriceWitness = {
  /** E.g. `feed base 0x…`, `http defillama`. */
  readonly source: string
  /** USD per whole token, 18 fraction digits. */
  readonly usdX18: bigint
  /** By the source itself. */
  readonly updatedAtMs: number
  /** At which it was read, of a source on a chain. */
  readonly block?: bigint
}

/** Data read of a chain, and the number of endpoints behind it. */
export type ChainBasis = {
  readonly block: bigint
  readonly hash?: Hex
  /** For people, e.g. `1000000000 wei per gas`. */
  readonly networkFee?: string
  /** Hosts of endpoints that said the same, of those that are configured. */
  readonly agreed?: number
  readonly configured?: number
}

/** Everything about one chain that a price depends on, read at one head. */
export type ChainMarket = {
  readonly chainId: number
  /** Without a hash where endpoints are compared by what they have reached. */
  readonly head: { readonly number: bigint; readonly hash?: Hex; readonly timestampSeconds: number }
  readonly asOfMs: number
  /** Fees of a transaction on the chain, as its family computes them. */
  readonly fees: NetworkFees
  /**
   * Units of known transactions by the network's own estimate, part of `fees`; absent for chains that are not measured.
   */
  readonly shapes?: readonly ShapeUnits[]
  /** Mirrored pools, all at `head.hash`. Empty while the mirror is not trusted. */
  readonly pools: readonly PoolState[]
  /** Spendable solver balance per currency. */
  readonly inventory: ReadonlyMap<CurrencyKey, bigint>
}

/** Why a chain must not be priced now. It may be a moment later. */
export type ChainRefusal = { readonly reason: 'no_data' | 'stale_head' | 'stale_gas' } | NetworkFeeRefusal

/**
 * One immutable view of all markets: whoever prices something uses exactly one, so it never mixes two ticks.
 * `price` and `chain` return why a value is missing instead of a guess.
 */
export type MarketSnapshot = {
  readonly version: number
  readonly takenAtMs: number
  /** @param priceKey e.g. `ETH/USD` */
  price(priceKey: string): UsdPrice | PriceRefusal
  /** The newest guarded price, though it may be refused now: to show what something is worth, never to decide. */
  lastPrice(priceKey: string): UsdPrice | undefined
  chain(chainId: number): ChainMarket | ChainRefusal
  /** Sources of a price; empty for an unknown one. */
  witnesses(priceKey: string): readonly PriceWitness[]
  /** Reading behind a chain's values; `undefined` before its first reading. */
  basis(chainId: number): ChainBasis | undefined
}
