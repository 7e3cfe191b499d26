import type { FailureReason } from './endpointFailure.ts'

/**
 * Health of one endpoint, with a circuit breaker: after several failures in a row it opens, so that nothing is sent for
 * a while; then it is half-open, and one call probes the endpoint. Immutable: every event makes a new state.
 */
export type HealthState = {
  /** Moving average over answered calls; `undefined` before the first. */
  readonly latencyMs: number | undefined
  readonly consecutiveFailures: number
  /** Times that the breaker opened since the last success; each doubles the pause. 0: it is closed. */
  readonly openings: number
  /** End of the pause, ms since the epoch; nothing is sent before. 0 if the breaker is closed. */
  readonly openUntilMs: number
  /** True while the probe is in flight. */
  readonly probing: boolean
  /** End of a pause that the endpoint asked for (HTTP 429), ms since the epoch. */
  readonly coolUntilMs: number
  readonly headBlock: bigint | undefined
}

export const initialHealth: HealthState = {
  latencyMs: undefined,
  consecutiveFailures: 0,
  openings: 0,
  openUntilMs: 0,
  probing: false,
  coolUntilMs: 0,
  headBlock: undefined,
}

/** The longest pause lets an endpoint that works again be used within 10 s. */
const breaker = { failuresToOpen: 5, firstPauseMs: 1_000, longestPauseMs: 8_000 }
/** Pauses that an endpoint asks for: if it names no time, and the shortest. */
const coolDownMs = { withoutHint: 1_000, shortest: 100 }
/** Weight of the newest sample. */
const latencyWeight = 0.2

/**
 * Says if calls may be sent. `ready`: yes. `probe`: the pause is over, and one call may probe the endpoint. `closed`:
 * no, because of a pause or a probe in flight; it is not the breaker that is closed then.
 */
export type Availability = 'ready' | 'probe' | 'closed'

export function availability(state: HealthState, nowMs: number): Availability {
  if (state.coolUntilMs > nowMs) return 'closed'
  if (state.openings === 0) return 'ready'
  return state.openUntilMs > nowMs || state.probing ? 'closed' : 'probe'
}

/** Milliseconds until the endpoint may be asked again; 0 when it may be now. */
export function pauseMs(state: HealthState, nowMs: number): number {
  const until = Math.max(state.coolUntilMs, state.openings === 0 ? 0 : state.openUntilMs)
  return Math.max(until - nowMs, 0)
}

/** A call goes out. On a half-open endpoint it is the probe. */
export function afterSend(state: HealthState): HealthState {
  return state.openings === 0 || state.probing ? state : { ...state, probing: true }
}

export function afterSuccess(state: HealthState, latencyMs: number): HealthState {
  return {
    ...state,
    latencyMs: averaged(state.latencyMs, latencyMs),
    consecutiveFailures: 0,
    openings: 0,
    openUntilMs: 0,
    probing: false,
  }
}

/** A failure counts towards opening the breaker; `rate_limited` only pauses the endpoint. */
export function afterFailure(
  state: HealthState,
  failure: { readonly reason: FailureReason; readonly retryAfterMs?: number | undefined },
  nowMs: number,
): HealthState {
  const { reason, retryAfterMs } = failure
  if (reason === 'rate_limited') return cooled({ ...state, probing: false }, retryAfterMs, nowMs)
  const hinted = retryAfterMs === undefined ? state : cooled(state, retryAfterMs, nowMs)
  const failed = { ...hinted, consecutiveFailures: state.consecutiveFailures + 1 }
  if (failed.consecutiveFailures < breaker.failuresToOpen) return failed
  // Failures of calls that were already out when the breaker opened do not lengthen the pause.
  if (state.openings > 0 && !state.probing) return failed
  return opened({ ...failed, openings: state.openings + 1 }, nowMs)
}

/**
 * A call was given up before it was answered, so the latency is at least this long. A probe that was given up decides
 * nothing: the same pause starts again.
 */
