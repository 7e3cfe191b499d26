import { setTimeout as sleep } from 'node:timers/promises'

const secondMs = 1_000
/** The part of a refused rate that is kept, never less than the slowest; it grows in quiet times, up to no limit. */
const kept = 0.8
const slowest = 3
const growth = { factor: 1.5, everyMs: 20_000, endsAbove: 1_000 }

/** Requests of one second that an endpoint takes, as its refusals taught it. No limit before the first. @source F-63 */
export class RequestPace {
  #perSecond = Number.POSITIVE_INFINITY
  #changedAtMs = Number.NEGATIVE_INFINITY
  #nextAtMs = 0
  #sentAtMs: number[] = []

  get isLimited(): boolean {
    return Number.isFinite(this.#perSecond)
  }

  sent(nowMs: number): void {
    while (nowMs - (this.#sentAtMs[0] ?? nowMs) >= secondMs) this.#sentAtMs.shift()
    this.#sentAtMs.push(nowMs)
  }

  /** Refusals of one second are one: what was out already says nothing more. */
  refused(nowMs: number): void {
    if (nowMs - this.#changedAtMs < secondMs) return
    const recent = this.#sentAtMs.filter((ms) => nowMs - ms < secondMs).length
    this.#perSecond = Math.max(slowest, kept * Math.min(this.#perSecond, recent))
    this.#changedAtMs = nowMs
  }

  /** Waits until one more request is due. @returns false at once where that is after the deadline */
  async turn(nowMs: number, { deadlineMs, signal }: Turn): Promise<boolean> {
    const quietTimes = Math.floor((nowMs - this.#changedAtMs) / growth.everyMs)
    if (quietTimes > 0) {
      this.#perSecond *= growth.factor ** quietTimes
      this.#changedAtMs = nowMs
    }
    if (this.#perSecond > growth.endsAbove) this.#perSecond = Number.POSITIVE_INFINITY
    const atMs = Math.max(nowMs, this.#nextAtMs)
    if (atMs >= deadlineMs) return false
    this.#nextAtMs = atMs + secondMs / this.#perSecond
    // Whoever gives up says so where he sends.
    if (atMs > nowMs) await sleep(atMs - nowMs, undefined, { signal }).catch(() => {})
    return true
  }
}

type Turn = { readonly deadlineMs: number; readonly signal?: AbortSignal | undefined }
