import type { GasPrice } from './snapshot.ts'

/** A protocol lets the base fee double in six blocks; four times between two polls is a glitch or a lie. */
const jumpFactor = 4n

/** How many samples `settleGas` looks at. */
export const gasSampleCount = 3

/**
 * The gas price to use: the newest sample, unless it jumped by more than four times either way. A jump
 * counts once a second sample repeats it; until then the sample that the others agree with stays.
 * @param samples oldest first, at least one, at most `gasSampleCount` matter
 * @source pricing-engine.md 6.1, 6.6 (gas spike between samples)
 */
export function settleGas(samples: readonly GasPrice[]): GasPrice {
  const beforeLast = samples.at(-3)
  const last = samples.at(-2)
  const newest = samples.at(-1)
  if (newest === undefined) throw new RangeError('there is no gas sample')
  if (last === undefined || !isJump(last, newest)) return newest
  if (beforeLast === undefined) return last
  const ordered = [beforeLast, last, newest].sort((a, b) => (a.expectedWei < b.expectedWei ? -1 : 1))
  return ordered[1] ?? newest
}

function isJump(a: GasPrice, b: GasPrice): boolean {
  const [low, high] = a.expectedWei < b.expectedWei ? [a, b] : [b, a]
  return high.expectedWei > low.expectedWei * jumpFactor
}
