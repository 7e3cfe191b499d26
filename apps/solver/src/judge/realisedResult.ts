import { depositOfKey, microUsdX18, sumOfValues, type Valuer } from './verdict.ts'

/** A payment that is final. Amounts in smallest units. */
export type FinalPayment = {
  readonly chainId: number
  /** As `depositKey` makes them. */
  readonly deposits: readonly string[]
  readonly payments: readonly { readonly currency: string; readonly amount: bigint }[]
  readonly gas: { readonly currency: string; readonly amount: bigint }
}

/**
 * Result of a payment in micro-USD, rounded down: its deposits less its payments and gas, at current prices. Undefined
 * if a price is missing, or if it had no deposit.
 */
export function realisedResult(payment: FinalPayment, value: Valuer): bigint | undefined {
  const deposits = payment.deposits.map(depositOfKey)
  if (deposits.length === 0) return undefined
  const received = sumOfValues(
    deposits.map((deposit) => deposit && value(deposit.chainId, deposit.currency, deposit.amount)),
  )
  const paid = sumOfValues(
    [...payment.payments, payment.gas].map(({ currency, amount }) =>
      value(payment.chainId, currency, amount),
    ),
  )
  if (received === undefined || paid === undefined) return undefined
  const result = received - paid
  // Division of bigints rounds towards zero, so a loss is rounded up as a positive number.
  return result >= 0n ? result / microUsdX18 : -((microUsdX18 - 1n - result) / microUsdX18)
}
