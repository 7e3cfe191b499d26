/** Retries of a message before it is given up. @source rule L-81 */
const retriesMax = 10

/** The pause before the first retry; each further pause is twice as long. */
export type RetryRule = { readonly firstMs: number }

/** Ten retries within about three hours, so that a receiver may be down for a while. */
export const defaultRetryRule: RetryRule = { firstMs: 10_000 }

/** Largest part by which a pause is changed at random, to spread retries of messages that failed together. */
const jitter = 0.2

/**
 * Pause in milliseconds between the `attempts`th attempt and the next; `undefined` if there is none. Pure.
 * @param random at least 0, below 1
 */
export function retryPauseMs({ firstMs }: RetryRule, attempts: number, random: number): number | undefined {
  if (attempts > retriesMax) return undefined
  return Math.round(firstMs * 2 ** (attempts - 1) * (1 + jitter * (2 * random - 1)))
}
