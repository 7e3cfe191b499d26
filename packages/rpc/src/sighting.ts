import { comparisonText } from './comparisonText.ts'
import { canStillReach, type Electorate, groupVotes, union, type Voter } from './tally.ts'

/** Why a question has no facts, as one endpoint sees it. */
export type RefusalReason = 'missing' | 'reverted' | 'too_large' | 'unreadable'

/** One endpoint's own answer to one question. */
export type Sighting<Facts> =
  | { readonly kind: 'final'; readonly facts: Facts }
  /** Seen, but the chain may still drop it. */
  | { readonly kind: 'not_final'; readonly waitSeconds: number }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

export type SightingVote<Facts> = Voter & {
  /** `undefined`: no usable answer. Its voice still counts in the number of configured ones. */
  readonly sighting: Sighting<Facts> | undefined
}

export type QuorumOutcome<Facts> =
  | { readonly status: 'agreed'; readonly facts: Facts; readonly aliases: readonly string[] }
  | { readonly status: 'not_final'; readonly waitSeconds: number }
  /** `shown`: facts that fewer than the threshold have of a transaction that enough do not find. */
  | { readonly status: 'refused'; readonly reason: RefusalReason; readonly shown?: Facts }
  /** Endpoints contradict each other, and nothing has the threshold. */
  | { readonly status: 'disagreed'; readonly groups: number }
  /** No contradiction seen, but too few answered. */
  | { readonly status: 'silent' }

/**
 * Counts equal facts against a threshold of the configured voices; `undefined` while votes that are still
 * out can change the result. Endpoints whose heads differ see one transaction as final and as not final:
 * that is no contradiction, the answer is "not final yet". Final facts come before everything else, so
 * that a refusal is said only when no missing vote can make facts of it.
 * @param key equal text for equal facts; default all of them
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
    // Alone there is nothing to compare with: the usual case on a chain with one endpoint.
    votes.length === 1 ? () => '' : key,
  )
  const [largest] = groups
  if (largest !== undefined && largest.voices.size >= electorate.threshold) {
    return { status: 'agreed', facts: largest.value, aliases: largest.aliases }
  }
  if (canStillReach(groups, votes, electorate)) return undefined
  return withoutFacts(votes, electorate, {
    ...{ number: groups.length, largest: largest?.voices ?? new Set() },
    shown: largest?.value,
  })
}

/** Outcome when no facts can reach the threshold any more. */
function withoutFacts<Facts>(
  votes: readonly SightingVote<Facts>[],
  electorate: Electorate,
  facts: {
    readonly number: number
    readonly largest: ReadonlySet<string>
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
  // An endpoint that lags has not seen the transaction at all.
  const unfinal =
    waiting.length === 0
      ? new Set<string>()
      : union(new Set(waiting.map(({ voice }) => voice)), facts.largest, refusals.get('missing') ?? new Set())
  if (unfinal.size >= threshold) {
    return { status: 'not_final', waitSeconds: Math.max(...waiting.map(({ waitSeconds }) => waitSeconds)) }
  }
  const possible = [unfinal, ...refusals.values()].map((voices) => ({ voices }))
  if (canStillReach(possible, votes, electorate)) return undefined
  const kinds = facts.number + refusals.size + (waiting.length > 0 ? 1 : 0)
  return kinds > 1 ? { status: 'disagreed', groups: kinds } : { status: 'silent' }
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
