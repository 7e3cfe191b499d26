/** State of one peer's circuit breaker: after several failures in a row it pauses, then one request probes. Immutable. */
export type BreakerState = {
  readonly consecutiveFailures: number
  /** Time before which nothing is sent; 0 while the breaker is closed. */
  readonly openUntilMs: number
  /** True while the probe is under way, the one request that closes the breaker or opens it again. */
  readonly isProbing: boolean
}

export const closedBreaker: BreakerState = { consecutiveFailures: 0, openUntilMs: 0, isProbing: false }

const failuresToOpen = 5
const pauseMs = 5_000

/** True while the breaker is closed; on an open one for the probe alone, once the pause is over. */
export function maySend({ openUntilMs, isProbing }: BreakerState, nowMs: number): boolean {
  return nowMs >= openUntilMs && !isProbing
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

/** After a request that this oracle gave up, which proves nothing about the peer. */
export function afterGivenUp(state: BreakerState): BreakerState {
  return { ...state, isProbing: false }
}
