import { usdValueDown } from '@causeway/core'
import type { NetworkFees, OriginRoute, PlannedTransaction } from '@causeway/families/rules'
import type { MarketSnapshot } from '@causeway/market'
import type { GasTopup, MeasuredUse } from './fees/feeTerms.ts'
import type { FeeSplit } from './fees/solve.ts'
import type { LegImpact } from './legs/legImpact.ts'
import type { LegQuote } from './legs/legs.ts'
import { type PricedCurrency, requirePrice, shownPrice } from './market/marketAccess.ts'
import { skewMicroUsd } from './openQuotes/rewardBudget.ts'
import type { RewardedMove } from './openQuotes/rewardedMoves.ts'
import type { QuotableCurrency } from './registry.ts'
import type { QuoteRequest, TradeType } from './request.ts'
import { permitKindOf } from './routes/permit.ts'
import type { Route } from './routes/route.ts'

/** Amounts of an order, which only a solver's route has. In smallest units of the fee currency. */
export type SolverTerms = {
  readonly payoutCurrency: QuotableCurrency
  /** Least deposit the order accepts; below the expected one only where an origin swap may slip. */
  readonly depositAmount: bigint
  /** Least refund if the order fails. @source rule Q-153 */
  readonly refundMinimum: bigint
  readonly topup: GasTopup | undefined
  /** Gas and data that the price was charged for. */
  readonly use: MeasuredUse
  /** Charge for the fill's network fee, in smallest units of the native coin there. */
  readonly gasCharged: bigint
  /** Side of the origin swap that is exact when its step runs. */
  readonly originSwapTrade: 'exactInput' | 'exactOutput'
}

/** Kinds of route beyond the pools of the configuration. */
export type FallbackType = 'more-fee-tiers' | 'two-hops'

/** Kind of fallback among the legs of a route; undefined where configured pools suffice. */
export function fallbackOf(legs: readonly (LegQuote | undefined)[]): FallbackType | undefined {
  const fallbacks = legs.flatMap((leg) => leg?.leg.fallback ?? [])
  if (fallbacks.length === 0) return undefined
  return fallbacks.some((fallback) => 'via' in fallback) ? 'two-hops' : 'more-fee-tiers'
}

/** A priced request before any step or wire format: all that a response is derived from. */
export type PricedRoute = {
  readonly route: Route
  readonly tradeType: TradeType
  /** Expected input, and the most that the steps take. */
  readonly amountIn: bigint
  readonly amountInMax: bigint
  /** Expected output, and the least that the recipient gets. */
  readonly amountOut: bigint
  readonly amountOutMin: bigint
  readonly feeCurrency: QuotableCurrency
  readonly split: FeeSplit
  /** Undefined where nothing is swapped on that side. */
  readonly originLeg: LegQuote | undefined
  readonly destinationLeg: LegQuote | undefined
  /** Impact of all pool legs together. */
  readonly swapImpact: LegImpact
  readonly slippageBps: bigint
  /** Undefined where the user executes the route alone. */
  readonly solver: SolverTerms | undefined
  readonly prices: RoutePrices
}

/** The move of a priced route that earns a reward; undefined where it earns none. */
export function rewardedMove({
  route,
  split,
  feeCurrency,
  solver,
  prices,
}: Pick<PricedRoute, 'route' | 'split' | 'feeCurrency' | 'solver' | 'prices'>): RewardedMove | undefined {
  if (solver === undefined || split.parts.skew >= 0n) return undefined
  const { payoutCurrency } = solver
  return {
    received: { assetId: feeCurrency.asset.id, chainId: route.origin.chainId },
    paid: { assetId: payoutCurrency.asset.id, chainId: payoutCurrency.chainId },
    usdX18: usdValueDown(split.amountIn, prices.feeCurrency),
    microUsd: -skewMicroUsd(split.parts.skew, prices.feeCurrency),
  }
}

/** One snapshot's prices of every currency that the HTTP answer names. */
export type RoutePrices = {
  readonly currencyIn: PricedCurrency
  readonly currencyOut: PricedCurrency
  readonly feeCurrency: PricedCurrency
  readonly originNative: PricedCurrency
  readonly destinationNative: PricedCurrency
}

/** @throws QuoteError PRICE_FETCH_FAILED when any of them has no usable price */
export function routePrices(
  snapshot: MarketSnapshot,
  route: Route,
  feeCurrency: QuotableCurrency,
): RoutePrices {
  return {
    currencyIn: requirePrice(snapshot, route.currencyIn),
    currencyOut: requirePrice(snapshot, route.currencyOut),
    feeCurrency: requirePrice(snapshot, feeCurrency),
    originNative: requirePrice(snapshot, route.origin.native),
    destinationNative: requirePrice(snapshot, route.destination.native),
  }
}

