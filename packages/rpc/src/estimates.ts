import { divideUp } from '@causeway/core'
import { countVoices, type Electorate, type Vote } from './tally.ts'

/**
 * Number of estimates that a median needs so that false ones cannot decide it: 2f + 1 for f possible liars (voices
 * beyond the threshold), and at least three. @source rule Q-162
 */
export function estimatesNeeded({ voters, threshold }: Electorate): number {
  return Math.max(3, 2 * (countVoices(voters) - threshold) + 1)
}

/** Median of one estimate from each voice; `undefined` if there are too few. */
export function medianOfVoices<Value>(
  votes: readonly Vote<Value>[],
  electorate: Electorate,
  estimate: (value: Value) => bigint,
): bigint | undefined {
  const byVoice = new Map<string, bigint>()
  for (const { voice, value } of votes) {
    if (value !== undefined && !byVoice.has(voice)) byVoice.set(voice, estimate(value))
  }
  return byVoice.size >= estimatesNeeded(electorate) ? medianUp([...byVoice.values()]) : undefined
}

/** Median; of two middle values their mean, rounded up. Zero without values. */
export function medianUp(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  return upper === undefined || lower === undefined ? 0n : divideUp(lower + upper, 2n)
}
