import type { Hex } from '@causeway/core'
import type { CapJournal } from './capJournal.ts'

/** The most that this process signs of one token within an hour. */
export type TokenCap = {
  readonly chain: string
  readonly currency: string
  readonly amount: bigint
}

/** Caps by hub token id. */
export type CapTable = ReadonlyMap<bigint, TokenCap>

/** Something to be signed that lets value out, once however often it is signed. */
export type CountedValue = {
  /** Idempotency key of the execution, or of the withdrawal that a payload pays. */
  readonly key: Hex
  readonly amounts: ReadonlyMap<bigint, bigint>
}

/** Why something is not signed: a token without a cap, or one whose cap it would pass. */
export type Excess = {
  readonly reason: 'unlisted' | 'cap'
  readonly hubTokenId: bigint
  readonly amount: bigint
}

/** `free`: signed before. `within`: fits. `upper`: fits, and passes half of a cap. */
export type CapVerdict =
  | { readonly kind: 'free' | 'within' | 'upper' }
  | { readonly kind: 'held'; readonly excess: Excess }

/** Signed value per token and hour of this process. Nothing in it waits: to judge and to count is one step. */
export interface SigningCaps {
  /** Without counting anything. */
  judge(value: CountedValue): CapVerdict
  /** Counts it when it fits; nothing changes when it is held. */
  admit(value: CountedValue): CapVerdict
  /** Signs it from now on without counting it: released by the operator, or executed already. */
  exempt(value: CountedValue): void
  /** Counts what another process signed with the same key, whatever the cap says. @param at milliseconds since 1970 */
  count(value: CountedValue, at: number): void
  /** For metrics: what was signed within the window. */
  usage(): readonly (TokenCap & { readonly signed: bigint })[]
}

export type SigningCapsOptions = {
  readonly table: CapTable
  /** False in `local`, where a chain need not name caps. */
  readonly isUnlistedHeld: boolean
  /** Milliseconds since 1970 that never go back while the process runs. */
  readonly now: () => number
  /** Counts of earlier runs come from it, and every count goes to it before anything is signed. */
  readonly journal: CapJournal
  /** Keys that are remembered as signed; what was signed longest ago goes first, and would count anew. */
  readonly rememberedMax: number
}

const minuteMs = 60_000
/**
 * Whole minutes that count beside the present one. Any interval of an hour lies within this minute and the sixty
 * before it, so that no hour, wherever it begins, holds more than the cap.
 */
export const capWindowMinutes = 60

/** Counts so far, wherever they are kept. */
export type CountedSoFar = {
  /** Under the value's key; `undefined` where the key was never signed. */
  readonly known: ReadonlyMap<bigint, bigint> | undefined
  /** Within the window. */
  readonly signedOf: (hubTokenId: bigint) => bigint
}

/**
 * Tells whether a value fits its caps, and what of it was not counted under its key yet: a key may come again with a larger
 * amount. Pure.
 */
export function judgeValue(
  { amounts }: CountedValue,
  { known, signedOf }: CountedSoFar,
  { table, isUnlistedHeld }: Pick<SigningCapsOptions, 'table' | 'isUnlistedHeld'>,
): { readonly verdict: CapVerdict; readonly due: ReadonlyMap<bigint, bigint> } {
  const due = new Map<bigint, bigint>()
  for (const [hubTokenId, amount] of amounts) {
    const rest = amount - (known?.get(hubTokenId) ?? 0n)
    if (rest > 0n) due.set(hubTokenId, rest)
  }
  if (due.size === 0 && known !== undefined) return { verdict: { kind: 'free' }, due }
  let isUpper = false
  for (const [hubTokenId, amount] of due) {
    const held = (reason: Excess['reason']) => ({
      ...{ verdict: { kind: 'held', excess: { reason, hubTokenId, amount } } as const, due },
    })
    const cap = table.get(hubTokenId)
    if (cap === undefined) {
      if (isUnlistedHeld) return held('unlisted')
      continue
    }
    const after = signedOf(hubTokenId) + amount
    if (after > cap.amount) return held('cap')
    if (after * 2n > cap.amount) isUpper = true
  }
  return { verdict: { kind: isUpper ? 'upper' : 'within' }, due }
}

