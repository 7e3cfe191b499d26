import { canonicalJson } from '../rpc/canonicalJson.ts'

/** Why a question has no facts, as one endpoint sees it. */
export type RefusalReason = 'missing' | 'reverted' | 'too_large'

/** What one endpoint's own view says about one question. */
export type Sighting<Facts> =
  | { readonly kind: 'final'; readonly facts: Facts }
  /** Seen, but the chain may still drop it. */
  | { readonly kind: 'not_final'; readonly waitSeconds: number }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

export type SightingVote<Facts> = {
  readonly alias: string
  /** `undefined`: no usable answer. Still counts in the number of configured endpoints. */
  readonly sighting: Sighting<Facts> | undefined
}

export type QuorumOutcome<Facts> =
  | { readonly status: 'agreed'; readonly facts: Facts; readonly aliases: readonly string[] }
  | { readonly status: 'not_final'; readonly waitSeconds: number }
  | { readonly status: 'refused'; readonly reason: RefusalReason }
  /** Endpoints contradict each other, and nothing has the threshold. */
  | { readonly status: 'disagreed'; readonly groups: number }
  /** No contradiction seen, but too few answered. */
  | { readonly status: 'silent' }

export type SightingTally<Facts> = {
  readonly configured: number
  readonly threshold: number
  /** Equal text for equal facts; default all of them. */
  readonly key?: ((facts: Facts) => string) | undefined
}

/**
 * Counts equal facts against a threshold of the configured endpoints; `undefined` while votes that are
 * still out can change the result. Endpoints whose heads differ see one transaction as final and as not
 * final: that is no contradiction, the answer is "not final yet". Final facts come before everything else,
 * so that a refusal is said only when no missing vote can make facts of it.
 * @source ledger-and-safety.md 4.3; design.md 7.3, 7.5
 */
export function tallySightings<Facts>(
  votes: readonly SightingVote<Facts>[],
  tally: SightingTally<Facts>,
): QuorumOutcome<Facts> | undefined {
  const { configured, threshold, key = canonicalJson } = tally
  const open = configured - votes.length
  const seen = votes.flatMap(({ alias, sighting }) => (sighting === undefined ? [] : [{ alias, sighting }]))
  const groups = groupFacts(seen, key)
  const [largest] = [...groups].sort((a, b) => b.aliases.length - a.aliases.length)
  const most = largest?.aliases.length ?? 0
  if (largest !== undefined && most >= threshold) return { status: 'agreed', ...largest }
  if (most + open >= threshold) return undefined
  return withoutFacts(seen, { threshold, open, groups: groups.length, most })
}

type FactsGroup<Facts> = { readonly facts: Facts; readonly aliases: readonly string[] }
type Seen<Facts> = { readonly alias: string; readonly sighting: Sighting<Facts> }

function groupFacts<Facts>(
  seen: readonly Seen<Facts>[],
  key: (facts: Facts) => string,
): readonly FactsGroup<Facts>[] {
  const final = seen.flatMap(({ alias, sighting }) =>
    sighting.kind === 'final' ? [{ alias, facts: sighting.facts }] : [],
  )
  const [only] = final
  // The usual case on a chain with one endpoint: nothing to compare with.
  if (final.length === 1 && only !== undefined) return [{ facts: only.facts, aliases: [only.alias] }]
  const groups = new Map<string, { facts: Facts; aliases: string[] }>()
  for (const { alias, facts } of final) {
    const text = key(facts)
    const group = groups.get(text) ?? { facts, aliases: [] }
    group.aliases.push(alias)
    groups.set(text, group)
  }
  return [...groups.values()]
}

/** What is left to say when no facts can get the threshold any more. */
function withoutFacts<Facts>(
  seen: readonly Seen<Facts>[],
  count: {
    readonly threshold: number
    readonly open: number
    readonly groups: number
    readonly most: number
  },
): QuorumOutcome<Facts> | undefined {
  const { threshold, open, groups, most } = count
  const refusals = countReasons(seen)
  for (const [reason, number] of refusals) if (number >= threshold) return { status: 'refused', reason }

  const waits = seen.flatMap(({ sighting }) => (sighting.kind === 'not_final' ? [sighting.waitSeconds] : []))
  // An endpoint that lags has not seen the transaction at all.
  const unfinal = waits.length > 0 ? waits.length + most + (refusals.get('missing') ?? 0) : 0
  if (unfinal >= threshold) return { status: 'not_final', waitSeconds: Math.max(...waits) }

  const nearest = Math.max(unfinal, 0, ...refusals.values())
  if (open > 0 && nearest + open >= threshold) return undefined
  const kinds = groups + refusals.size + (waits.length > 0 ? 1 : 0)
  return kinds > 1 ? { status: 'disagreed', groups: kinds } : { status: 'silent' }
}

function countReasons<Facts>(seen: readonly Seen<Facts>[]): ReadonlyMap<RefusalReason, number> {
  const counts = new Map<RefusalReason, number>()
  for (const { sighting } of seen) {
    if (sighting.kind === 'refused') counts.set(sighting.reason, (counts.get(sighting.reason) ?? 0) + 1)
  }
  return counts
}
