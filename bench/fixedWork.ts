/** Less than a millisecond, so that some rounds are not interrupted. */
const steps = 200_000
const rounds = 300

/**
 * Microseconds of a work that never changes, in a loop that is compiled: by it, figures of two hosts can be compared. The
 * shortest round counts, as nothing else ran during it.
 */
export function fixedWorkUs(): number {
  const times = Array.from({ length: rounds }, (_, round) => {
    const startedMs = performance.now()
    const word = scramble(round)
    const spentMs = performance.now() - startedMs
    // Never so, but the work may not be left out: its result is used.
    return word === 0.5 ? 0 : spentMs
  })
  return 1_000 * Math.min(...times)
}

function scramble(seed: number): number {
  let word = seed
  for (let step = 0; step < steps; step += 1) word = (Math.imul(word ^ (word >>> 15), 1_664_525) + step) | 0
  return word
}
