import { type Deadline, UpstreamUnavailableError } from '@causeway/core'
import { EndpointFailure } from './endpointFailure.ts'
import { createRendezvous } from './rendezvous.ts'
import { type QuorumOutcome, type Sighting, type SightingVote, tallySightings } from './sighting.ts'
import type { Electorate } from './tally.ts'

export type QuorumQuestion<Source, First, Pin, Facts> = {
  readonly sources: readonly Source[]
  /** The sources by alias, and how many voices must see equal facts. */
  readonly electorate: Electorate
  /** First reading of a source by itself: its heads, a receipt. */
  readonly first: (source: Source, signal: AbortSignal) => Promise<First>
  /** The one height all are then asked at, from what at least `threshold` of them see. Pure. */
  readonly pin: (firsts: readonly First[]) => Pin
  /** Reading of a source at the chosen height. */
  readonly second: (source: Source, first: First, pin: Pin, signal: AbortSignal) => Promise<Sighting<Facts>>
  readonly key?: (facts: Facts) => string
  /** True where the block of another source's facts is on this source's chain; absent where nodes name none. */
  readonly confirms?: (source: Source, facts: Facts, signal: AbortSignal) => Promise<boolean>
  /** Milliseconds that late sources have left to take part in the choice of the height. */
  readonly patienceMs: number
  /** Deadline of the whole reading; it ends with the reading, so that no call stays open. */
  readonly deadline: Deadline
}

export type QuorumReading<Facts> = {
  readonly outcome: QuorumOutcome<Facts>
  /** Why sources gave no usable answer. */
  readonly failures: readonly EndpointFailure[]
  /** Aliases of sources that had other facts than those that were agreed, as far as they had been heard. */
  readonly outvoted: readonly string[]
}

/** Time for a late source to show a transaction that enough others, which may be pruned, do not find. */
const shownWithinMs = 1_000

/**
 * Asks every source by itself, each from its own view, all at one pinned height, and settles on the first
 * outcome that no missing vote can change; calls still out are aborted. A source that fails counts against
 * the threshold. Rejects only on a bug: whatever a source does is a vote or the lack of one.
 * @source rule P-107
 */
export function readByQuorum<Source extends { readonly alias: string }, First, Pin, Facts>(
  question: QuorumQuestion<Source, First, Pin, Facts>,
): Promise<QuorumReading<Facts>> {
  const { sources, electorate, first, pin, second, key, patienceMs } = question
  const voiceOf = voicesByAlias(electorate)
  const { signal } = question.deadline
  const pinned = createRendezvous({
    expected: sources.length,
    needed: electorate.threshold,
    patienceMs,
    choose: pin,
  })
  const votes: SightingVote<Facts>[] = []
  const failures: EndpointFailure[] = []

  async function see(source: Source, voice: string): Promise<Sighting<Facts> | undefined> {
    let arrived = false
    try {
      const own = await first(source, signal)
      arrived = true
      const height = await pinned.arrive(own, voice)
      return height === undefined ? undefined : await second(source, own, height.pin, signal)
    } catch (error) {
      if (!arrived) pinned.fail()
      failures.push(toEndpointFailure(error, source.alias))
      return undefined
    }
  }

  let late: NodeJS.Timeout | undefined
  return new Promise<QuorumReading<Facts>>((resolve, reject) => {
    const finish = (outcome: QuorumOutcome<Facts>) => {
      // A copy: what is aborted from here on did not fail.
      const reading = { failures: [...failures], outvoted: outvotedBy(outcome, votes) }
      withConfirmation(outcome, question).then((judged) => resolve({ outcome: judged, ...reading }), reject)
    }
    for (const source of sources) {
      const { alias } = source
      const voice = voiceOf.get(alias) ?? alias
      see(source, voice)
        .then((sighting) => {
          votes.push({ alias, voice, sighting })
          const outcome = tallySightings(votes, electorate, key)
          if (outcome === undefined) return
          const isMissing = outcome.status === 'refused' && outcome.reason === 'missing'
          const mayBeShown = question.confirms !== undefined && votes.length < sources.length
          if (!isMissing || !mayBeShown) finish(outcome)
          else late ??= setTimeout(finish, shownWithinMs, outcome)
        })
        .catch(reject)
    }
  }).finally(() => {
    clearTimeout(late)
    question.deadline.end()
    pinned.close()
  })
}

/**
 * Outcome after a transaction was not found by enough sources and shown by one: no refusal if enough sources have the
 * block of the shown one on their chain. @source F-83
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
      const isOn = await confirms(source, shown, deadline.signal).catch(() => false)
      return isOn ? [voiceOf.get(source.alias) ?? source.alias] : []
    }),
  )
  const isThere = new Set(confirmed.flat()).size >= electorate.threshold
  return isThere ? { status: 'disagreed', groups: 2 } : outcome
}

const voicesByAlias = ({ voters }: Electorate) => new Map(voters.map(({ alias, voice }) => [alias, voice]))

/** A source that lags sees nothing final yet: that is no other answer. */
function outvotedBy<Facts>(
  outcome: QuorumOutcome<Facts>,
  votes: readonly SightingVote<Facts>[],
): readonly string[] {
  if (outcome.status !== 'agreed') return []
  return votes.flatMap(({ alias, sighting }) =>
    sighting?.kind === 'final' && !outcome.aliases.includes(alias) ? [alias] : [],
  )
}

/** Parsers refuse without knowing whose answer they read. @throws what is no fault of an endpoint: a bug */
export function toEndpointFailure(error: unknown, alias: string): EndpointFailure {
  if (error instanceof EndpointFailure) return error
  if (error instanceof UpstreamUnavailableError)
    return new EndpointFailure({ alias, reason: 'bad_answer', cause: error })
  throw error
}
