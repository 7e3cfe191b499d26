import { comparisonText } from './comparisonText.ts'
import { canStillReach, type Electorate, groupVotes, union, type Voter } from './tally.ts'

/** Why an endpoint has no facts about a transaction. */
export type RefusalReason = 'missing' | 'reverted' | 'too_large' | 'unreadable'

/** One endpoint's own answer to a `ChainQuestion`, which is its vote. */
export type Sighting<Facts> =
  | { readonly kind: 'final'; readonly facts: Facts }
  /** In a block that is not final yet. */
  | { readonly kind: 'not_final'; readonly waitSeconds: number }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

export type SightingVote<Facts> = Voter & {
  /** `undefined`: no usable answer. Its voice still counts in the number of configured ones. */
  readonly sighting: Sighting<Facts> | undefined
}

/** Result of all votes. */
export type QuorumOutcome<Facts> =
  | { readonly status: 'agreed'; readonly facts: Facts; readonly aliases: readonly string[] }
  | { readonly status: 'not_final'; readonly waitSeconds: number }
  /** `shown`: with reason `missing`, facts of the transaction that some endpoint has, but fewer than the threshold. */
  | { readonly status: 'refused'; readonly reason: RefusalReason; readonly shown?: Facts }
  /** Endpoints contradict each other, and no answer reaches the threshold. */
  | { readonly status: 'disagreed'; readonly groups: number }
  /** No contradiction seen, but too few answered. */
  | { readonly status: 'silent' }

/**
 * Counts voices with equal facts against the threshold; `undefined` while missing votes can still change the result.
 * Since heads differ, a transaction may be final for one endpoint and not for another: that is no contradiction, and
 * the outcome is `not_final`. Final facts take precedence: a refusal is the outcome only if no missing vote can
 * complete facts. The first that holds decides:
 * 1. One group of equal facts has the threshold: `agreed`. Missing votes can bring one there: undecided.
 * 2. One reason has the threshold: `refused`; with `missing` also the facts that a minority shows.
 * 3. Some say `not_final`, and reach it together with the largest group of facts and `missing`: `not_final`.
 * 4. Missing votes can still bring 2 or 3 about: undecided. Else more than one kind of answer: `disagreed`,
 *    or `silent`.
 * @param key text that is equal for equal facts; default: of all facts
 * @source rule P-107
 */
export function tallySightings<Facts>(
  votes: readonly SightingVote<Facts>[],
  electorate: Electorate,
  key: (facts: Facts) => string = comparisonText,
): QuorumOutcome<Facts> | undefined {
  const groups = groupVotes(
    votes.map(({ alias, voice, sighting }) => {
      return { alias, voice, value: sighting?.kind === 'final' ? sighting.facts : undefined }
    }),
    // A single vote needs no comparison text: the usual case on a chain with one endpoint.
    votes.length === 1 ? () => '' : key,
  )
  const [largest] = groups
  if (largest !== undefined && largest.voices.size >= electorate.threshold) {
    return { status: 'agreed', facts: largest.value, aliases: largest.aliases }
  }
  if (canStillReach(groups, votes, electorate)) return undefined
  return withoutFacts(votes, electorate, {
    groupCount: groups.length,
    largestVoices: largest?.voices ?? new Set(),
    shown: largest?.value,
  })
}

/** Outcome when no facts can reach the threshold any more. */
function withoutFacts<Facts>(
  votes: readonly SightingVote<Facts>[],
  electorate: Electorate,
  facts: {
    /** Number of different facts that endpoints gave. */
    readonly groupCount: number
    /** Voices of the facts with the most of them. */
    readonly largestVoices: ReadonlySet<string>
    readonly shown: Facts | undefined
  },
): QuorumOutcome<Facts> | undefined {
  const { threshold } = electorate
  const refusals = voicesByReason(votes)
  for (const [reason, voices] of refusals) {
    if (voices.size < threshold) continue
    const isShown = reason === 'missing' && facts.shown !== undefined
    return { status: 'refused', reason, ...(isShown && { shown: facts.shown }) }
  }

  const waiting = votes.flatMap(({ voice, sighting }) =>
    sighting?.kind === 'not_final' ? [{ voice, waitSeconds: sighting.waitSeconds }] : [],
  )
  // Endpoints that do not find the transaction may only lag, and those with facts are ahead: both count as "not final".
  const unfinalVoices =
    waiting.length === 0
      ? new Set<string>()
      : union(
          new Set(waiting.map(({ voice }) => voice)),
          facts.largestVoices,
          refusals.get('missing') ?? new Set(),
        )
  if (unfinalVoices.size >= threshold) {
    return { status: 'not_final', waitSeconds: Math.max(...waiting.map(({ waitSeconds }) => waitSeconds)) }
  }
  const reachableGroups = [unfinalVoices, ...refusals.values()].map((voices) => ({ voices }))
  if (canStillReach(reachableGroups, votes, electorate)) return undefined
  const answerKinds = facts.groupCount + refusals.size + (waiting.length > 0 ? 1 : 0)
  return answerKinds > 1 ? { status: 'disagreed', groups: answerKinds } : { status: 'silent' }
}

function voicesByReason<Facts>(
  votes: readonly SightingVote<Facts>[],
): ReadonlyMap<RefusalReason, ReadonlySet<string>> {
  const voices = new Map<RefusalReason, Set<string>>()
  for (const { voice, sighting } of votes) {
    if (sighting?.kind !== 'refused') continue
    voices.set(sighting.reason, (voices.get(sighting.reason) ?? new Set()).add(voice))
  }
  return voices
}
