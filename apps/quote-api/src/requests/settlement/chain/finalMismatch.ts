import type { PaymentFacts, PaymentQuestion } from '@causeway/core'
import { TransactionNotFinalError } from '@causeway/rpc'
import type { PaymentReading, SettlementChain } from './settlementChain.ts'

/**
 * True when a reported transaction is not what it was reported for, and no reorganization can mend it: only
 * then something else may be paid in its place. Asks nothing more where the payment is right.
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
