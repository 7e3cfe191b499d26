import {
  amountForUsdDown,
  bpsDenominator,
  convertDown,
  convertUp,
  divideUp,
  maxBigint,
  minBigint,
  mulDivDown,
  mulDivUp,
  multipleDown,
  multipleUp,
  type PricedUnit,
  type UsdX18,
  usdValueDown,
} from '@causeway/core'
import type { QuoteCeilings } from '@causeway/core/config'
import { QuoteError } from '../errors.ts'
import { granularityOf } from '../execution/executionMode.ts'
import {
  checkLeastPayment,
  type FeeInputs,
  feeTerms,
  type GasTopup,
  inventories,
  relayedDepositCost,
  requireLack,
} from '../fees/feeTerms.ts'
import { networkFees, refundCost } from '../fees/gas.ts'
import { type FeeSplit, type FeeTerms, refuseFeesOfAll, solveAmountIn, splitFees } from '../fees/solve.ts'
import { promisedOut, requiredIn } from '../legs/legGuard.ts'
import {
  adverseBpsOf,
  checkDepth,
  checkImpact,
  type LegQuote,
  type LegQuoter,
  legImpact,
} from '../legs/legs.ts'
import { dearerClass, minimumAfterSlippage, slippageBps } from '../legs/slippage.ts'
import { offerOf, payableWithOffer } from '../market/externalLiquidity.ts'
import { requireChain, requirePrice } from '../market/marketAccess.ts'
import { type PricedRoute, routePrices } from '../pricedRoute.ts'
import { checkRelayerGas } from './ceilings.ts'

export type SolverRouteInputs = FeeInputs & {
  readonly quoter: LegQuoter
  readonly swapImpactMaxBps: number
  readonly ceilings: QuoteCeilings
}

/** Fills that the wallet's gas coin must last for: one may cost more than charged, and others are on their way. */
const fillsOfGas = 2n
/** The amount must be this many times the cost of its refund: a refund may cost 5 %. @source rule Q-153 */
const refundCostMultiple = 20n
/** One dollar with 18 digits: currencies of one asset are converted at equal prices. */
const par = 10n ** 18n

