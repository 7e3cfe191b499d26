import type { RefundedDeposit } from '../order/refundId.ts'
import type { DepositFact } from './facts.ts'

/**
 * The deposit of a transaction as refunds name it.
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
    ...{ chainId, currency, amount },
    transactionId: transactionId.toLowerCase(),
    ordinal: ordinalOf(deposit, deposits),
  }
}

/**
 * Place of a deposit among its equals, from 0. Deposits of other currencies or amounts do not count: a hostile contract
 * may make one in one branch of the chain and leave it out in another, for the same transaction.
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
