/** Reading of the fill by our own endpoints, once its block is final. */
export type OwnReading = 'paid' | 'not_paid' | 'not_yet'

/** The word of one oracle. `signed`: its pinned signer signed the id that we hashed. */
export type OracleVote = 'signed' | 'denied' | 'nothing'

export type ParkReason =
  | 'ATTESTED_BUT_NOT_SEEN'
  | 'SEEN_BUT_DENIED'
  | 'FILL_NOT_SEEN'
  | 'ATTESTATION_TIMED_OUT'

export type SettleDecision =
  | { readonly action: 'post' }
  | { readonly action: 'wait' }
  /** A contradiction, which a node that restarts shows as well: it must stand before anybody is called. */
  | { readonly action: 'ask_again'; readonly delayMs: number }
  /** Nothing moves until an operator looked. */
  | { readonly action: 'park'; readonly reason: ParkReason }

/** Pauses before a contradiction is looked at again; after the last of them it stands. */
export const askAgainAfterMs = [1_000, 2_000, 4_000] as const

/**
 * Decision whether a filled request is paid for. Money moves only when enough oracles and our own reading agree. If
 * they contradict each other, and still do after a retry, the request waits for an operator. One lying or silent oracle
 * decides nothing.
 * @param args.contradictions number of consecutive contradictions before
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
  const signedCount = answers.filter((one) => one === 'signed').length
  const deniedCount = answers.filter((one) => one === 'denied').length
  if (own === 'not_paid') {
    if (signedCount >= threshold) return decideContradiction('ATTESTED_BUT_NOT_SEEN', args.contradictions)
    return args.nowSeconds >= args.endSeconds
      ? { action: 'park', reason: 'FILL_NOT_SEEN' }
      : { action: 'wait' }
  }
  if (own === 'paid') {
    if (signedCount >= threshold) return { action: 'post' }
    if (deniedCount > answers.length - threshold)
      return decideContradiction('SEEN_BUT_DENIED', args.contradictions)
  }
  if (args.nowSeconds < args.endSeconds) return { action: 'wait' }
  return { action: 'park', reason: 'ATTESTATION_TIMED_OUT' }
}

function decideContradiction(reason: ParkReason, before: number): SettleDecision {
  const delayMs = askAgainAfterMs[before]
  return delayMs === undefined ? { action: 'park', reason } : { action: 'ask_again', delayMs }
}
