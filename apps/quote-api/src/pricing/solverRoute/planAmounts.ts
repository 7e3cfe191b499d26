import {
  bpsDenominator,
  convertDown,
  convertUp,
  divideUp,
  maxBigint,
  minBigint,
  mulDivDown,
  mulDivUp,
  multipleDown,
  type PricedUnit,
} from '@causeway/core'
import type { QuoteCeilings } from '@causeway/core/config'
import { QuoteError } from '../errors.ts'
import { granularityOf } from '../execution/executionMode.ts'
import type { FeeInputs } from '../fees/feeTerms.ts'
import { type FeeSplit, type FeeTerms, refuseFeesOfAll, solveAmountIn, splitFees } from '../fees/solve.ts'
import { promisedOut, requiredIn } from '../legs/legGuard.ts'
import { checkDepth } from '../legs/legImpact.ts'
import type { LegQuote, LegQuoter } from '../legs/legs.ts'
import { requirePrice } from '../market/marketAccess.ts'
import { checkBalance, checkPayable } from './payable.ts'

/** Inputs of `priceSolverRoute`. */
export type SolverRouteInputs = FeeInputs & {
  readonly quoter: LegQuoter
  readonly swapImpactMaxBps: number
  readonly ceilings: QuoteCeilings
}

/**
 * Expected amounts along one plan, in the order in which money moves: the origin leg takes `amountIn`, the
 * split takes the fees from its output, the solver pays `payout`, and the destination leg turns that into
 * `amountOut`. At the destination leg the solver believes a pool only up to the agreed price: `promisedOut`
 * and `requiredIn` see to that.
 */
export type PlanAmounts = {
  readonly originLeg: LegQuote | undefined
  readonly split: FeeSplit
  /** Amount of the payout currency that leaves the solver's inventory. */
  readonly payout: bigint
  readonly destinationLeg: LegQuote | undefined
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/** Amounts of an EXACT_INPUT request: from the input to the output. */
export function computeFromInput(inputs: SolverRouteInputs, terms: FeeTerms): PlanAmounts {
  const { request, plan, quoter, snapshot } = inputs
  const originLeg =
    plan.origin === undefined ? undefined : quoter.exactInput(snapshot, plan.origin, request.amount)
  if (originLeg !== undefined) checkDepth(snapshot, originLeg, { override: request.overridePriceImpact })
  const received = originLeg?.amountOut ?? request.amount
  const split = splitFees(terms, received)
  const net = convertDown(maxBigint(split.net, 0n), ...conversion(inputs))
  // The solver keeps the part below the destination's granularity, like the rest of a rounded conversion.
  const payout = multipleDown(net, granularityOf(inputs.route.destination, plan.payoutCurrency))
  if (payout === 0n) {
    // The skew fee grows faster than the amount. An amount above the inventory loses all to it, so it is not too low.
    checkBalance(inputs, convertDown(received, ...conversion(inputs)))
    refuseFeesOfAll(terms)
    throw new QuoteError('AMOUNT_TOO_LOW', 'The amount does not cover the fees of this request.')
  }
  checkPayable(inputs, { payout, split })
  const destinationLeg =
    plan.destination === undefined ? undefined : quoter.exactInput(snapshot, plan.destination, payout)
  return {
    originLeg,
    split,
    payout,
    destinationLeg,
    amountIn: request.amount,
    amountOut: destinationLeg === undefined ? payout : promisedOut(snapshot, destinationLeg),
  }
}

/** Amounts of the other trade types: from the output back to the input. */
export function computeFromOutput(inputs: SolverRouteInputs, terms: FeeTerms): PlanAmounts {
  const { request, plan, quoter, snapshot } = inputs
  const destinationLeg =
    plan.destination === undefined
      ? undefined
      : quoter.exactOutput(snapshot, plan.destination, request.amount)
  const payout = destinationLeg === undefined ? request.amount : requiredIn(snapshot, destinationLeg)
  checkBalance(inputs, payout)
  // The origin's transactions carry only multiples of its granularity.
  const step = granularityOf(inputs.route.origin, plan.feeCurrency)
  const split = solveAmountIn(terms, inFeeCurrencyUp(inputs, payout), step)
  checkPayable(inputs, { payout, split })
  const originLeg =
    plan.origin === undefined ? undefined : quoter.exactOutput(snapshot, plan.origin, split.amountIn)
  return {
    originLeg,
    split,
    payout,
    destinationLeg,
    amountIn: originLeg?.amountIn ?? split.amountIn,
    amountOut: request.amount,
  }
}

/**
 * The deposit below which the promised minimum could not be paid. Some fees do not shrink with the input, so this is a
 * little above the input less its slippage. Without an origin swap it is the quoted input, which cannot slip.
 */
export function leastDeposit(
  inputs: SolverRouteInputs,
  terms: FeeTerms,
  amounts: PlanAmounts,
  toleranceBps: bigint,
): bigint {
  const { amountIn: quoted, subsidized, parts } = amounts.split
  if (amounts.originLeg === undefined || toleranceBps === 0n) return quoted
  const payoutMin = divideUp(amounts.payout * (bpsDenominator - toleranceBps), bpsDenominator)
  // For a smaller deposit the sponsor pays at most the proportional part of its quoted subsidy. Neither
  // change makes `net` grow more slowly than `slopeBpsMin`, so `solveAmountIn` still finds the smallest
  // deposit.
  const sharedTerms: FeeTerms = {
    ...terms,
    // A smaller deposit bears its part of the quoted skew, or its own move's cost if that is more.
    skew: (amountIn) => maxBigint(terms.skew(amountIn), mulDivUp(parts.skew, amountIn, quoted)),
    subsidy: (fees, amountIn) =>
      minBigint(terms.subsidy(fees, amountIn), mulDivDown(subsidized, amountIn, quoted)),
  }
  const leastIn = solveAmountIn(sharedTerms, inFeeCurrencyUp(inputs, payoutMin)).amountIn
  return minBigint(leastIn, quoted)
}

/** One dollar with 18 digits: currencies of one asset are converted at equal prices. */
const par = 10n ** 18n

/** Units to convert fee currency into payout currency: one asset at par, else at market. */
function conversion({ plan, snapshot }: SolverRouteInputs): [PricedUnit, PricedUnit] {
  const { feeCurrency: from, payoutCurrency: to } = plan
  if (from.asset !== to.asset) return [requirePrice(snapshot, from), requirePrice(snapshot, to)]
  return [
    { decimals: from.decimals, usdX18: par },
    { decimals: to.decimals, usdX18: par },
  ]
}

/** A payout in the fee currency, rounded up. */
function inFeeCurrencyUp(inputs: SolverRouteInputs, payout: bigint): bigint {
  const [feeUnit, payoutUnit] = conversion(inputs)
  return convertUp(payout, payoutUnit, feeUnit)
}