export function afterCutShort(state: HealthState, elapsedMs: number, nowMs: number): HealthState {
  const slower = state.latencyMs === undefined || elapsedMs > state.latencyMs
  const measured = slower ? { ...state, latencyMs: averaged(state.latencyMs, elapsedMs) } : state
  return state.probing ? opened(measured, nowMs) : measured
}

/** A refusal for the size of a request says nothing about health; a probe ends without a decision. */
export function afterRefusal(state: HealthState): HealthState {
  return { ...state, probing: false }
}

/**
 * A failure that a name in the question may have caused. It counts, but never opens the breaker: the count stays below
 * the limit, and a question for the head decides. @source F-82
 */
export function afterNamedFailure(state: HealthState): HealthState {
  const counted = Math.min(state.consecutiveFailures + 1, breaker.failuresToOpen - 1)
  return { ...afterRefusal(state), consecutiveFailures: Math.max(state.consecutiveFailures, counted) }
}

/** True if one more failure would open the breaker, or it is open: then the endpoint's head is asked for. */
export function isSuspect({ openings, consecutiveFailures }: HealthState): boolean {
  return openings > 0 || consecutiveFailures >= breaker.failuresToOpen - 1
}

function opened(state: HealthState, nowMs: number): HealthState {
  const pause = Math.min(breaker.firstPauseMs * 2 ** (state.openings - 1), breaker.longestPauseMs)
  return { ...state, openUntilMs: nowMs + pause, probing: false }
}

export function afterHead(state: HealthState, headBlock: bigint): HealthState {
  return { ...state, headBlock }
}

function cooled(state: HealthState, retryAfterMs: number | undefined, nowMs: number): HealthState {
  const wait = Math.max(retryAfterMs ?? coolDownMs.withoutHint, coolDownMs.shortest)
  return { ...state, coolUntilMs: Math.max(state.coolUntilMs, nowMs + wait) }
}

function averaged(average: number | undefined, sample: number): number {
  return average === undefined ? sample : average + latencyWeight * (sample - average)
}

/**
 * The height with which endpoints are compared: the upper median of their heads in one round. With two it is the higher
 * one; with three, one false head far ahead has no effect.
 */
export function referenceHead(heads: readonly bigint[]): bigint | undefined {
  const sorted = [...heads].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor(sorted.length / 2)]
}

/** True when the endpoint's last known head is more than `lagBlocksMax` behind the reference. */
export function isLagging(state: HealthState, reference: bigint | undefined, lagBlocksMax: number): boolean {
  if (reference === undefined || state.headBlock === undefined) return false
  return state.headBlock + BigInt(lagBlocksMax) < reference
}

/**
 * Positions of usable endpoints in the order in which to ask them. First those of similar latency, in configured order,
 * so that nearly equal ones do not alternate; then clearly slower ones, by latency; then those to be probed, since a
 * probe may delay its caller. An endpoint that has not answered yet counts as the fastest, so that it is tried.
 */
export function askingOrder(
  endpoints: readonly { readonly state: HealthState; readonly availability: Availability }[],
): readonly number[] {
  const usable = endpoints
    .map(({ state, availability }, position) => ({ position, availability, latencyMs: state.latencyMs ?? 0 }))
    .filter(({ availability }) => availability !== 'closed')
  const fastestMs = Math.min(
    ...usable.filter(({ availability }) => availability === 'ready').map((one) => one.latencyMs),
  )
  const similarMs = Math.max(2 * fastestMs, fastestMs + 20)
  const group = ({ availability, latencyMs }: { availability: Availability; latencyMs: number }) => {
    if (availability === 'probe') return 2
    return latencyMs > similarMs ? 1 : 0
  }
  return usable
    .sort((a, b) => group(a) - group(b) || (group(a) === 1 ? a.latencyMs - b.latencyMs : 0))
    .map(({ position }) => position)
}
