import type { MaybePromise } from '@causeway/core'
import { createLruCache } from '@causeway/rpc'

/** Milliseconds that facts about an account are cached; far less than a quote lives. */
export const recentMs = {
  /** Facts that the owner may change between two quotes, such as an allowance: about a block of EVM chains. */
  changing: 2_000,
  /** Facts that rarely change, such as whether an account exists; wallets ask for a price every ten seconds. */
  steady: 10_000,
  /** That a token lets an account be paid: its issuer blocks few accounts, and the payer tries again before it pays. */
  accepted: 45_000,
}
const recentMax = 10_000

/**
 * A cache of lookups about accounts: equal questions within a short time share one lookup. A result of `undefined` is
 * not kept, so that the question is asked again.
 * @param options.forMs milliseconds that a result is kept; `Infinity` for one that can no longer change
 * @param options.weightOf number of the cache's ten thousand places that a result takes; at least one
 * @returns a function that takes the question as a key, and the lookup, which must not reject; a result that is kept is
 * there at once
 */
export function createRecent<Value>(
  now: () => number,
  {
    forMs = () => recentMs.changing,
    weightOf = () => 1,
  }: {
    readonly forMs?: (result: Value) => number
    readonly weightOf?: (result: Value) => number
  } = {},
) {
  type Entry = { lookup: MaybePromise<Value | undefined>; untilMs: number }
  const cache = createLruCache<Entry>(recentMax)
  return (key: string, find: () => Promise<Value | undefined>): MaybePromise<Value | undefined> => {
    const cachedEntry = cache.get(key)
    const askedAtMs = now()
    if (cachedEntry !== undefined && askedAtMs < cachedEntry.untilMs) return cachedEntry.lookup
    const lookup = find()
    // A lookup under way is shared, but not one that never ends.
    const entry: Entry = { lookup, untilMs: askedAtMs + recentMs.steady }
    cache.set(key, entry)
    void lookup.then((value) => {
      // A newer lookup of the same key may have taken the place.
      if (cache.peek(key) !== entry) return
      // The entry is deleted and added again, because the cache counts its size only when it is added.
      cache.delete(key)
      if (value === undefined) return
      entry.untilMs = askedAtMs + forMs(value)
      entry.lookup = value
      cache.set(key, entry, { size: Math.max(1, weightOf(value)) })
    })
    return lookup
  }
}
