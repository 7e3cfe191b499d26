import { DomainError, UpstreamUnavailableError } from '@causeway/core'
import { createLruCache } from '@causeway/rpc'

export type BoundedStalenessOptions<Value> = {
  /** Answers from the store; `undefined` when there is nothing. */
  readonly read: (key: string) => Promise<Value | undefined>
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
}

/** Caches rows that nearly every request needs, such as API keys. No answer is older than `answerAgeMsMax`. */
export interface BoundedStalenessCache<Value> {
  /** @throws UpstreamUnavailableError when the store does not answer and no recent answer is left */
  get(key: string): Promise<Value | undefined>
  /** The next `get` asks the store, for changes made by this process. */
  forget(key: string): void
}

/** An answer this young is given without asking again. */
const freshMs = 2_000
/** A cached absence expires sooner, so that a new row is seen soon. */
const absentFreshMs = 1_000
/** No answer is given that is older than this, even while the store is down. */
const answerAgeMsMax = 4_500
const entriesMax = 10_000

type Answer<Value> = { readonly value: Value | undefined; readonly askedAtMs: number }

/**
 * Bounded memory of a store's answers. An answer's age counts from before it was asked for, and
 * each is asked for again after two seconds, so a change in the store reaches every process
 * within `answerAgeMsMax`, with no notification that could be lost.
 */
export function createBoundedStalenessCache<Value>(
  options: BoundedStalenessOptions<Value>,
): BoundedStalenessCache<Value> {
  const { read, now } = options
  const present = createLruCache<Answer<Value>>(entriesMax)
  // A cache of its own, so that lookups of keys that do not exist cannot push out those in use.
  const absent = createLruCache<Answer<Value>>(entriesMax)
  const pendingReads = new Map<string, Promise<Answer<Value>>>()

  function keep(key: string, answer: Answer<Value>): void {
    const [cache, other] = answer.value === undefined ? [absent, present] : [present, absent]
    other.delete(key)
    cache.set(key, answer)
  }

  function ask(key: string): Promise<Answer<Value>> {
    const askedAtMs = now()
    const pending: Promise<Answer<Value>> = read(key)
      .then((value) => {
        const answer = { value, askedAtMs }
        // `forget` removes a pending read, whose answer may be from before the change.
        if (pendingReads.get(key) === pending) keep(key, answer)
        return answer
      })
      .finally(() => {
        if (pendingReads.get(key) === pending) pendingReads.delete(key)
      })
    pendingReads.set(key, pending)
    return pending
  }

  return {
    async get(key) {
      const cached = present.get(key) ?? absent.get(key)
      const age = cached === undefined ? Number.POSITIVE_INFINITY : now() - cached.askedAtMs
      if (cached !== undefined && age < (cached.value === undefined ? absentFreshMs : freshMs)) {
        return cached.value
      }
      const answer = await (pendingReads.get(key) ?? ask(key)).catch((error: unknown) => {
        if (cached !== undefined && error instanceof DomainError && error.retryable) return cached
        throw error
      })
      if (now() - answer.askedAtMs > answerAgeMsMax) {
        throw new UpstreamUnavailableError('The database did not answer in time.')
      }
      return answer.value
    },
    forget(key) {
      present.delete(key)
      absent.delete(key)
      pendingReads.delete(key)
    },
  }
}
