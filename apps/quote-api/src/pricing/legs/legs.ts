import { bpsDenominator, divideUp, type UsdX18, usdValueDown } from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../errors.ts'
import { requirePrice } from '../market/marketAccess.ts'
import type { QuotableChain, QuotableCurrency } from '../registry.ts'
import type { SwapPermissions } from '../request.ts'
import type { Route } from '../routes/route.ts'

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
  /** Amount by which the pools sell below the agreed price, in bps, see `legGuard.ts`; 0 for an unlisted pool. */
  readonly adverseBps: bigint
}

/** Sum over all legs of the bps by which their pools are below the agreed price. */
export function adverseBpsOf(legs: readonly (LegQuote | undefined)[]): bigint {
  return legs.reduce((sum, leg) => sum + (leg?.adverseBps ?? 0n), 0n)
}

/**
 * Quotes one leg at a snapshot's prices; the best pool wins.
 * @throws QuoteError NO_SWAP_ROUTES_FOUND, PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export interface LegQuoter {
  exactInput(snapshot: MarketSnapshot, leg: Leg, amountIn: bigint): Promise<LegQuote>
  exactOutput(snapshot: MarketSnapshot, leg: Leg, amountOut: bigint): Promise<LegQuote>
}

/** Pools that plans may use. `fallbacks`: also unlisted fee tiers, and two pools in a row. */
export type PoolScope = 'configured' | 'fallbacks'

/**
 * All ways a solver can serve a route; the caller prices each and keeps the best.
 * @throws QuoteError NO_SWAP_ROUTES_FOUND when no pool joins the currencies to the solver's inventory
 * @source pricing-engine.md 3.1
 */
export function planLegs(route: Route, poolScope: PoolScope): readonly LegPlan[] {
  const origins = originOptions(route.origin, route.currencyIn, poolScope)
  const destinations = destinationOptions(route.destination, route.currencyOut, poolScope)
  const plans: LegPlan[] = []
  for (const { origin, feeCurrency } of origins)
    for (const { payoutCurrency, destination } of destinations)
      plans.push({ origin, feeCurrency, payoutCurrency, destination })
  if (plans.length === 0) throw noRoute(route)
  return plans
}

/**
 * Plans that use no pool which the caller does not want.
 * @throws QuoteError UNSUPPORTED_ROUTE, NO_SWAP_ROUTES_FOUND naming the field that leaves none
 */
export function permittedPlans<Plan extends Pick<LegPlan, 'origin' | 'destination'>>(
  plans: readonly Plan[],
  swaps: SwapPermissions | undefined,
): readonly Plan[] {
  if (swaps === undefined) return plans
  const { isOriginDisabled, hasOriginSource, hasDestinationSource } = swaps
  const permitted = plans.filter(
    ({ origin, destination }) =>
      (origin?.kind !== 'pool' || (hasOriginSource && !isOriginDisabled)) &&
      (destination?.kind !== 'pool' || hasDestinationSource),
  )
  if (permitted.length > 0) return permitted
  if (isOriginDisabled && plans.every(({ origin }) => origin?.kind === 'pool')) {
    throw new QuoteError('UNSUPPORTED_ROUTE', 'The input needs a swap on its own chain.', {
      data: { field: 'disableOriginSwaps' },
    })
  }
  throw new QuoteError('NO_SWAP_ROUTES_FOUND', `The only source of swaps is ${swapSource}.`, {
    data: { field: 'includedSwapSources', source: swapSource },
  })
}

/** Possible legs of a swap, wrap or unwrap that the user executes alone. @throws QuoteError NO_SWAP_ROUTES_FOUND */
export function planSelfExecutedLegs(route: Route, poolScope: PoolScope): readonly Leg[] {
  const { origin: chain, currencyIn: from, currencyOut: to, operation } = route
  if (operation === 'wrap' || operation === 'unwrap') return [{ kind: operation, chain, from, to }]
  const legs = chain.config.depositRouter === undefined ? [] : poolLegs(chain, { from, to }, poolScope)
  if (legs.length === 0) throw noRoute(route)
  return legs
}