export function createSigningCaps(options: SigningCapsOptions): SigningCaps {
  const { table, now, journal, rememberedMax } = options
  const remembered = new Map<Hex, ReadonlyMap<bigint, bigint>>()
  const minuteNow = () => Math.floor(now() / minuteMs)
  const sums = new MinuteSums(minuteNow)
  const signedOf = (hubTokenId: bigint) => sums.of(hubTokenId)

  function remember(key: Hex, amounts: ReadonlyMap<bigint, bigint>): ReadonlyMap<bigint, bigint> {
    const rememberedValue = remembered.get(key)
    const most = new Map(rememberedValue)
    for (const [hubTokenId, amount] of amounts) {
      if (amount > (most.get(hubTokenId) ?? 0n)) most.set(hubTokenId, amount)
    }
    remembered.delete(key)
    remembered.set(key, most)
    if (remembered.size > rememberedMax) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    return most
  }

  const judged = (value: CountedValue) =>
    judgeValue(value, { known: remembered.get(value.key), signedOf }, options)

  function record(value: CountedValue, minute: number, due: ReadonlyMap<bigint, bigint>): void {
    for (const [hubTokenId, amount] of due) sums.add(minute, hubTokenId, amount)
    journal.append({ minute, counted: due, key: value.key, amounts: remember(value.key, value.amounts) })
  }

  for (const { minute, counted: amounts, key, amounts: moved } of journal.load()) {
    for (const [hubTokenId, amount] of amounts ?? []) sums.add(minute ?? minuteNow(), hubTokenId, amount)
    if (key !== undefined && moved !== undefined) remember(key, moved)
  }
  journal.begin(() => [...sums.entries(), ...[...remembered].map(([key, amounts]) => ({ key, amounts }))])

  return {
    judge: (value) => judged(value).verdict,
    admit(value) {
      const { verdict, due } = judged(value)
      // Asked for again: it stays among what is remembered.
      if (verdict.kind === 'free') remember(value.key, value.amounts)
      else if (verdict.kind !== 'held') record(value, minuteNow(), due)
      return verdict
    },
    exempt({ key, amounts }) {
      journal.append({ key, amounts: remember(key, amounts) })
    },
    count(value, at) {
      const { verdict, due } = judged(value)
      if (verdict.kind !== 'free') record(value, Math.min(Math.floor(at / minuteMs), minuteNow()), due)
    },
    usage: () => [...table].map(([hubTokenId, cap]) => ({ ...cap, signed: signedOf(hubTokenId) })),
  }
}

/** Sliding hour by minutes: at most 61 sums per token, whatever is asked. */
class MinuteSums {
  readonly #minuteNow: () => number
  readonly #byToken = new Map<bigint, Map<number, bigint>>()

  constructor(minuteNow: () => number) {
    this.#minuteNow = minuteNow
  }

  /** A count of a later minute is of a clock that was set back since: it is as new as can be. */
  add(minute: number, hubTokenId: bigint, amount: bigint): void {
    const minutes = this.#byToken.get(hubTokenId) ?? new Map<number, bigint>()
    const at = Math.min(minute, this.#minuteNow())
    minutes.set(at, (minutes.get(at) ?? 0n) + amount)
    this.#byToken.set(hubTokenId, minutes)
  }

  of(hubTokenId: bigint): bigint {
    const minutes = this.#byToken.get(hubTokenId)
    if (minutes === undefined) return 0n
    const oldest = this.#minuteNow() - capWindowMinutes
    let sum = 0n
    for (const [minute, amount] of minutes) {
      if (minute < oldest) minutes.delete(minute)
      else sum += amount
    }
    return sum
  }

  entries() {
    return [...this.#byToken].flatMap(([hubTokenId, minutes]) =>
      [...minutes].map(([minute, amount]) => ({ minute, counted: new Map([[hubTokenId, amount]]) })),
    )
  }
}
