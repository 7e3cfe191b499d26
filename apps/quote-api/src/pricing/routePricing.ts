import { QuoteError } from './errors.ts'
import { priceWithCalls } from './execution/destinationCalls.ts'
import { priceSelfExecuted } from './execution/priceSelfExecuted.ts'
import type { PayeeUnits } from './execution/routePayees.ts'
import type { MeasuredUse, SubsidyRule } from './fees/feeTerms.ts'
import { recipientLack } from './fees/recipientLack.ts'
import type { LegPlan, PoolScope } from './legs/legs.ts'
import { chooseRefusal, planSelfExecutedLegs } from './legs/planLegs.ts'
import { createPoolLegQuoter } from './legs/poolLegQuoter.ts'
import type { ExternalLiquidity } from './market/externalLiquidity.ts'
import type { RewardLimit } from './openQuotes/rewardLimit.ts'
import type { PricedRoute } from './pricedRoute.ts'
import type { PricingAnswers, PricingDependencies } from './pricingDependencies.ts'
import type { QuoteRequest } from './request.ts'
import type { Route } from './routes/route.ts'
import { priceOrNameAmount, priceOrNameNone } from './solverRoute/acceptedAmount.ts'
import { priceSolverRoute } from './solverRoute/priceSolverRoute.ts'

/** Terms of one attempt to price a request. */
export type PricingTerms = {
  readonly subsidy: SubsidyRule
  readonly rewards: RewardLimit
  /** Pools that the attempt may use. */
  readonly poolScope: PoolScope
  /** Offers that the attempt may count on; empty: only the solver's own inventory pays. */
  readonly external: readonly ExternalLiquidity[]
}

export type RoutePricingInputs = PricingTerms & {
  readonly request: QuoteRequest
  readonly route: Route
  /** Empty where the user executes the route alone. */
  readonly plans: readonly LegPlan[]
  readonly snapshot: ReturnType<PricingDependencies['snapshot']>
  readonly answers: PricingAnswers
}

/**
 * Returns a function that prices the route for given gas units of its payees. A refusal names an amount that is
 * accepted. With calls it names none: the calls are simulated for the requested amount only.
 */
export function routePricing(
  dependencies: PricingDependencies,
  inputs: RoutePricingInputs,
): (units: PayeeUnits) => PricedRoute {
  const { request, route, answers } = inputs
  const { clock } = dependencies
  const priceAmount = amountPricing(dependencies, inputs)
  const currency = request.tradeType === 'EXACT_INPUT' ? route.currencyIn : route.currencyOut
  const requestedAmount = { amount: request.amount, currency, clock }
  if (route.selfExecuted || request.txs.length === 0)
    return ({ payeeUnits, refundUnits }) =>
      priceOrNameAmount(requestedAmount, (amount) =>
        priceAmount(amount, { callUnits: 0n, callBytes: 0n, payeeUnits, refundUnits }),
      )
  return ({ payeeUnits, refundUnits }) =>
    priceOrNameNone(requestedAmount, () =>
      priceWithCalls({ route, request, answers }, (use) =>
        priceAmount(request.amount, { ...use, payeeUnits, refundUnits }),
      ),
    )
}

/** Returns a function that prices any amount of the request. */
function amountPricing(
  dependencies: PricingDependencies,
  inputs: RoutePricingInputs,
): (amount: bigint, use: MeasuredUse) => PricedRoute {
  const { request, route, snapshot, plans, subsidy, rewards, external, answers } = inputs
  const { swapImpactMaxBps, schedule, ceilings } = dependencies
  const quoter = createPoolLegQuoter(answers)
  const requestOf = (amount: bigint) => (amount === request.amount ? request : { ...request, amount })
  if (route.selfExecuted) {
    const legs = route.operation === 'send' ? [] : planSelfExecutedLegs(route, inputs.poolScope)
    return (amount) =>
      priceSelfExecuted({ request: requestOf(amount), route, snapshot, quoter, swapImpactMaxBps, legs })
  }
  const lack = recipientLack(answers, route, request)
  const inventory = dependencies.inventoryView(snapshot)
  const settings = { schedule, quoter, swapImpactMaxBps, ceilings }
  const routeInputs = { route, snapshot, inventory, lack, subsidy, rewards, external }
  return (amount, use) =>
    bestPlan(plans, (plan) =>
      priceSolverRoute({ request: requestOf(amount), plan, use, ...routeInputs, ...settings }),
    )
}

/** Prices every plan and keeps the best for the user; a refusal stands only when all plans are refused. */
function bestPlan(plans: readonly LegPlan[], priceAlong: (plan: LegPlan) => PricedRoute): PricedRoute {
  let best: PricedRoute | undefined
  let refusal: QuoteError | undefined
  for (const plan of plans) {
    try {
      const priced = priceAlong(plan)
      if (best === undefined || isBetter(priced, best)) best = priced
    } catch (error) {
      if (!(error instanceof QuoteError)) throw error
      refusal = chooseRefusal(refusal, error)
    }
  }
  if (best === undefined) throw refusal
  return best
}

function isBetter(candidate: PricedRoute, best: PricedRoute): boolean {
  return candidate.tradeType === 'EXACT_INPUT'
    ? candidate.amountOut > best.amountOut
    : candidate.amountIn < best.amountIn
}
