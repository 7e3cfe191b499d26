import type { CurrencyKey, Hex, PoolState } from '@causeway/core'
import type { NetworkFeeRefusal } from '@causeway/families'
import type { NetworkFees, ShapeUnits } from '@causeway/families/rules'

/** One USD price as of one refresh, already guarded. @source docs/decisions/0007-price-guards.md */
export type UsdPrice = {
  /** USD per whole token, 18 fraction digits. */
  readonly usdX18: bigint
  /** Newest time that a source gives for its value. */
  readonly updatedAtMs: number
  /** `degraded`: sources disagree within the hard limit, or a stablecoin has lost its peg. */
  readonly confidence: 'fresh' | 'degraded'
  /** Distance between the lowest and the highest source. */
  readonly spreadBps: bigint
  /** Distance of a stablecoin from 1 USD, present when it is notable; the price is then `degraded`. */
  readonly depegBps?: bigint
}

/**
 * Reason for which a price must not be used. There is no substitute: callers refuse their request, which may
 * be repeated later. `no_source`: no source has a value; `stale`: every value is too old. `deviation`:
 * sources lie too far apart; `depeg`: a stablecoin lies too far from 1 USD. `unconfirmed_jump`: no second
 * source confirms a large move.
 */
export type PriceRefusal = {
  readonly reason:
    | 'no_source'
    | 'stale'
    | 'deviation'
    | 'depeg'
    | 'unconfirmed_jump'
    /** A second source is configured, but has no fresh value. */
    | 'second_source_missing'
}

/** Value of one source that made or confirmed a price. */
export type PriceWitness = {
  /** E.g. `feed base 0x…`, `http defillama`. */
  readonly source: string
  /** USD per whole token, 18 fraction digits. */
  readonly usdX18: bigint
  /** By the source itself. */
  readonly updatedAtMs: number
  /** Block at which it was read, for a source on a chain. */
  readonly block?: bigint
}

/** Origin of a chain's values: block, network fee, and the number of endpoints that agreed. */
export type ChainBasis = {
  readonly block: bigint
  readonly hash?: Hex
  /** For people, e.g. `1000000000 wei per gas`. */
  readonly networkFee?: string
  /** Number of endpoint hosts that gave the same answer, and of those that are configured. */
  readonly agreed?: number
  readonly configured?: number
}

/** Everything about one chain that a price depends on, read at one head. */
export type ChainMarket = {
  readonly chainId: number
  /** The hash is absent on chains where endpoints are compared by the height that they have reached. */
  readonly head: { readonly number: bigint; readonly hash?: Hex; readonly timestampSeconds: number }
  /** Unix milliseconds at which it was read. */
  readonly asOfMs: number
  /** Fees of a transaction on the chain, as its family computes them. */
  readonly fees: NetworkFees
  /** Gas units of known transactions, estimated by the network; part of `fees`. Absent where they are not measured. */
  readonly shapes?: readonly ShapeUnits[]
  /** Mirrored pools, all at `head.hash`. Empty while the mirror is not trusted. */
  readonly pools: readonly PoolState[]
  /** Spendable solver balance per currency. */
  readonly inventory: ReadonlyMap<CurrencyKey, bigint>
}

/** Reason for which a chain must not be priced now; it may pass within moments. */
export type ChainRefusal = { readonly reason: 'no_data' | 'stale_head' | 'stale_gas' } | NetworkFeeRefusal

/**
 * One immutable view of all markets. A price is computed from exactly one snapshot, so it never mixes two moments.
 * Where a value is missing, `price` and `chain` return the reason, never a guess.
 */
export type MarketSnapshot = {
  readonly version: number
  readonly takenAtMs: number
  /** @param priceKey e.g. `ETH/USD` */
  price(priceKey: string): UsdPrice | PriceRefusal
  /** The newest guarded price, even while it is refused. Only for showing a worth, never for an amount. */
  lastPrice(priceKey: string): UsdPrice | undefined
  chain(chainId: number): ChainMarket | ChainRefusal
  /** Sources of a price; empty for an unknown one. */
  witnesses(priceKey: string): readonly PriceWitness[]
  /** Reading behind a chain's values; `undefined` before its first reading. */
  basis(chainId: number): ChainBasis | undefined
}