/** Expected amounts along one plan. */
type Flow = {
  readonly originLeg: LegQuote | undefined
  readonly split: FeeSplit
  /** In the payout currency, what leaves the solver's inventory. */
  readonly payout: bigint
  readonly destinationLeg: LegQuote | undefined
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/**
 * Prices a route that a solver fills, along one plan. `priceRequest` calls it for every plan and keeps the best.
 * @throws QuoteError AMOUNT_TOO_LOW, INSUFFICIENT_LIQUIDITY, SWAP_IMPACT_TOO_HIGH,
 * NO_SWAP_ROUTES_FOUND, INVALID_EXTRA_TXS, PRICE_FETCH_FAILED, RELAYER_GAS_TOO_HIGH, SERVICE_UNAVAILABLE
 */
export async function priceSolverRoute(inputs: SolverRouteInputs): Promise<PricedRoute> {
  const { request, route, plan, snapshot } = inputs
  const { terms, topup, gasCharged } = feeTerms(inputs)
  const exactInput = request.tradeType === 'EXACT_INPUT'
  const flow = exactInput ? await flowForward(inputs, terms) : await flowBackward(inputs, terms)
  const swapImpact = checkFlow(inputs, flow, { gasCharged, topup })
  const toleranceBps = toleranceBpsOf(inputs, flow, swapImpact.lossBps)
  const exactOutput = request.tradeType === 'EXACT_OUTPUT'
  const amountOutMin = exactOutput ? flow.amountOut : minimumAfterSlippage(flow.amountOut, toleranceBps)
  const slipsOnInput = exactOutput && flow.originLeg !== undefined
  checkCallValues(inputs, amountOutMin)
  checkLeastPayments(inputs, amountOutMin, topup)

  const depositAmount = exactOutput ? flow.split.amountIn : leastDeposit(inputs, terms, flow, toleranceBps)
  return {
    route,
    tradeType: request.tradeType,
    amountIn: flow.amountIn,
    amountInMax: slipsOnInput ? raiseByBps(flow.amountIn, toleranceBps) : flow.amountIn,
    amountOut: flow.amountOut,
    amountOutMin,
    feeCurrency: plan.feeCurrency,
    split: flow.split,
    originLeg: flow.originLeg,
    destinationLeg: flow.destinationLeg,
    swapImpact,
    slippageBps: toleranceBps,
    solver: {
      payoutCurrency: plan.payoutCurrency,
      depositAmount,
      refundMinimum: refundMinimum(inputs, depositAmount),
      topup,
      use: inputs.use,
      gasCharged,
      originSwapTrade: exactOutput ? 'exactOutput' : 'exactInput',
    },
    prices: routePrices(snapshot, route, plan.feeCurrency),
  }
}

/** Refuses a flow that cannot be paid for, refunded or swapped well. @returns loss of its swaps @throws QuoteError */
function checkFlow(
  inputs: SolverRouteInputs,
  { split, originLeg, destinationLeg }: Flow,
  { gasCharged, topup }: Pick<ReturnType<typeof feeTerms>, 'gasCharged' | 'topup'>,
): ReturnType<typeof legImpact> {
  const { request, plan, snapshot, ceilings, swapImpactMaxBps: maxBps } = inputs
  const override = request.overridePriceImpact
  checkGasCoin(inputs, gasCharged)
  checkRelayerGas(ceilings, {
    split,
    topup: topup?.valueInFeeCurrency ?? 0n,
    feeCurrency: plan.feeCurrency,
    price: requirePrice(snapshot, plan.feeCurrency),
  })
  // Called for its refusal only. It comes before depths and impacts, because rounding of a dust amount looks like a
  // loss.
  refundMinimum(inputs, split.amountIn)
  for (const leg of [originLeg, destinationLeg])
    if (leg !== undefined) checkDepth(snapshot, leg, { override })
  const swapImpact = legImpact(snapshot, [originLeg, destinationLeg])
  checkImpact(swapImpact, { maxBps, override })
  return swapImpact
}

/** Amounts of an EXACT_INPUT request: from the input to the output. */
async function flowForward(inputs: SolverRouteInputs, terms: FeeTerms): Promise<Flow> {
  const { request, plan, quoter, snapshot } = inputs
  const originLeg =
    plan.origin === undefined ? undefined : await quoter.exactInput(snapshot, plan.origin, request.amount)
  const depth = { override: request.overridePriceImpact }
  if (originLeg !== undefined) checkDepth(snapshot, originLeg, depth)
  const received = originLeg?.amountOut ?? request.amount
  const split = splitFees(terms, received)
  const net = split.net > 0n ? convertDown(split.net, ...conversion(inputs)) : 0n
  // The solver keeps the part below the destination's granularity, like the rest of a rounded conversion.
  const payout = multipleDown(net, granularityOf(inputs.route.destination, plan.payoutCurrency))
  if (payout === 0n) {
    // The skew fee grows faster than the amount. Above the inventory it takes all of it: that is no low amount.
    checkBalance(inputs, convertDown(received, ...conversion(inputs)))
    refuseFeesOfAll(terms)
    throw amountTooLow()
  }
  checkPayable(inputs, { payout, split })
  const destinationLeg =
    plan.destination === undefined ? undefined : await quoter.exactInput(snapshot, plan.destination, payout)
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
async function flowBackward(inputs: SolverRouteInputs, terms: FeeTerms): Promise<Flow> {
  const { request, plan, quoter, snapshot } = inputs
  const destinationLeg =
    plan.destination === undefined
      ? undefined
      : await quoter.exactOutput(snapshot, plan.destination, request.amount)
  const payout = destinationLeg === undefined ? request.amount : requiredIn(snapshot, destinationLeg)
  checkBalance(inputs, payout)
  const solved = solveAmountIn(terms, convertUp(payout, ...reverse(conversion(inputs))))
  const step = granularityOf(inputs.route.origin, plan.feeCurrency)
  const split = step === 1n ? solved : splitFees(terms, multipleUp(solved.amountIn, step))
  checkPayable(inputs, { payout, split })
  const originLeg =
    plan.origin === undefined ? undefined : await quoter.exactOutput(snapshot, plan.origin, split.amountIn)
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
 * Refuses while the fill wallet is short of native coin.
 * @throws QuoteError SERVICE_UNAVAILABLE, retryable
 * @source Q-132
 */
function checkGasCoin({ route, snapshot }: SolverRouteInputs, gasCharged: bigint): void {
  const { native, chainId } = route.destination
  const held = requireChain(snapshot, chainId).inventory.get(native.key)
  if (held === undefined || held >= fillsOfGas * gasCharged) return
  throw new QuoteError(
    'SERVICE_UNAVAILABLE',
    `The fill wallet has too little ${native.symbol} on chain ${chainId} to pay for gas there; other destinations are quoted.`,
    { data: { chainId, reason: 'fill_wallet_gas' } },
  )
}

/** Units to convert fee currency into payout currency: one asset at par, else at market. */
function conversion({ plan, snapshot }: SolverRouteInputs): [PricedUnit, PricedUnit] {
  const { feeCurrency: from, payoutCurrency: to } = plan
  if (from.asset !== to.asset) return [requirePrice(snapshot, from), requirePrice(snapshot, to)]
  return [
    { decimals: from.decimals, usdX18: par },
    { decimals: to.decimals, usdX18: par },
  ]
}

function reverse([from, to]: [PricedUnit, PricedUnit]): [PricedUnit, PricedUnit] {
  return [to, from]
}

function toleranceBpsOf(inputs: SolverRouteInputs, flow: Flow, swapImpactBps: bigint): bigint {
  const { request, plan, route, snapshot } = inputs
  return slippageBps({
    requestedBps: request.slippageBps,
    hasPoolLeg: plan.origin?.kind === 'pool' || plan.destination?.kind === 'pool',
    assetClass: dearerClass(route.currencyIn.assetClass, route.currencyOut.assetClass),
    swapImpactBps,
    adverseBps: adverseBpsOf([flow.originLeg, flow.destinationLeg]),
    priceSpreadBps: requirePrice(snapshot, plan.feeCurrency).spreadBps,
  })
}

/**
 * The deposit below which the promised minimum could not be paid. Some fees do not shrink with the input, so this is a
 * little above the input less its slippage. Without an origin swap it is the quoted input, which cannot slip.
 */
function leastDeposit(inputs: SolverRouteInputs, terms: FeeTerms, flow: Flow, toleranceBps: bigint): bigint {
  const { amountIn: quoted, subsidized, parts } = flow.split
  if (flow.originLeg === undefined || toleranceBps === 0n) return quoted
  const payoutMin = divideUp(flow.payout * (bpsDenominator - toleranceBps), bpsDenominator)
  // For a smaller deposit the sponsor pays at most the proportional part of its quoted subsidy.
  const sharedTerms: FeeTerms = {
    ...terms,
    // A smaller deposit bears its part of the quoted skew, or its own move's cost if more.
    skew: (amountIn) => maxBigint(terms.skew(amountIn), mulDivUp(parts.skew, amountIn, quoted)),
    subsidy: (fees, amountIn) =>
      minBigint(terms.subsidy(fees, amountIn), mulDivDown(subsidized, amountIn, quoted)),
  }
  const leastIn = solveAmountIn(sharedTerms, convertUp(payoutMin, ...reverse(conversion(inputs)))).amountIn
  return minBigint(leastIn, quoted)
}

/**
 * The least refund: the deposit less the gas of the refund, and less that of the deposit where the solver sends it (of
 * a permit, or a sweep of a deposit address). @throws QuoteError AMOUNT_TOO_LOW below 95 % of the deposit
 */
function refundMinimum(inputs: SolverRouteInputs, depositAmount: bigint): bigint {
  const cost = refundGas(inputs)
  if (cost * refundCostMultiple > depositAmount) {
    throw new QuoteError(
      'AMOUNT_TOO_LOW',
      'The amount is too low: refunding it would cost more than 5 % of it.',
    )
  }
  const refund = depositAmount - cost
  requireKeptRefund(inputs, refund)
  return refund
}

/** Refuses a refund that the network would not keep for an empty account: the deposit may have emptied it. */
function requireKeptRefund({ plan, route, snapshot }: SolverRouteInputs, refund: bigint): void {
  const leastPayment = networkFees(snapshot, route.origin).leastPayment({ isAbsent: true })
  if (!plan.feeCurrency.isNative || refund >= leastPayment) return
  throw new QuoteError('AMOUNT_TOO_LOW', 'The amount is too low: an empty account would not keep its refund.')
}

/**
 * Checks that the recipient's account keeps output and top-up.
 * @throws QuoteError AMOUNT_TOO_LOW, SERVICE_UNAVAILABLE
 */
function checkLeastPayments(
  { route, snapshot, lack: reportedLack }: SolverRouteInputs,
  amountOutMin: bigint,
  topup: GasTopup | undefined,
): void {
  const fees = networkFees(snapshot, route.destination)
  const lack = requireLack(reportedLack, route)
  checkLeastPayment(fees, { lack, currency: route.currencyOut, amount: amountOutMin })
  if (topup === undefined) return
  const { currency, amountWei: amount } = topup
  checkLeastPayment(fees, { lack, currency, amount, field: 'topupGasAmount' })
}

function refundGas(inputs: SolverRouteInputs): bigint {
  const { plan, route, snapshot } = inputs
  const { refundUnits } = inputs.use
  return refundCost(snapshot, route.origin, plan.feeCurrency, refundUnits) + relayedDepositCost(inputs)
}

/** Refuses a payout above the solver's balance, or one whose skew is above `maxSkewBps` of the input. */
function checkPayable(inputs: SolverRouteInputs, flow: Pick<Flow, 'payout' | 'split'>): void {
  checkBalance(inputs, flow.payout)
  const { paid } = inventories(inputs)
  const { amountIn, parts } = flow.split
  if (parts.skew * bpsDenominator > amountIn * paid.parameters.maxSkewBps) {
    throw insufficientLiquidity(inputs, availableUsd(inputs))
  }
}

function checkBalance(inputs: SolverRouteInputs, payout: bigint): void {
  const price = requirePrice(inputs.snapshot, inputs.plan.payoutCurrency)
  const available = availableUsd(inputs)
  if (usdValueDown(payout, price) > available) throw insufficientLiquidity(inputs, available)
}

function availableUsd(inputs: SolverRouteInputs): UsdX18 {
  const { payoutCurrency: currency } = inputs.plan
  const price = requirePrice(inputs.snapshot, currency)
  return payableWithOffer(inventories(inputs).paid, { currency, price }, offerOf(currency, inputs.external))
}

function insufficientLiquidity(inputs: SolverRouteInputs, available: UsdX18): QuoteError {
  const { payoutCurrency } = inputs.plan
  return new QuoteError(
    'INSUFFICIENT_LIQUIDITY',
    `The solver cannot pay this much ${payoutCurrency.symbol} on chain ${payoutCurrency.chainId} now.`,
    { nearAmount: available > 0n ? amountWorth(inputs, available) : 0n },
  )
}

/** A USD value in the currency of the request's amount. */
function amountWorth({ request, route, plan, snapshot }: SolverRouteInputs, usd: bigint): bigint {
  if (request.tradeType === 'EXACT_INPUT') {
    return amountForUsdDown(usd, requirePrice(snapshot, route.currencyIn))
  }
  const isSwapped = plan.destination?.kind === 'pool'
  return amountForUsdDown(usd, requirePrice(snapshot, isSwapped ? route.currencyOut : plan.payoutCurrency))
}

function amountTooLow(): QuoteError {
  return new QuoteError('AMOUNT_TOO_LOW', 'The amount does not cover the fees of this request.')
}

/** @throws QuoteError INVALID_EXTRA_TXS when the calls need more value than the output can give */
function checkCallValues({ request, route }: SolverRouteInputs, amountOutMin: bigint): void {
  let value = 0n
  for (const call of request.txs) value += call.value
  if (value === 0n || (route.currencyOut.isNative && value <= amountOutMin)) return
  throw new QuoteError('INVALID_EXTRA_TXS', 'The values of txs exceed the output in the native currency.', {
    data: {
      field: 'txs',
      value: value.toString(),
      maximum: route.currencyOut.isNative ? amountOutMin.toString() : '0',
    },
  })
}

function raiseByBps(amount: bigint, bps: bigint): bigint {
  return divideUp(amount * (bpsDenominator + bps), bpsDenominator)
}
