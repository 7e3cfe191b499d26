import { feeTerms } from '../fees/feeTerms.ts'
import { adverseBpsOf } from '../legs/legImpact.ts'
import { dearerClass, maximumAfterSlippage, minimumAfterSlippage, slippageBps } from '../legs/slippage.ts'
import { requirePrice } from '../market/marketAccess.ts'
import { type PricedRoute, routePrices } from '../pricedRoute.ts'
import {
  computeFromInput,
  computeFromOutput,
  leastDeposit,
  type PlanAmounts,
  type SolverRouteInputs,
} from './planAmounts.ts'
import { checkAmounts, checkCallValues, checkLeastPayments, refundMinimum } from './solverRouteChecks.ts'

/**
 * Prices a route that a solver fills, along one plan. `priceRequest` calls it for every plan and keeps the best.
 * @throws QuoteError AMOUNT_TOO_LOW, INSUFFICIENT_LIQUIDITY, SWAP_IMPACT_TOO_HIGH,
 * NO_SWAP_ROUTES_FOUND, INVALID_EXTRA_TXS, PRICE_FETCH_FAILED, RELAYER_GAS_TOO_HIGH, SERVICE_UNAVAILABLE
 */
export function priceSolverRoute(inputs: SolverRouteInputs): PricedRoute {
  const { request, route, plan, snapshot } = inputs
  const { terms, topup, gasCharged } = feeTerms(inputs)
  // EXPECTED_OUTPUT is computed from the output, like EXACT_OUTPUT; that output may slip, like EXACT_INPUT's.
  const isExactInput = request.tradeType === 'EXACT_INPUT'
  const amounts = isExactInput ? computeFromInput(inputs, terms) : computeFromOutput(inputs, terms)
  const swapImpact = checkAmounts(inputs, amounts, { gasCharged, topup })
  const toleranceBps = toleranceBpsOf(inputs, amounts, swapImpact.lossBps)
  const isExactOutput = request.tradeType === 'EXACT_OUTPUT'
  const amountOutMin = isExactOutput
    ? amounts.amountOut
    : minimumAfterSlippage(amounts.amountOut, toleranceBps)
  const slipsOnInput = isExactOutput && amounts.originLeg !== undefined
  checkCallValues(inputs, amountOutMin)
  checkLeastPayments(inputs, amountOutMin, topup)

  const depositAmount = isExactOutput
    ? amounts.split.amountIn
    : leastDeposit(inputs, terms, amounts, toleranceBps)
  return {
    route,
    tradeType: request.tradeType,
    amountIn: amounts.amountIn,
    amountInMax: slipsOnInput ? maximumAfterSlippage(amounts.amountIn, toleranceBps) : amounts.amountIn,
    amountOut: amounts.amountOut,
    amountOutMin,
    feeCurrency: plan.feeCurrency,
    split: amounts.split,
    originLeg: amounts.originLeg,
    destinationLeg: amounts.destinationLeg,
    swapImpact,
    slippageBps: toleranceBps,
    solver: {
      payoutCurrency: plan.payoutCurrency,
      depositAmount,
      refundMinimum: refundMinimum(inputs, depositAmount),
      topup,
      use: inputs.use,
      gasCharged,
      originSwapTrade: isExactOutput ? 'exactOutput' : 'exactInput',
    },
    prices: routePrices(snapshot, route, plan.feeCurrency),
  }
}

function toleranceBpsOf(inputs: SolverRouteInputs, amounts: PlanAmounts, swapImpactBps: bigint): bigint {
  const { request, plan, route, snapshot } = inputs
  return slippageBps({
    requestedBps: request.slippageBps,
    hasPoolLeg: plan.origin?.kind === 'pool' || plan.destination?.kind === 'pool',
    assetClass: dearerClass(route.currencyIn.assetClass, route.currencyOut.assetClass),
    swapImpactBps,
    adverseBps: adverseBpsOf([amounts.originLeg, amounts.destinationLeg]),
    priceSpreadBps: requirePrice(snapshot, plan.feeCurrency).spreadBps,
  })
}