function originOptions(chain: QuotableChain, currencyIn: QuotableCurrency, poolScope: PoolScope) {
  // The solver manages inventory of the whole asset, so it takes any currency of it at par.
  if (currencyIn.asset.inventory !== undefined) return [{ origin: undefined, feeCurrency: currencyIn }]
  if (chain.config.depositRouter === undefined) return []
  return chain.solverCurrencies.flatMap((candidate) =>
    poolLegs(chain, { from: currencyIn, to: candidate }, poolScope).map((origin) => ({
      origin,
      feeCurrency: candidate,
    })),
  )
}

function destinationOptions(chain: QuotableChain, currencyOut: QuotableCurrency, poolScope: PoolScope) {
  if (currencyOut.solver) return [{ payoutCurrency: currencyOut, destination: undefined }]
  const sibling = chain.solverCurrencies.find((candidate) => candidate.asset === currencyOut.asset)
  if (sibling !== undefined && (sibling.isNative || currencyOut.isNative)) {
    const kind: Leg['kind'] = sibling.isNative ? 'wrap' : 'unwrap'
    return [{ payoutCurrency: sibling, destination: { kind, chain, from: sibling, to: currencyOut } }]
  }
  return chain.solverCurrencies.flatMap((candidate) =>
    poolLegs(chain, { from: candidate, to: currencyOut }, poolScope).map((destination) => ({
      payoutCurrency: candidate,
      destination,
    })),
  )
}

/** The leg over listed pools of the pair; with fallbacks also one over other fee tiers, and one via each currency. */
function poolLegs(
  chain: QuotableChain,
  { from, to }: Pick<Leg, 'from' | 'to'>,
  poolScope: PoolScope,
): readonly Leg[] {
  const leg: Leg = { kind: 'pool', chain, from, to }
  const directPools = poolsBetween(chain, from, to)
  const direct = directPools.length > 0 ? [leg] : []
  const pools = chain.config.uniswapV3
  if (poolScope === 'configured' || pools === undefined || poolToken(chain, from) === poolToken(chain, to))
    return direct
  const feeTiers = pools.fallbackFeeTiers.filter((tier) =>
    directPools.every(({ feePips }) => feePips !== tier),
  )
  const viaCurrencies = [...chain.currencies.values()].filter(
    // Pools trade the wrapped form of the native coin, so where both are listed only the wrapped one is tried.
    (via) =>
      (!via.isNative || chain.wrappedNative === undefined) &&
      poolsBetween(chain, from, via).length > 0 &&
      poolsBetween(chain, via, to).length > 0,
  )
  return [
    ...direct,
    ...(feeTiers.length > 0 ? [{ ...leg, fallback: { feeTiers } }] : []),
    ...viaCurrencies.map((via) => ({ ...leg, fallback: { via } })),
  ]
}

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

/**
 * Adds the advice to send `useFallbacks` to a refusal for want of a pool, where fallbacks would try more pools for the
 * refused pair or leg. Returns other refusals unchanged. @source Q-8
 */
export function adviseFallbacks(
  refusal: QuoteError,
  { route, swaps }: { route: Route; swaps: SwapPermissions | undefined },
): QuoteError {
  const { code, message, data } = refusal
  if (code !== 'NO_SWAP_ROUTES_FOUND' || data['field'] !== undefined) return refusal
  const hasFallback = fallbackLegs(route, swaps).some(
    (leg) =>
      data['leg'] === undefined || (legName(leg) === data['leg'] && leg.chain.chainId === data['chainId']),
  )
  if (!hasFallback) return refusal
  const errorData = { ...data, field: 'useFallbacks' }
  return new QuoteError(code, `${message} useFallbacks: true also tries other pools.`, { data: errorData })
}

/** Fallback legs of a route that the caller permits; none where the route has no plan. */
function fallbackLegs(route: Route, swaps: SwapPermissions | undefined): readonly Leg[] {
  try {
    const plans: readonly Pick<LegPlan, 'origin' | 'destination'>[] = route.selfExecuted
      ? planSelfExecutedLegs(route, 'fallbacks').map((origin) => ({ origin, destination: undefined }))
      : planLegs(route, 'fallbacks')
    const legs = permittedPlans(plans, swaps).flatMap(({ origin, destination }) => [origin, destination])
    return legs.flatMap((leg) => (leg?.fallback === undefined ? [] : [leg]))
  } catch (error) {
    if (error instanceof QuoteError) return []
    throw error
  }
}

