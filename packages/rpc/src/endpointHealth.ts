import type { FailureReason } from './endpointFailure.ts'

/**
 * Health of one endpoint. Immutable: every event makes a new state, so the rules can be tested without a network or a
 * clock.
 */
export type HealthState = {
  /** Moving average over answered calls; `undefined` before the first. */
  readonly latencyMs: number | undefined
  readonly consecutiveFailures: number
  /** Times the breaker opened since the last success: each doubles the pause. */
  readonly openings: number
  /** While open, nothing is sent. 0 when closed. */
  readonly openUntilMs: number
  /** True while the one call that decides between open and closed is out. */
  readonly probing: boolean
  /** The endpoint asked for a pause (HTTP 429). */
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

/** @source ledger-and-safety.md 5.3 R6: at most one probe per half-open window, recovery within 10 s */
const breaker = { failuresToOpen: 5, firstPauseMs: 1_000, longestPauseMs: 8_000 }
const coolDownMs = { withoutHint: 1_000, shortest: 100 }
/** Weight of the newest sample. */
const latencyWeight = 0.2

/**
 * `ready`: send. `probe`: the pause is over and one call may find out. `closed`: do not send, either
 * paused or with a probe under way.
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

/** An endpoint that asks for patience is left alone for a while; every other failure counts. */
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
 * A call was given up before it was answered: the latency is at least this long. A probe that was given
 * up decided nothing, so the same pause starts again.
 */
export function afterCutShort(state: HealthState, elapsedMs: number, nowMs: number): HealthState {
  const slower = state.latencyMs === undefined || elapsedMs > state.latencyMs
  const measured = slower ? { ...state, latencyMs: averaged(state.latencyMs, elapsedMs) } : state
  return state.probing ? opened(measured, nowMs) : measured
}

/** It does not take so much at once: that says nothing about it. A probe decides nothing so. */
export function afterRefusal(state: HealthState): HealthState {
  return { ...state, probing: false }
}

/** No answer to a question that names something. By such failures alone the breaker never opens. @source F-82 */
export function afterNamedFailure(state: HealthState): HealthState {
  const counted = Math.min(state.consecutiveFailures + 1, breaker.failuresToOpen - 1)
  return { ...afterRefusal(state), consecutiveFailures: Math.max(state.consecutiveFailures, counted) }
}

/** True where only the endpoint's own head can still tell whether it is at fault. */
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
 * The height that endpoints are measured against: the upper median of what they answered in one round.
 * With two it is the higher, with three one liar with a far head moves nothing.
 * @source ledger-and-safety.md 4.3
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
 * Positions in the order in which they should be asked: the configured order among those of similar
 * latency, so that nearly equal endpoints do not alternate; clearly slower ones after them; a probe last,
 * because a caller should not pay for it while others answer.
 */
export function askingOrder(
  endpoints: readonly { readonly state: HealthState; readonly availability: Availability }[],
): readonly number[] {
  const usable = endpoints
    .map(({ state, availability: at }, position) => ({ position, at, latencyMs: state.latencyMs ?? 0 }))
    .filter(({ at }) => at !== 'closed')
  const fastestMs = Math.min(...usable.filter(({ at }) => at === 'ready').map((one) => one.latencyMs))
  const similarMs = Math.max(2 * fastestMs, fastestMs + 20)
  const group = (one: { at: Availability; latencyMs: number }) =>
    one.at === 'probe' ? 2 : one.latencyMs > similarMs ? 1 : 0
  return usable
    .sort((a, b) => group(a) - group(b) || (group(a) === 1 ? a.latencyMs - b.latencyMs : 0))
    .map(({ position }) => position)
}
