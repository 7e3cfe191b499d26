import { QuoteError } from '../errors.ts'
import type { QuotableChain, QuotableCurrency } from '../registry.ts'
import type { SwapPermissions } from '../request.ts'
import type { Route } from '../routes/route.ts'
import {
  type Leg,
  type LegPlan,
  legName,
  type PoolScope,
  poolsBetween,
  poolToken,
  swapSource,
} from './legs.ts'

/**
 * Lists all ways in which a solver can serve a route; the caller prices each and keeps the best.
 * @throws QuoteError NO_SWAP_ROUTES_FOUND when no pool joins the currencies to the solver's inventory
 */
export function planLegs(route: Route, poolScope: PoolScope): readonly LegPlan[] {
  const { currencyIn, currencyOut } = route
  const known = knownPlans[poolScope].get(currencyIn)?.get(currencyOut)
  if (known !== undefined) return known
  const plans = listPlans(route, poolScope)
  const plansByOutput = knownPlans[poolScope].get(currencyIn) ?? new WeakMap()
  knownPlans[poolScope].set(currencyIn, plansByOutput.set(currencyOut, plans))
  return plans
}

/** Plans of a pair depend on the configuration alone, which its currencies stand for. */
const knownPlans: Readonly<
  Record<PoolScope, WeakMap<QuotableCurrency, WeakMap<QuotableCurrency, readonly LegPlan[]>>>
> = { configured: new WeakMap(), fallbacks: new WeakMap() }

function listPlans(route: Route, poolScope: PoolScope): readonly LegPlan[] {
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
 * Keeps the plans that use no pool which the caller does not want.
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

/** Ways in which the input, or what it is swapped into, reaches the solver. */
function originOptions(chain: QuotableChain, currencyIn: QuotableCurrency, poolScope: PoolScope) {
  // The solver manages inventory of the whole asset, so it takes any currency of it at par.
  if (currencyIn.asset.inventory !== undefined) return [{ origin: undefined, feeCurrency: currencyIn }]
  // A swap on the origin and the deposit are one transaction of the deposit router.
  if (chain.config.depositRouter === undefined) return []
  return chain.solverCurrencies.flatMap((candidate) =>
    poolLegs(chain, { from: currencyIn, to: candidate }, poolScope).map((origin) => ({
      origin,
      feeCurrency: candidate,
    })),
  )
}

/** Ways in which the solver pays the output itself, or a currency that is swapped or wrapped into it. */
function destinationOptions(chain: QuotableChain, currencyOut: QuotableCurrency, poolScope: PoolScope) {
  if (currencyOut.solver) return [{ payoutCurrency: currencyOut, destination: undefined }]
  const sameAsset = chain.solverCurrencies.find((candidate) => candidate.asset === currencyOut.asset)
  if (sameAsset !== undefined && (sameAsset.isNative || currencyOut.isNative)) {
    const kind: Leg['kind'] = sameAsset.isNative ? 'wrap' : 'unwrap'
    return [{ payoutCurrency: sameAsset, destination: { kind, chain, from: sameAsset, to: currencyOut } }]
  }
  return chain.solverCurrencies.flatMap((candidate) =>
    poolLegs(chain, { from: candidate, to: currencyOut }, poolScope).map((destination) => ({
      payoutCurrency: candidate,
      destination,
    })),
  )
}

/**
 * The leg over listed pools of the pair; with fallbacks also one over the unlisted fee tiers together, and
 * one via each currency that has listed pools with both. None where there are no such pools.
 */
function poolLegs(
  chain: QuotableChain,
  { from, to }: Pick<Leg, 'from' | 'to'>,
  poolScope: PoolScope,
): readonly Leg[] {
  const leg: Leg = { kind: 'pool', chain, from, to }
  const directPools = poolsBetween(chain, from, to)
  const direct = directPools.length > 0 ? [leg] : []
  const pools = chain.config.uniswapV3
  // Native coin and its wrapped form are one token to pools, so nothing lies between them.
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

function noRoute(route: Route): QuoteError {
  const { currencyIn, currencyOut } = route
  return new QuoteError(
    'NO_SWAP_ROUTES_FOUND',
    `No route from ${currencyIn.symbol} on chain ${currencyIn.chainId} to ${currencyOut.symbol} on chain ${currencyOut.chainId}.`,
    { data: { originCurrency: currencyIn.address, destinationCurrency: currencyOut.address } },
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
  // A refusal with a field is about the caller's choice of swaps, which fallbacks do not change.
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
