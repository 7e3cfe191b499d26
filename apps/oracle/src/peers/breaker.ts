/** What is known of one peer. Immutable: every event makes a new state. */
export type BreakerState = {
  readonly consecutiveFailures: number
  /** Before this time nothing is sent; 0 while closed. */
  readonly openUntilMs: number
  /** True while the one request that decides between open and closed is out. */
  readonly isProbing: boolean
}

export const closedBreaker: BreakerState = { consecutiveFailures: 0, openUntilMs: 0, isProbing: false }

/** @source ledger-and-safety.md 4.7 */
const failuresToOpen = 5
const pauseMs = 5_000

export function maySend({ openUntilMs, isProbing }: BreakerState, nowMs: number): boolean {
  return openUntilMs === 0 || (nowMs >= openUntilMs && !isProbing)
}

/** A request goes out; on an open breaker it is the probe. */
export function afterSend(state: BreakerState): BreakerState {
  return state.openUntilMs === 0 ? state : { ...state, isProbing: true }
}

export function afterFailure(state: BreakerState, nowMs: number): BreakerState {
  const consecutiveFailures = state.consecutiveFailures + 1
  const isOpen = consecutiveFailures >= failuresToOpen
  return { consecutiveFailures, openUntilMs: isOpen ? nowMs + pauseMs : 0, isProbing: false }
}

/** The request was given up because the answer was complete without it: that proves nothing. */
export function afterGivenUp(state: BreakerState): BreakerState {
  return { ...state, isProbing: false }
}