/**
 * Chooses which refusal callers see when all plans are refused: the first one that is not about a missing pool, since
 * such a plan could be served otherwise.
 */
export function chooseRefusal(previous: QuoteError | undefined, next: QuoteError): QuoteError {
  return previous === undefined || previous.code === 'NO_SWAP_ROUTES_FOUND' ? next : previous
}

function noRoute(route: Route): QuoteError {
  const { currencyIn, currencyOut } = route
  return new QuoteError(
    'NO_SWAP_ROUTES_FOUND',
    `No route from ${currencyIn.symbol} on chain ${currencyIn.chainId} to ${currencyOut.symbol} on chain ${currencyOut.chainId}.`,
    { data: { originCurrency: currencyIn.address, destinationCurrency: currencyOut.address } },
  )
}

/** Name of a leg in HTTP answers. */
export const legName = ({ from, to }: Pick<Leg, 'from' | 'to'>): string => `${from.symbol}->${to.symbol}`

/** Change of value inside pool legs, without the solver's fees. */
export type LegImpact = {
  /** Worth of the output less that of the input; negative is a loss. */
  readonly usd: UsdX18
  readonly inputUsd: UsdX18
  /** The loss as a part of the input, rounded up; negative is a gain. */
  readonly lossBps: bigint
}

const noImpact: LegImpact = { usd: 0n, inputUsd: 0n, lossBps: 0n }

/**
 * A pool in which half of the value is lost is not deep enough for the amount. Smaller losses are left to
 * `checkImpact`.
 */
const depthLossBps = 5_000n

/**
 * Refuses an amount that is more than a pool holds, unless the caller accepts any impact.
 * @throws QuoteError INSUFFICIENT_LIQUIDITY
 */
export function checkDepth(
  snapshot: MarketSnapshot,
  quote: LegQuote,
  { override }: { override: boolean },
): void {
  if (override || quote.leg.kind !== 'pool') return
  // Rounding takes at most one unit. One is added, so that rounding of a dust amount does not count as lack of depth.
  const unrounded = { ...quote, amountOut: quote.amountOut + 1n }
  if (legImpact(snapshot, [unrounded]).lossBps < depthLossBps) return
  const { chain, from, to } = quote.leg
  throw new QuoteError(
    'INSUFFICIENT_LIQUIDITY',
    `Pools on chain ${chain.chainId} hold too little to swap so much ${from.symbol} to ${to.symbol}.`,
    { data: { leg: legName(quote.leg) } },
  )
}

/** A pool that gives this much more than the market is broken or being set up. */
const gainBpsMax = 500n

/** Impact of all pool legs together. @source quote-api.md 6.3 (swapImpact) */
export function legImpact(snapshot: MarketSnapshot, legs: readonly (LegQuote | undefined)[]): LegImpact {
  let usd = 0n
  let inputUsd = 0n
  for (const quote of legs) {
    if (quote === undefined || quote.leg.kind !== 'pool') continue
    const paid = usdValueDown(quote.amountIn, requirePrice(snapshot, quote.leg.from))
    usd += usdValueDown(quote.amountOut, requirePrice(snapshot, quote.leg.to)) - paid
    inputUsd += paid
  }
  if (inputUsd === 0n) return noImpact
  return { usd, inputUsd, lossBps: divideUp(-usd * bpsDenominator, inputUsd) }
}

/**
 * Refuses a swap that loses more than the configured limit, unless the caller accepts it, and one
 * that gains more than any honest pool gives.
 * @throws QuoteError SWAP_IMPACT_TOO_HIGH, PRICE_FETCH_FAILED
 */
export function checkImpact(impact: LegImpact, limits: { maxBps: number; override: boolean }): void {
  if (impact.lossBps > BigInt(limits.maxBps) && !limits.override) {
    throw new QuoteError(
      'SWAP_IMPACT_TOO_HIGH',
      `The swap loses ${impact.lossBps} bps of its value; lower the amount or set overridePriceImpact.`,
      { data: { impactBps: Number(impact.lossBps), limitBps: limits.maxBps } },
    )
  }
  if (impact.lossBps < -gainBpsMax) {
    throw new QuoteError(
      'PRICE_FETCH_FAILED',
      'Pools and price sources disagree too far to quote this swap.',
      {
        data: { reason: 'pool_deviation' },
      },
    )
  }
}
