import type { PaymentFacts, PaymentQuestion } from '@causeway/core'
import { TransactionNotFinalError } from '@causeway/rpc'
import type { PaymentReading, SettlementChain } from './settlementChain.ts'

/**
 * True if a reported transaction is final and does not pay what it was reported for. Only then may another payment replace
 * it, because before that a reorganization could still change its outcome. Reads nothing more if the payment is right.
 * @param reported.isWrong true for facts that do not satisfy the payment
 */
export async function isFinalMismatch(
  reported: {
    readonly chain: SettlementChain
    readonly question: PaymentQuestion
    readonly payment: PaymentReading | undefined
    readonly isWrong: (facts: PaymentFacts) => boolean
  },
  signal: AbortSignal,
): Promise<boolean> {
  const { chain, question, payment, isWrong } = reported
  if (payment?.state !== 'included' || !isWrong(payment.facts)) return false
  try {
    const facts = await chain.finalPayment(question, signal)
    return facts !== undefined && isWrong(facts)
  } catch (error) {
    if (error instanceof TransactionNotFinalError) return false
    throw error
  }
}
