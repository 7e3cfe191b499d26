import { amountForUsdDown, bpsDenominator, type UsdX18, usdValueDown } from '@causeway/core'
import { QuoteError } from '../errors.ts'
import type { FeeInputs } from '../fees/feeTerms.ts'
import { inventories } from '../fees/skew.ts'
import type { FeeSplit } from '../fees/solve.ts'
import { offerOf, payableWithOffer } from '../market/externalLiquidity.ts'
import { requirePrice } from '../market/marketAccess.ts'

/**
 * Refuses a payout above the solver's balance, or one whose skew is above `maxSkewBps` of the input.
 * @throws QuoteError INSUFFICIENT_LIQUIDITY, PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export function checkPayable(
  inputs: FeeInputs,
  amounts: { readonly payout: bigint; readonly split: FeeSplit },
): void {
  checkBalance(inputs, amounts.payout)
  const { paid } = inventories(inputs)
  const { amountIn, parts } = amounts.split
  if (parts.skew * bpsDenominator > amountIn * paid.parameters.maxSkewBps) {
    throw insufficientLiquidity(inputs, availableUsd(inputs))
  }
}

/** Refuses a payout above the solver's balance. @throws QuoteError as `checkPayable` */
export function checkBalance(inputs: FeeInputs, payout: bigint): void {
  const price = requirePrice(inputs.snapshot, inputs.plan.payoutCurrency)
  const available = availableUsd(inputs)
  if (usdValueDown(payout, price) > available) throw insufficientLiquidity(inputs, available)
}

function availableUsd(inputs: FeeInputs): UsdX18 {
  const { payoutCurrency: currency } = inputs.plan
  const price = requirePrice(inputs.snapshot, currency)
  return payableWithOffer(inventories(inputs).paid, { currency, price }, offerOf(currency, inputs.external))
}

function insufficientLiquidity(inputs: FeeInputs, available: UsdX18): QuoteError {
  const { payoutCurrency } = inputs.plan
  return new QuoteError(
    'INSUFFICIENT_LIQUIDITY',
    `The solver cannot pay this much ${payoutCurrency.symbol} on chain ${payoutCurrency.chainId} now.`,
    { nearAmount: available > 0n ? amountWorth(inputs, available) : 0n },
  )
}

/** A USD value in the currency of the request's amount. */
function amountWorth({ request, route, snapshot }: FeeInputs, usd: bigint): bigint {
  const currency = request.tradeType === 'EXACT_INPUT' ? route.currencyIn : route.currencyOut
  return amountForUsdDown(usd, requirePrice(snapshot, currency))
}
