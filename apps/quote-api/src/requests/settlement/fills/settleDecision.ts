/** Our own endpoints' reading of the fill; `not_yet`: its block is not final. */
export type OwnReading = 'paid' | 'not_paid' | 'not_yet'

/** Answer of one oracle. `signed`: its configured signer signed our message id; `nothing`: no usable answer. */
export type OracleVote = 'signed' | 'denied' | 'nothing'

/** Why a filled request waits for an operator. */
export type ParkReason =
  | 'ATTESTED_BUT_NOT_SEEN'
  | 'SEEN_BUT_DENIED'
  | 'FILL_NOT_SEEN'
  | 'ATTESTATION_TIMED_OUT'

/** Decision about a filled request; `post`: book it. */
export type SettleDecision =
  | { readonly action: 'post' }
  | { readonly action: 'wait' }
  /** Oracles and our reading contradict each other, perhaps only while a node restarts. */
  | { readonly action: 'ask_again'; readonly delayMs: number }
  /** Nothing more happens until an operator decides. */
  | { readonly action: 'park'; readonly reason: ParkReason }

/** Pauses before a contradiction is looked at again; after the last one the request is parked. */
export const askAgainAfterMs = [1_000, 2_000, 4_000] as const

/**
 * Decides whether a filled request is booked. That needs enough oracles' signatures and our own reading of the payment. If
 * they contradict each other, also after retries, the request is parked. A single lying or silent oracle decides nothing.
 * @param args.said answers of all oracles
 * @param args.threshold number of signatures that is enough
 * @param args.contradictions number of consecutive contradictions so far
 * @param args.endSeconds time at which the hold ends by itself, in Unix seconds
 * @source rule L-69
 */
export function settleDecision(args: {
  readonly own: OwnReading
  readonly said: readonly OracleVote[]
  readonly threshold: number
  readonly contradictions: number
  readonly nowSeconds: number
  readonly endSeconds: number
}): SettleDecision {
  const { own, said: answers, threshold } = args
  const signedCount = answers.filter((answer) => answer === 'signed').length
  const deniedCount = answers.filter((answer) => answer === 'denied').length
  if (own === 'not_paid') {
    if (signedCount >= threshold) return decideContradiction('ATTESTED_BUT_NOT_SEEN', args.contradictions)
    return args.nowSeconds >= args.endSeconds
      ? { action: 'park', reason: 'FILL_NOT_SEEN' }
      : { action: 'wait' }
  }
  if (own === 'paid') {
    if (signedCount >= threshold) return { action: 'post' }
    // So many denials that the others cannot reach the threshold.
    if (deniedCount > answers.length - threshold)
      return decideContradiction('SEEN_BUT_DENIED', args.contradictions)
  }
  if (args.nowSeconds < args.endSeconds) return { action: 'wait' }
  return { action: 'park', reason: 'ATTESTATION_TIMED_OUT' }
}

function decideContradiction(reason: ParkReason, contradictionsBefore: number): SettleDecision {
  const delayMs = askAgainAfterMs[contradictionsBefore]
  return delayMs === undefined ? { action: 'park', reason } : { action: 'ask_again', delayMs }
}
