import { type Deadline, UpstreamUnavailableError } from '@causeway/core'
import { EndpointFailure } from './endpointFailure.ts'
import { createRendezvous } from './rendezvous.ts'
import { type QuorumOutcome, type Sighting, type SightingVote, tallySightings } from './sighting.ts'
import type { Electorate } from './tally.ts'

/** A question that is put to every source (endpoint) of a chain, in two rounds. */
export type QuorumQuestion<Source, First, Pin, Facts> = {
  readonly sources: readonly Source[]
  /** The sources as voters, and how many voices must have equal facts. */
  readonly electorate: Electorate
  /** First round: reads from a source by itself, e.g. its heads and a receipt. */
  readonly first: (source: Source, signal: AbortSignal) => Promise<First>
  /** Between the rounds: chooses the height for the second, from at least `threshold` first readings. Pure. */
  readonly pin: (firsts: readonly First[]) => Pin
  /** Second round: reads from a source at the chosen height. The result is the source's vote. */
  readonly second: (source: Source, first: First, pin: Pin, signal: AbortSignal) => Promise<Sighting<Facts>>
  /** Text that is equal for equal facts; default `comparisonText`. */
  readonly key?: (facts: Facts) => string
  /** True if the block of another source's facts is on this source's chain; absent in families without such blocks. */
  readonly confirms?: (source: Source, facts: Facts, signal: AbortSignal) => Promise<boolean>
  /** Once enough sources have made their first reading, late ones have so many milliseconds to take part in `pin`. */
  readonly patienceMs: number
  /** Deadline of the whole reading; it ends with the reading, so that no call stays open. */
  readonly deadline: Deadline
}

export type QuorumReading<Facts> = {
  readonly outcome: QuorumOutcome<Facts>
  /** Failures of sources without a usable answer. */
  readonly failures: readonly EndpointFailure[]
  /** Aliases of sources with other facts than the agreed ones, as far as they had answered. */
  readonly outvoted: readonly string[]
}

/** Time for late sources to show a transaction that enough others did not find: they may have pruned it. */
const shownWithinMs = 1_000

/**
 * Puts a question to every source, all at one chosen height, and resolves with the first outcome that no missing vote
 * can change; calls in flight are then aborted. A source that fails has no vote, but its voice still counts for the
 * threshold. Rejects only because of a bug.
 * @source rule P-107
 */
export function readByQuorum<Source extends { readonly alias: string }, First, Pin, Facts>(
  question: QuorumQuestion<Source, First, Pin, Facts>,
): Promise<QuorumReading<Facts>> {
  const { sources, electorate, first, pin, second, key, patienceMs } = question
  const voiceOf = voicesByAlias(electorate)
  const { signal } = question.deadline
  const rendezvous = createRendezvous({
    expected: sources.length,
    needed: electorate.threshold,
    patienceMs,
    choose: pin,
  })
  const votes: SightingVote<Facts>[] = []
  const failures: EndpointFailure[] = []

  async function readVote(source: Source, voice: string): Promise<Sighting<Facts> | undefined> {
    let hasArrived = false
    try {
      const own = await first(source, signal)
      hasArrived = true
      const height = await rendezvous.arrive(own, voice)
      return height === undefined ? undefined : await second(source, own, height.pin, signal)
    } catch (error) {
      if (!hasArrived) rendezvous.fail()
      failures.push(toEndpointFailure(error, source.alias))
      return undefined
    }
  }

  const tallyVotes = () => tallySightings(votes, electorate, key)
  let lateSourcesTimer: NodeJS.Timeout | undefined
  return new Promise<QuorumReading<Facts>>((resolve, reject) => {
    // Votes that come after an outcome may call it again: the first reading that is judged counts.
    const finish = (outcome: QuorumOutcome<Facts>) => {
      // Copied, because calls that are aborted from here on would be added as failures.
      const reading = { failures: [...failures], outvoted: outvotedBy(outcome, votes) }
      withConfirmation(outcome, question).then((judged) => resolve({ outcome: judged, ...reading }), reject)
    }
    for (const source of sources) {
      const { alias } = source
      const voice = voiceOf.get(alias) ?? alias
      readVote(source, voice)
        .then((sighting) => {
          votes.push({ alias, voice, sighting })
          const outcome = tallyVotes()
          if (outcome === undefined) return
          const isMissing = outcome.status === 'refused' && outcome.reason === 'missing'
          const mayBeShown = question.confirms !== undefined && votes.length < sources.length
          // A `missing` waits for late sources, since one that shows the transaction leads to
          // `withConfirmation`.
          if (!isMissing || !mayBeShown) finish(outcome)
          else lateSourcesTimer ??= setTimeout(() => finish(tallyVotes() ?? outcome), shownWithinMs)
        })
        .catch(reject)
    }
  }).finally(() => {
    clearTimeout(lateSourcesTimer)
    question.deadline.end()
    rendezvous.close()
  })
}

/**
 * Checks an outcome `missing` if some source did show the transaction: if enough sources have that block on their
 * chain, the outcome is a disagreement instead, since the others may have pruned the transaction. @source F-83
 */
async function withConfirmation<Source extends { readonly alias: string }, First, Pin, Facts>(
  outcome: QuorumOutcome<Facts>,
  { sources, electorate, confirms, deadline }: QuorumQuestion<Source, First, Pin, Facts>,
): Promise<QuorumOutcome<Facts>> {
  if (confirms === undefined || outcome.status !== 'refused' || outcome.shown === undefined) return outcome
  const { shown } = outcome
  const voiceOf = voicesByAlias(electorate)
  const confirmed = await Promise.all(
    sources.map(async (source) => {
      const isOnChain = await confirms(source, shown, deadline.signal).catch(() => false)
      return isOnChain ? [voiceOf.get(source.alias) ?? source.alias] : []
    }),
  )
  const isConfirmed = new Set(confirmed.flat()).size >= electorate.threshold
  // Two groups: sources with the transaction and sources without.
  return isConfirmed ? { status: 'disagreed', groups: 2 } : outcome
}

const voicesByAlias = ({ voters }: Electorate) => new Map(voters.map(({ alias, voice }) => [alias, voice]))

/** Sources with other final facts than the agreed ones. A source that has nothing final yet only lags. */
function outvotedBy<Facts>(
  outcome: QuorumOutcome<Facts>,
  votes: readonly SightingVote<Facts>[],
): readonly string[] {
  if (outcome.status !== 'agreed') return []
  return votes.flatMap(({ alias, sighting }) =>
    sighting?.kind === 'final' && !outcome.aliases.includes(alias) ? [alias] : [],
  )
}

/** The failure of an endpoint; a parser's error gets the endpoint's alias. @throws any other error, which is a bug */
export function toEndpointFailure(error: unknown, alias: string): EndpointFailure {
  if (error instanceof EndpointFailure) return error
  if (error instanceof UpstreamUnavailableError)
    return new EndpointFailure({ alias, reason: 'bad_answer', cause: error })
  throw error
}
