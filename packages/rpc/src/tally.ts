import { comparisonText } from './comparisonText.ts'

/**
 * Default number of voices that must agree: ceil(2n/3) of the configured ones.
 * @source docs/operating/configuration.md, Endpoints of a chain
 */
export function defaultThreshold(voices: number): number {
  return Math.ceil((2 * voices) / 3)
}

/** One endpoint. Endpoints of one host are one voice: they have one vote together. */
export type Voter = { readonly alias: string; readonly voice: string }

/** Endpoints that are asked, and the number of voices that must agree. */
export type Electorate = { readonly voters: readonly Voter[]; readonly threshold: number }

/** Number of voices in an electorate. */
export function countVoices(voters: readonly Pick<Voter, 'voice'>[]): number {
  return new Set(voters.map(({ voice }) => voice)).size
}

/** One endpoint's answer. */
export type Vote<Value> = Voter & {
  /** `undefined`: no usable answer. Its voice still counts in the number of configured ones. */
  readonly value: Value | undefined
}

/** One value of each voice, from the first of its endpoints that has one. */
export function valuesByVoice<Value>(votes: readonly Vote<Value>[]): readonly Value[] {
  const values = new Map<string, Value>()
  for (const { voice, value } of votes)
    if (value !== undefined && !values.has(voice)) values.set(voice, value)
  return [...values.values()]
}

/** Votes for one value. */
export type VoteGroup<Value> = {
  readonly value: Value
  readonly aliases: readonly string[]
  readonly voices: ReadonlySet<string>
}

/** Result of counting votes. */
export type Verdict<Value> =
  | ({ readonly status: 'agreed' } & VoteGroup<Value>)
  /** More votes can still decide. */
  | { readonly status: 'open' }
  /** Endpoints contradict each other, and no missing vote can bring an answer to the threshold. `groups`: answers. */
  | { readonly status: 'disagreed'; readonly groups: number }
  /** No contradiction seen, but too few answered. */
  | { readonly status: 'silent' }

/**
 * Counts voices with equal values against the threshold, which is a number of the configured voices: endpoints that
 * fail do not lower it.
 * @param key text that is equal for equal values
 * @source rule P-107
 */
export function tally<Value>(
  votes: readonly Vote<Value>[],
  electorate: Electorate,
  key: (value: Value) => string = comparisonText,
): Verdict<Value> {
  const { threshold } = electorate
  const groups = groupVotes(votes, key)
  const [largest] = groups
  if (largest !== undefined && largest.voices.size >= threshold) return { status: 'agreed', ...largest }
  if (canStillReach(groups, votes, electorate)) return { status: 'open' }
  return groups.length > 1 ? { status: 'disagreed', groups: groups.length } : { status: 'silent' }
}

/** Groups votes of equal values, the group with the most voices first. */
export function groupVotes<Value>(
  votes: readonly Vote<Value>[],
  key: (value: Value) => string,
): readonly VoteGroup<Value>[] {
  const groups = new Map<string, { value: Value; aliases: string[]; voices: Set<string> }>()
  for (const { alias, voice, value } of votes) {
    if (value === undefined) continue
    const text = key(value)
    const group = groups.get(text) ?? { value, aliases: [], voices: new Set<string>() }
    group.aliases.push(alias)
    group.voices.add(voice)
    groups.set(text, group)
  }
  return [...groups.values()].sort((a, b) => b.voices.size - a.voices.size)
}

/** True while missing votes could bring one of the groups, or a new one, to the threshold. */
export function canStillReach(
  groups: readonly { readonly voices: ReadonlySet<string> }[],
  votes: readonly { readonly alias: string }[],
  { voters, threshold }: Electorate,
): boolean {
  const voted = new Set(votes.map(({ alias }) => alias))
  const pending = new Set(voters.filter(({ alias }) => !voted.has(alias)).map(({ voice }) => voice))
  if (pending.size === 0) return false
  return [new Set<string>(), ...groups.map(({ voices }) => voices)].some(
    (voices) => union(voices, pending).size >= threshold,
  )
}

export function union<Item>(...sets: readonly ReadonlySet<Item>[]): ReadonlySet<Item> {
  return new Set(sets.flatMap((set) => [...set]))
}

/** The highest value that at least `position` of the values reach: the `position`th highest; -1 if there are fewer. */
export function reachedBy(position: number, values: readonly bigint[]): bigint {
  return [...values].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0))[position - 1] ?? -1n
}
