/** Fewer fills say too little about a route. */
export const reactionSamplesMin = 20
/** Three fills of four come no later than they were said to. */
const percentile = 0.75

/**
 * What a solver takes on a route beyond confirmations and blocks, learned from its newest fills: one of the
 * times that were seen, so that a fill that hung for hours moves nothing. Pure.
 * @param reactionsMs of recent fills, in any order
 * @returns milliseconds, at least 0; `undefined` while too little was seen
 */
export function learnedReactionMs(reactionsMs: readonly number[]): number | undefined {
  if (reactionsMs.length < reactionSamplesMin) return undefined
  const sorted = reactionsMs.toSorted((a, b) => a - b)
  return Math.max(sorted[Math.ceil(percentile * sorted.length) - 1] ?? 0, 0)
}
