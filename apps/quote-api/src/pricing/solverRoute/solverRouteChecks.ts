import { QuoteError } from '../errors.ts'
import { type feeTerms, type GasTopup, relayedDepositCost } from '../fees/feeTerms.ts'
import { networkFees, refundCost } from '../fees/gas.ts'
import { checkLeastPayment, requireLack } from '../fees/recipientLack.ts'
import { checkDepth, checkImpact, type LegImpact, legImpact } from '../legs/legImpact.ts'
import { requireChain, requirePrice } from '../market/marketAccess.ts'
import { checkRelayerGas } from './ceilings.ts'
import type { PlanAmounts, SolverRouteInputs } from './planAmounts.ts'

/** Fills that the wallet's gas coin must last for: one may cost more than charged, and others are on their way. */
const fillsOfGas = 2n
/** The amount must be this many times the cost of its refund: a refund may cost 5 %. @source rule Q-153 */
const refundCostMultiple = 20n

/**
 * Refuses amounts of a plan that cannot be paid for, refunded or swapped well.
 * @returns impact of their swaps
 * @throws QuoteError SERVICE_UNAVAILABLE, RELAYER_GAS_TOO_HIGH, AMOUNT_TOO_LOW, INSUFFICIENT_LIQUIDITY,
 * SWAP_IMPACT_TOO_HIGH, PRICE_FETCH_FAILED
 */
export function checkAmounts(
  inputs: SolverRouteInputs,
  { split, originLeg, destinationLeg }: PlanAmounts,
  { gasCharged, topup }: Pick<ReturnType<typeof feeTerms>, 'gasCharged' | 'topup'>,
): LegImpact {
  const { request, plan, snapshot, ceilings, swapImpactMaxBps: maxBps } = inputs
  const override = request.overridePriceImpact
  checkGasCoin(inputs, gasCharged)
  checkRelayerGas(ceilings, {
    split,
    topup: topup?.valueInFeeCurrency ?? 0n,
    price: requirePrice(snapshot, plan.feeCurrency),
  })
  // Called for its refusal only, before depth and impact are checked: the rounding of a dust amount looks like a loss.
  refundMinimum(inputs, split.amountIn)
  for (const leg of [originLeg, destinationLeg])
    if (leg !== undefined) checkDepth(snapshot, leg, { override })
  const swapImpact = legImpact(snapshot, [originLeg, destinationLeg])
  checkImpact(swapImpact, { maxBps, override })
  return swapImpact
}

/**
 * Refuses while the fill wallet is short of native coin. A balance that is not known refuses nothing.
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

/**
 * The least refund: the deposit less the gas of the refund, and less that of the deposit where the solver sends it (of
 * a permit, or a sweep of a deposit address). @throws QuoteError AMOUNT_TOO_LOW below 95 % of the deposit
 */
export function refundMinimum(inputs: SolverRouteInputs, depositAmount: bigint): bigint {
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

function refundGas(inputs: SolverRouteInputs): bigint {
  const { plan, route, snapshot } = inputs
  const { refundUnits } = inputs.use
  return refundCost(snapshot, route.origin, plan.feeCurrency, refundUnits) + relayedDepositCost(inputs)
}

/**
 * Checks that the recipient's account keeps output and top-up: some networks keep no payment that is too low
 * for an account that does not exist yet. `lack` is the state that this account lacks, such as its existence.
 * @throws QuoteError AMOUNT_TOO_LOW, SERVICE_UNAVAILABLE
 */
export function checkLeastPayments(
  { route, snapshot, lack: lackIfKnown }: SolverRouteInputs,
  amountOutMin: bigint,
  topup: GasTopup | undefined,
): void {
  const fees = networkFees(snapshot, route.destination)
  const lack = requireLack(lackIfKnown, route)
  checkLeastPayment(fees, { lack, currency: route.currencyOut, amount: amountOutMin })
  if (topup === undefined) return
  const { currency, amountWei: amount } = topup
  checkLeastPayment(fees, { lack, currency, amount, field: 'topupGasAmount' })
}

/** @throws QuoteError INVALID_EXTRA_TXS when the calls need more value than the output can give */
export function checkCallValues({ request, route }: SolverRouteInputs, amountOutMin: bigint): void {
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