/**
 * Prices of a route that its user executes alone. None of its amounts depends on them, so the last guarded price is
 * shown where the present one is refused. A swap requires the prices of its pool in `poolLegQuoter.ts`.
 * @throws QuoteError PRICE_FETCH_FAILED when one has been missing for too long to be shown
 */
export function shownPrices(snapshot: MarketSnapshot, route: Route): RoutePrices {
  const currencyIn = shownPrice(snapshot, route.currencyIn)
  const originNative = shownPrice(snapshot, route.origin.native)
  return {
    currencyIn,
    currencyOut: shownPrice(snapshot, route.currencyOut),
    feeCurrency: currencyIn,
    originNative,
    destinationNative: originNative,
  }
}

/** Members of a request that choose how the user makes the deposit. */
type DepositChoice = Pick<
  QuoteRequest,
  'explicitDeposit' | 'useDepositAddress' | 'usePermit' | 'depositFeePayer' | 'userPublicKey' | 'outputChoice'
>

/** Input from which the origin's family plans and encodes transactions. */
export function originRoute(priced: PricedRoute, request: DepositChoice): OriginRoute {
  const { route, solver, originLeg } = priced
  const { user, recipient, currencyIn, currencyOut } = route
  const { amountIn, amountInMax, amountOut, amountOutMin } = priced
  const selfExecutedTrade = priced.tradeType === 'EXACT_OUTPUT' ? 'exactOutput' : 'exactInput'
  return {
    user,
    recipient,
    by: wayOfRoute(route, { isSolved: solver !== undefined }, request),
    ...(request.depositFeePayer !== undefined && { depositFeePayer: request.depositFeePayer }),
    ...(request.userPublicKey !== undefined && { userPublicKey: request.userPublicKey }),
    ...(request.outputChoice !== undefined && { outputChoice: request.outputChoice }),
    currencyIn,
    currencyOut,
    amountIn,
    amountInMax,
    amountOut,
    amountOutMin,
    swap:
      originLeg?.leg.kind === 'pool'
        ? {
            trade: solver?.originSwapTrade ?? selfExecutedTrade,
            from: originLeg.leg.from,
            hops: originLeg.hops,
            ticksCrossed: originLeg.ticksCrossed,
          }
        : undefined,
    deposited: solver && { currency: priced.feeCurrency, amount: solver.depositAmount },
  }
}

/** Means by which the input leaves the user; independent of the amount. `isSolved`: a solver fills the route. */
export function wayOfRoute(
  route: Route,
  { isSolved }: { readonly isSolved: boolean },
  request: DepositChoice,
): OriginRoute['by'] {
  // The user signs, the solver sends.
  if (request.usePermit)
    return permitKindOf(route.origin, route.currencyIn) === 'permit2' ? 'permit2' : 'signature'
  if (request.useDepositAddress) return 'pay-address'
  if (isSolved) return request.explicitDeposit ? 'deposit' : 'deposit-transfer'
  // Only the type allows a bridge here: a user alone stays on one chain.
  return route.operation === 'bridge' ? 'swap' : route.operation
}

/** Gas units that the transactions are expected to use, and their limits; undefined in families without gas limits. */
export function sumOriginGas(
  fees: NetworkFees,
  transactions: readonly PlannedTransaction[],
): { readonly expected: bigint; readonly limit: bigint } | undefined {
  let sum = { expected: 0n, limit: 0n }
  for (const transaction of transactions) {
    const gas = fees.gasOf(transaction)
    if (gas === undefined) return undefined
    sum = { expected: sum.expected + gas.expected, limit: sum.limit + gas.limit }
  }
  return sum
}

/** Network fee and rent of all origin transactions, in smallest units of the native currency. */
export type OriginCost = {
  readonly networkFee: bigint
  /** Price of the state (accounts) that they create. */
  readonly rent: bigint
  /** Account that pays the cost; undefined: the user. */
  readonly payer: string | undefined
}

export function sumOriginCost(
  fees: NetworkFees,
  transactions: readonly PlannedTransaction[],
  payer: string | undefined,
): OriginCost {
  let [networkFee, rent] = [0n, 0n]
  for (const transaction of transactions) {
    networkFee += fees.costOf(transaction)
    rent += fees.rentOf(transaction.lack ?? {})
  }
  return { networkFee, rent, payer }
}

/** Part of the cost that the user pays: `fees.gas`. */
export const userCostOf = ({ networkFee, rent, payer }: OriginCost): bigint =>
  payer === undefined ? networkFee + rent : 0n
