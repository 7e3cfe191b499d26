import {
  type Deadline,
  type MaybePromise,
  startDeadline,
  UpstreamUnavailableError,
  whenAborted,
} from '@causeway/core'
import type { AskPort } from './answers.ts'
import type { PricingQuestions } from './pricingDependencies.ts'

/** Time budget for all chain questions of one request together. */
export const chainBudgetMs = 1_500

/** Kinds of wait of a request outside of this process. */
export type WaitPart = 'chain' | 'liquidity' | 'sign' | 'store'

/**
 * Wait times of one HTTP request for a price or quote, and the deadline of its chain questions. The route makes one,
 * gives it to `priceRequest`, and reads `spent` for its metrics. `nowMs` is a monotonic clock in milliseconds.
 */
export class RequestWaits {
  readonly #nowMs: () => number
  readonly #budgetMs: number
  readonly #startedMs: number
  readonly #parts = new Map<WaitPart, { pending: number; sinceMs: number; totalMs: number }>()
  #budget: { readonly deadline: Deadline; readonly end: Promise<never> } | undefined

  constructor(options: { readonly nowMs: () => number; readonly budgetMs?: number }) {
    this.#nowMs = options.nowMs
    this.#budgetMs = options.budgetMs ?? chainBudgetMs
    this.#startedMs = options.nowMs()
  }

  /** Adds the time of `ask` to its part, if it has to be awaited. Overlapping waits of one part count once. */
  during<Value>(partName: WaitPart, ask: () => Promise<Value>): Promise<Value>
  during<Value>(partName: WaitPart, ask: () => MaybePromise<Value>): MaybePromise<Value>
  during<Value>(partName: WaitPart, ask: () => MaybePromise<Value>): MaybePromise<Value> {
    const askedMs = this.#nowMs()
    const answer = ask()
    return answer instanceof Promise ? this.#timed(partName, askedMs, answer) : answer
  }

  async #timed<Value>(partName: WaitPart, askedMs: number, answer: Promise<Value>): Promise<Value> {
    const part = this.#parts.get(partName) ?? { pending: 0, sinceMs: 0, totalMs: 0 }
    this.#parts.set(partName, part)
    if (part.pending === 0) part.sinceMs = askedMs
    part.pending += 1
    try {
      return await answer
    } finally {
      part.pending -= 1
      if (part.pending === 0) part.totalMs += this.#nowMs() - part.sinceMs
    }
  }

  /** Waits no longer than what the budget leaves, and asks nothing once it is spent. @throws UpstreamUnavailableError */
  onChain<Value>(ask: () => Promise<Value>): Promise<Value>
  onChain<Value>(ask: () => MaybePromise<Value>): MaybePromise<Value>
  onChain<Value>(ask: () => MaybePromise<Value>): MaybePromise<Value> {
    if (this.#budget?.deadline.hasPassed()) return this.#budget.end
    return this.during('chain', () => {
      const answer = ask()
      return answer instanceof Promise ? Promise.race([answer, this.#startBudget().end]) : answer
    })
  }

  /** Frees the timer. */
  release(): void {
    this.#budget?.deadline.release()
  }

  /** Milliseconds that each part took, and since the request began. */
  spent(): {
    readonly parts: readonly { readonly part: WaitPart; readonly milliseconds: number }[]
    readonly totalMs: number
  } {
    const parts = [...this.#parts].map(([part, { totalMs }]) => ({ part, milliseconds: totalMs }))
    return { parts, totalMs: this.#nowMs() - this.#startedMs }
  }

  #startBudget() {
    if (this.#budget !== undefined) return this.#budget
    const spentMs = this.#nowMs() - this.#startedMs
    const deadline = startDeadline(undefined, Math.max(1, this.#budgetMs - spentMs), () => this.#lateError())
    const end = whenAborted(deadline.signal)
    // Without this, a deadline that passes while no question waits would be an unhandled rejection.
    end.catch(() => {})
    this.#budget = { deadline, end }
    return this.#budget
  }

  #lateError(): UpstreamUnavailableError {
    return new UpstreamUnavailableError(
      `Chains did not say within ${this.#budgetMs} ms what this request needs. Try again.`,
    )
  }
}

/**
 * Asks a port of pricing: its wait counts, and is bounded unless the port has a shorter budget of its own and never
 * rejects. An answer that is there at once is no wait.
 */
export const askWithin =
  (waits: RequestWaits): AskPort<keyof PricingQuestions> =>
  (name, port, question) => {
    if (name === 'tryFill' || name === 'quoteOnChain') return waits.onChain(() => port(question))
    const answer = port(question)
    if (!(answer instanceof Promise)) return answer
    return waits.during(name === 'findLiquidity' ? 'liquidity' : 'chain', () => answer)
  }
