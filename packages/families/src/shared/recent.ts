import { createLruCache } from '@causeway/rpc'

/** Milliseconds that facts about an account are cached; far less than a quote lives. */
export const recentMs = {
  /**
   * Facts that the owner changes between two quotes, such as an allowance: as long as a block of the EVM chains beside
   * it.
   */
  changing: 2_000,
  /**
   * Facts that change once in the life of an account, or with blocks of minutes: wallets ask for a price every ten
   * seconds.
   */
  steady: 10_000,
}
const recentMax = 10_000

/**
 * One question about an account serves whoever asks the same soon; what nobody answered is asked again.
 * @param weightOf as how many of the ten thousand that are kept it counts; at least as one
 * @param lasts says of what was found that nothing changes it any more: it is not asked again
 */
export function createRecent<Value>(
  now: () => number,
  {
    forMs = recentMs.changing,
    lasts = () => false,
    weightOf = () => 1,
  }: {
    readonly forMs?: number
    readonly lasts?: (result: Value) => boolean
    readonly weightOf?: (result: Value) => number
  } = {},
) {
  type Entry = { readonly found: Promise<Value | undefined>; untilMs: number }
  const cache = createLruCache<Entry>(recentMax)
  return (key: string, find: () => Promise<Value | undefined>): Promise<Value | undefined> => {
    const before = cache.get(key)
    const atMs = now()
    if (before !== undefined && atMs < before.untilMs) return before.found
    const lookup = find()
    const entry: Entry = { found: lookup, untilMs: atMs + forMs }
    cache.set(key, entry)
    void lookup.then((value) => {
      if (cache.peek(key) !== entry) return
      // The size of an entry that is there is never counted anew.
      cache.delete(key)
      if (value === undefined) return
      if (lasts(value)) entry.untilMs = Number.POSITIVE_INFINITY
      cache.set(key, entry, { size: Math.max(1, weightOf(value)) })
    })
    return lookup
  }
}
