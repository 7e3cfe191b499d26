import type { OracleAnswer, OracleClient } from '@causeway/chains'
import {
  fillMessageId,
  type Hex,
  orderId as hashOf,
  type NetworkOf,
  refundMessageId,
  weightedInputBpsDiff,
} from '@causeway/core'
import type { DuePayment, JointAnswer } from '../wallet/duePayments.ts'

/** Asks all oracles about a payment: enough of them sign it, enough refuse it, or neither yet. Never throws. */
export type AskOracles = (
  payment: Pick<DuePayment, 'kind' | 'transactionId' | 'asked'>,
  signal: AbortSignal,
) => Promise<JointAnswer>

/** An oracle's signature counts only if it is by the signer that the settings pin to that oracle. */
export function createAskOracles(options: {
  readonly oracles: readonly Pick<OracleClient, 'attestFill' | 'attestRefund'>[]
  readonly threshold: number
  readonly networkOf: NetworkOf
}): AskOracles {
  const { oracles, threshold, networkOf } = options
  return async (payment, signal) => {
    const { request, messageId } = questionOf(payment, networkOf)
    const answers = await Promise.all(
      oracles.map((oracle) =>
        payment.kind === 'fill'
          ? oracle.attestFill(request, messageId, signal)
          : oracle.attestRefund(request, messageId, signal),
      ),
    )
    return judgeAnswers(answers, threshold)
  }
}

/** Refused once so many oracles deny it that the others are fewer than the threshold. Pure. */
export function judgeAnswers(answers: readonly OracleAnswer[], threshold: number): JointAnswer {
  const signed = answers.filter(({ said }) => said === 'signed').length
  if (signed >= threshold) return { kind: 'attested' }
  const codesOf = (verdict: OracleAnswer['said']) =>
    answers.flatMap((answer) => (answer.said === verdict && 'code' in answer ? [answer.code] : []))
  const denied = codesOf('denied')
  const [code = 'no answer'] = [...denied, ...codesOf('nothing')]
  return denied.length > answers.length - threshold ? { kind: 'refused', code } : { kind: 'open', code }
}

/** Request for a payment's attestation, and the id of the message that oracles sign if they agree. */
function questionOf(
  { kind, transactionId, asked }: Pick<DuePayment, 'kind' | 'transactionId' | 'asked'>,
  networkOf: NetworkOf,
): { readonly request: object; readonly messageId: Hex } {
  const { order, orderSignature, inputs, deposited, refundIndex = 0 } = asked
  // `exposureOf` has no question for inputs that weigh nothing, so the share is always known here.
  const result = {
    orderId: hashOf(order, networkOf),
    // Oracles sign no other status.
    status: 1,
    totalWeightedInputPaymentBpsDiff: String(weightedInputBpsDiff(order, [deposited]) ?? 0n),
  }
  const shared = { order, orderSignature, inputs }
  if (kind === 'fill') {
    const data = { ...shared, fill: { transactionId } }
    return { request: data, messageId: fillMessageId({ data, result }, networkOf) }
  }
  // Input 0: the solver accepts orders of one input alone.
  const data = { ...shared, refunds: [{ transactionId, inputIndex: 0, refundIndex }] }
  return { request: data, messageId: refundMessageId({ data, result }, networkOf) }
}
