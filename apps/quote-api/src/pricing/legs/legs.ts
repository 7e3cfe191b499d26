import type { PoolConfig } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import type { QuotableChain, QuotableCurrency } from '../registry.ts'

/** The one exchange whose pools are used, as requests and answers name it. */
export const swapSource = 'uniswap-v3'

/** One conversion on one chain: through a pool, or one to one between native and wrapped. */
export type Leg = {
  readonly kind: 'pool' | 'wrap' | 'unwrap'
  readonly chain: QuotableChain
  readonly from: QuotableCurrency
  readonly to: QuotableCurrency
  /** Set on a fallback leg only: `via` lies between two listed pools; `feeTiers` are those of unlisted direct pools. */
  readonly fallback?:
    | { readonly via: QuotableCurrency }
    | { readonly feeTiers: readonly number[] }
    | undefined
}

/**
 * One way of a solver's route: `origin` swaps the user's currency into the fee currency, the solver pays the payout
 * currency from its inventory on the destination, and `destination` swaps that into the output currency. A leg is
 * undefined where nothing is swapped.
 */
export type LegPlan = {
  readonly origin: Leg | undefined
  /** Currency that the solver receives on the origin, in which all fees are counted. @source rule Q-150 */
  readonly feeCurrency: QuotableCurrency
  /** Currency that leaves the solver's inventory on the destination. */
  readonly payoutCurrency: QuotableCurrency
  readonly destination: Leg | undefined
}

/** A leg at given amounts, in smallest units. */
export type LegQuote = {
  readonly leg: Leg
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** The pools that it goes through, in order; none for one-to-one legs. */
  readonly hops: readonly { readonly to: QuotableCurrency; readonly feePips: number }[]
  readonly ticksCrossed: number
  /** Bps by which the pools sell below the agreed price, see `legGuard.ts`; 0 for a pool of unknown state. */
  readonly adverseBps: bigint
}

/**
 * Quotes one leg at a snapshot's prices; the best pool wins.
 * @throws QuoteError NO_SWAP_ROUTES_FOUND, PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export interface LegQuoter {
  exactInput(snapshot: MarketSnapshot, leg: Leg, amountIn: bigint): LegQuote
  exactOutput(snapshot: MarketSnapshot, leg: Leg, amountOut: bigint): LegQuote
}

/** Pools that plans may use. `fallbacks`: also unlisted fee tiers, and two pools in a row. */
export type PoolScope = 'configured' | 'fallbacks'

/** Pools trade the wrapped form of the native currency. */
export function poolToken(chain: QuotableChain, currency: QuotableCurrency): string {
  return currency.isNative ? (chain.config.wrappedNative ?? currency.address) : currency.address
}

/** The listed pools of a pair. */
export function poolsBetween(
  chain: QuotableChain,
  from: QuotableCurrency,
  to: QuotableCurrency,
): readonly PoolConfig[] {
  const a = poolToken(chain, from)
  const b = poolToken(chain, to)
  return (chain.config.uniswapV3?.pools ?? []).filter(
    ({ token0, token1 }) => (token0 === a && token1 === b) || (token0 === b && token1 === a),
  )
}

/** Name of a leg in HTTP answers. */
export const legName = ({ from, to }: Pick<Leg, 'from' | 'to'>): string => `${from.symbol}->${to.symbol}`
