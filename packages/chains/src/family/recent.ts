import { LruCache } from '../rpc/lruCache.ts'

/** How long what was found out about an account counts, in milliseconds; far less than a quote lives. */
export const recentMs = {
  /** What its owner changes between two quotes, such as an allowance: as long as a block of the EVM chains beside it. */
  changing: 2_000,
  /** What changes once in the life of an account, or with blocks of minutes: wallets ask for a price every ten seconds. */
  steady: 10_000,
}
const recentMax = 10_000

/**
 * One question about an account serves whoever asks the same soon; what nobody answered is asked again.
 * @param lasts says of what was found that nothing changes it any more: it is not asked again
 */
export function createRecent<Value>(
  now: () => number,
  {
    forMs = recentMs.changing,
    lasts = () => false,
  }: { readonly forMs?: number; readonly lasts?: (found: Value) => boolean } = {},
) {
  type Entry = { readonly found: Promise<Value | undefined>; untilMs: number }
  const known = new LruCache<Entry>(recentMax)
  return (key: string, find: () => Promise<Value | undefined>): Promise<Value | undefined> => {
    const before = known.get(key)
    const atMs = now()
    if (before !== undefined && atMs < before.untilMs) return before.found
    const found = find()
    const entry: Entry = { found, untilMs: atMs + forMs }
    known.set(key, entry)
    void found.then((value) => {
      if (value !== undefined) {
        if (lasts(value)) entry.untilMs = Number.POSITIVE_INFINITY
      } else if (known.get(key) === entry) known.delete(key)
    })
    return found
  }
}
