/** What our own endpoints say about the fill, once its block is final. */
export type OwnReading = 'paid' | 'not_paid' | 'not_yet'

/** What one oracle said. `signed`: its pinned signer signed the id that we hashed. */
export type OracleSaid = 'signed' | 'denied' | 'nothing'

export type ParkReason =
  | 'ATTESTED_BUT_NOT_SEEN'
  | 'SEEN_BUT_DENIED'
  | 'FILL_NOT_SEEN'
  | 'ATTESTATION_TIMED_OUT'

export type SettleDecision =
  | { readonly action: 'post' }
  | { readonly action: 'wait' }
  /** Nothing moves until an operator looked. */
  | { readonly action: 'park'; readonly reason: ParkReason }

/**
 * Whether a filled request is paid for. Money moves when enough oracles and our own reading agree, and only
 * then; where they contradict each other it waits for a person. One lying or silent oracle decides nothing.
 * @param args.endSeconds when the hold ends by itself
 * @source design.md 6.7
 */
export function settleDecision(args: {
  readonly own: OwnReading
  readonly said: readonly OracleSaid[]
  readonly threshold: number
  readonly nowSeconds: number
  readonly endSeconds: number
}): SettleDecision {
  const { own, said, threshold } = args
  const signed = said.filter((one) => one === 'signed').length
  const denied = said.filter((one) => one === 'denied').length
  if (own === 'not_paid') {
    if (signed >= threshold) return { action: 'park', reason: 'ATTESTED_BUT_NOT_SEEN' }
    return args.nowSeconds >= args.endSeconds
      ? { action: 'park', reason: 'FILL_NOT_SEEN' }
      : { action: 'wait' }
  }
  if (own === 'paid') {
    if (signed >= threshold) return { action: 'post' }
    if (denied > said.length - threshold) return { action: 'park', reason: 'SEEN_BUT_DENIED' }
  }
  if (args.nowSeconds < args.endSeconds) return { action: 'wait' }
  return { action: 'park', reason: 'ATTESTATION_TIMED_OUT' }
}
