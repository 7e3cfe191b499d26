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

/** The value that a signature lets out. It leaves once per key, however often the key is signed. */
export type CountedValue = {
  /** Idempotency key of the execution, or of the withdrawal that a payload pays. */
  readonly key: Hex
  /** In smallest units, by hub token id. */
  readonly amounts: ReadonlyMap<bigint, bigint>
}

/** Why a value is held: `unlisted`: its token has no cap; `cap`: it would pass the token's cap. */
export type Excess = {
  readonly reason: 'unlisted' | 'cap'
  readonly hubTokenId: bigint
  readonly amount: bigint
}

/**
 * `free`: counted before. `within`: fits. `upper`: fits, and uses more than half of a cap, so a caller may
 * first look whether the hub has executed it already. `held`: not to be signed.
 */
export type CapVerdict =
  | { readonly kind: 'free' | 'within' | 'upper' }
  | { readonly kind: 'held'; readonly excess: Excess }

/**
 * Counts the value that this process signs per token and hour, and holds what would pass a cap. All methods
 * are synchronous, so that two requests cannot both fit into the same remainder of a cap. For each key the
 * largest amounts that were counted or exempted are remembered: up to those it is signed again without
 * counting.
 */
export interface SigningCaps {
  /** The verdict alone, without counting. */
  judge(value: CountedValue): CapVerdict
  /** Counts a value that fits; a held one changes nothing. Call it right before signing. */
  admit(value: CountedValue): CapVerdict
  /** Lets a value be signed from now on without counting: the operator released it, or the hub executed it. */
  exempt(value: CountedValue): void
  /** Counts what another process signed with the same key, even above the cap. @param at milliseconds since 1970 */
  count(value: CountedValue, at: number): void
  /** Each cap with the amount that was signed within the window, for metrics. */
  usage(): readonly (TokenCap & { readonly signed: bigint })[]
}

export type SigningCapsOptions = {
  readonly table: CapTable
  /** True to hold tokens without a cap; false in `local`, where a chain need not name caps. */
  readonly isUnlistedHeld: boolean
  /** Milliseconds since 1970 that never go back while the process runs. */
  readonly now: () => number
  /** Gives the counts of earlier runs, and takes every count before its signature. */
  readonly journal: CapJournal
  /** Most signed keys that are remembered. The least recently signed is forgotten first, and would be counted anew. */
  readonly rememberedMax: number
}

const minuteMs = 60_000
/**
 * Number of minutes that count beside the current one. Every interval of an hour that ends now lies within these 61
 * minutes, so no hour, wherever it begins, holds more than the cap.
 */
export const capWindowMinutes = 60

/** Counts so far, from this process's memory or from a shared database. */
export type CountedSoFar = {
  /** Amounts counted under the value's key; `undefined` where the key was never signed. */
  readonly countedForKey: ReadonlyMap<bigint, bigint> | undefined
  /** Amount of a token that was signed within the window. */
  readonly signedOf: (hubTokenId: bigint) => bigint
}

type CapRules = Pick<SigningCapsOptions, 'table' | 'isUnlistedHeld'>

/**
 * Tells whether a value fits its caps. `due` is the part that was not counted under its key yet: a key may be signed
 * again with larger amounts, and then only the difference counts. Pure.
 */
export function judgeValue(
  { amounts }: CountedValue,
  { countedForKey, signedOf }: CountedSoFar,
  rules: CapRules,
): { readonly verdict: CapVerdict; readonly due: ReadonlyMap<bigint, bigint> } {
  const due = new Map<bigint, bigint>()
  for (const [hubTokenId, amount] of amounts) {
    const uncounted = amount - (countedForKey?.get(hubTokenId) ?? 0n)
    if (uncounted > 0n) due.set(hubTokenId, uncounted)
  }
  // A new key is never `free`, even with nothing to count: it has to be remembered.
  const isCounted = due.size === 0 && countedForKey !== undefined
  return { verdict: isCounted ? { kind: 'free' } : judgeDue(due, signedOf, rules), due }
}

