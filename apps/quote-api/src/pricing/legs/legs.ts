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
  /** Set on a fallback leg: the currency between two pools, or fee tiers that the configuration does not list. */
  readonly beyond?: { readonly via: QuotableCurrency } | { readonly feeTiers: readonly number[] } | undefined
}

/**
 * Currencies of a route: the user's currency becomes the fee currency on the origin, the solver pays out of its own
 * inventory on the destination, and the payout becomes the output currency.
 */
export type LegPlan = {
  readonly origin: Leg | undefined
  /** Currency that the solver receives on the origin, in which all fees are counted. @source rule Q-150 */
  readonly feeCurrency: QuotableCurrency
  /** Currency that leaves the solver's inventory on the destination. */
  readonly payoutCurrency: QuotableCurrency
  readonly destination: Leg | undefined
}

export type LegQuote = {
  readonly leg: Leg
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** The pools that it goes through, in order; none for one-to-one legs. */
  readonly hops: readonly { readonly to: QuotableCurrency; readonly feePips: number }[]
  readonly ticksCrossed: number
  /** Amount by which the pool is below the agreed price, in bps; 0 if unknown. */
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

/** `fallbacks`: also what a caller allows by `useFallbacks`. */
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

/** The ways of a swap, wrap or unwrap that the user executes. @throws QuoteError NO_SWAP_ROUTES_FOUND */
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

/** The direct way over pools of the configuration; with fallbacks also other fees, and any currency between two. */
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
    // The native coin trades as its wrapped form, which is listed beside it or stands for it.
    (via) =>
      (!via.isNative || chain.wrappedNative === undefined) &&
      poolsBetween(chain, from, via).length > 0 &&
      poolsBetween(chain, via, to).length > 0,
  )
  return [
    ...direct,
    ...(feeTiers.length > 0 ? [{ ...leg, beyond: { feeTiers } }] : []),
    ...viaCurrencies.map((via) => ({ ...leg, beyond: { via } })),
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
 * A refusal for want of a pool, with the advice to send `useFallbacks` where that tries pools beyond the listed ones for
 * the pair or leg that is refused. @source Q-8
 */
export function adviseFallbacks(
  refusal: QuoteError,
  { route, swaps }: { route: Route; swaps: SwapPermissions | undefined },
): QuoteError {
  const { code, message, data } = refusal
  if (code !== 'NO_SWAP_ROUTES_FOUND' || data['field'] !== undefined) return refusal
  const isMended = fallbackLegs(route, swaps).some(
    (leg) =>
      data['leg'] === undefined || (legName(leg) === data['leg'] && leg.chain.chainId === data['chainId']),
  )
  if (!isMended) return refusal
  const errorData = { ...data, field: 'useFallbacks' }
  return new QuoteError(code, `${message} useFallbacks: true also tries other pools.`, { data: errorData })
}

/** Pools of a route beyond the listed ones, as far as the caller permits. */
function fallbackLegs(route: Route, swaps: SwapPermissions | undefined): readonly Leg[] {
  try {
    const plans: readonly Pick<LegPlan, 'origin' | 'destination'>[] = route.selfExecuted
      ? planSelfExecutedLegs(route, 'fallbacks').map((origin) => ({ origin, destination: undefined }))
      : planLegs(route, 'fallbacks')
    const legs = permittedPlans(plans, swaps).flatMap(({ origin, destination }) => [origin, destination])
    return legs.flatMap((leg) => (leg?.beyond === undefined ? [] : [leg]))
  } catch (error) {
    if (error instanceof QuoteError) return []
    throw error
  }
}

/** That one pool of several is missing says less than why the route that exists was refused. */
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

/** As answers name it. */
export const legName = ({ from, to }: Pick<Leg, 'from' | 'to'>): string => `${from.symbol}->${to.symbol}`

/** Value change inside pool legs, fees of the solver not included; negative is a loss. */
export type LegImpact = { readonly usd: UsdX18; readonly inputUsd: UsdX18; readonly lossBps: bigint }

const noImpact: LegImpact = { usd: 0n, inputUsd: 0n, lossBps: 0n }

/** A pool that keeps half of the value is not deep enough for the amount, whatever a caller puts up with below. */
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
  // A rounding loss of a dust amount, one unit at most, is not a lack of depth.
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
