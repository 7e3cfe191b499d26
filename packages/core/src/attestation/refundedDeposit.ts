import type { RefundedDeposit } from '../order/refundId.ts'
import type { DepositFact } from './facts.ts'

/**
 * A deposit in the form from which `refundId` makes the id of its refund.
 * @param deposits all of the transaction, `deposit` among them
 */
export function refundedDeposit(
  deposit: DepositFact,
  {
    chainId,
    transactionId,
    deposits,
  }: Pick<RefundedDeposit, 'chainId' | 'transactionId'> & { readonly deposits: readonly DepositFact[] },
): RefundedDeposit {
  const { currency, amount } = deposit
  return {
    chainId,
    currency,
    amount,
    // In lower case in every family, base58 too: solver and quote-api must make the same id of it.
    transactionId: transactionId.toLowerCase(),
    ordinal: ordinalOf(deposit, deposits),
  }
}

/**
 * Position of a deposit among equal ones of its transaction, from 0. Deposits of other ids, currencies or amounts do
 * not count: a hostile contract may make such a deposit in one branch of the chain and not in another,
 * which would change the position of an honest one. `deposits` must hold `deposit` itself, not a copy.
 */
export function ordinalOf(
  deposit: DepositFact,
  deposits: readonly Pick<DepositFact, 'depositId' | 'currency' | 'amount'>[],
): number {
  const { depositId, currency, amount } = deposit
  return deposits
    .filter(
      (other) => other.depositId === depositId && other.currency === currency && other.amount === amount,
    )
    .indexOf(deposit)
}