/** Verdict on amounts that would be counted beside those signed within the window; the first that fits no cap decides. */
function judgeDue(
  due: ReadonlyMap<bigint, bigint>,
  signedOf: CountedSoFar['signedOf'],
  { table, isUnlistedHeld }: CapRules,
): CapVerdict {
  let isUpper = false
  for (const [hubTokenId, amount] of due) {
    const cap = table.get(hubTokenId)
    if (cap === undefined) {
      if (isUnlistedHeld) return { kind: 'held', excess: { reason: 'unlisted', hubTokenId, amount } }
      continue
    }
    const signedAfter = signedOf(hubTokenId) + amount
    if (signedAfter > cap.amount) return { kind: 'held', excess: { reason: 'cap', hubTokenId, amount } }
    if (signedAfter * 2n > cap.amount) isUpper = true
  }
  return { kind: isUpper ? 'upper' : 'within' }
}

export function createSigningCaps(options: SigningCapsOptions): SigningCaps {
  const { table, now, journal, rememberedMax } = options
  /** Counted amounts by key, the least recently signed first. */
  const remembered = new Map<Hex, ReadonlyMap<bigint, bigint>>()
  const minuteNow = () => Math.floor(now() / minuteMs)
  const sums = new MinuteSums(minuteNow)
  const signedOf = (hubTokenId: bigint) => sums.of(hubTokenId)

  /** Remembers the largest amounts of a key and makes it the most recent one. */
  function remember(key: Hex, amounts: ReadonlyMap<bigint, bigint>): ReadonlyMap<bigint, bigint> {
    const largest = new Map(remembered.get(key))
    for (const [hubTokenId, amount] of amounts) {
      if (amount > (largest.get(hubTokenId) ?? 0n)) largest.set(hubTokenId, amount)
    }
    remembered.delete(key)
    remembered.set(key, largest)
    if (remembered.size > rememberedMax) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    return largest
  }

  const judgeCounted = (value: CountedValue) =>
    judgeValue(value, { countedForKey: remembered.get(value.key), signedOf }, options)

  /** Counts `due` in a minute and remembers the key, both before `append`, which may rewrite the file. */
  function record(value: CountedValue, minute: number, due: ReadonlyMap<bigint, bigint>): void {
    for (const [hubTokenId, amount] of due) sums.add(minute, hubTokenId, amount)
    journal.append({ minute, counted: due, key: value.key, amounts: remember(value.key, value.amounts) })
  }

  for (const { minute, counted, key, amounts } of journal.load()) {
    // Amounts without their minute count as signed now, which never lets more be signed.
    for (const [hubTokenId, amount] of counted ?? []) sums.add(minute ?? minuteNow(), hubTokenId, amount)
    if (key !== undefined && amounts !== undefined) remember(key, amounts)
  }
  // The journal rewrites its file with these few entries, now and whenever it has grown too long.
  journal.begin(() => [...sums.entries(), ...[...remembered].map(([key, amounts]) => ({ key, amounts }))])

  return {
    judge: (value) => judgeCounted(value).verdict,
    admit(value) {
      const { verdict, due } = judgeCounted(value)
      // Signed again: the key becomes the most recent one, so that it is not forgotten.
      if (verdict.kind === 'free') remember(value.key, value.amounts)
      else if (verdict.kind !== 'held') record(value, minuteNow(), due)
      return verdict
    },
    exempt({ key, amounts }) {
      journal.append({ key, amounts: remember(key, amounts) })
    },
    count(value, at) {
      const { verdict, due } = judgeCounted(value)
      if (verdict.kind !== 'free') record(value, Math.min(Math.floor(at / minuteMs), minuteNow()), due)
    },
    usage: () => [...table].map(([hubTokenId, cap]) => ({ ...cap, signed: signedOf(hubTokenId) })),
  }
}

/** Signed amounts of the sliding hour, summed by minute: at most 61 sums per token. */
class MinuteSums {
  readonly #minuteNow: () => number
  readonly #byToken = new Map<bigint, Map<number, bigint>>()

  constructor(minuteNow: () => number) {
    this.#minuteNow = minuteNow
  }

  /** A minute in the future, from before the clock was set back, is taken for the current one. */
  add(minute: number, hubTokenId: bigint, amount: bigint): void {
    const minutes = this.#byToken.get(hubTokenId) ?? new Map<number, bigint>()
    const pastMinute = Math.min(minute, this.#minuteNow())
    minutes.set(pastMinute, (minutes.get(pastMinute) ?? 0n) + amount)
    this.#byToken.set(hubTokenId, minutes)
  }

  /** Sum within the window; drops older minutes. */
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
