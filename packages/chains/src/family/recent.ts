import { LruCache } from '../rpc/lruCache.ts'

/**
 * How long what was found out about an account counts: as long as a block of the EVM chains beside it, and far less
 * than a quote lives, in which its owner may change it as well.
 */
const recentMs = 2_000
const recentMax = 10_000

/**
 * One question about an account serves whoever asks the same soon; what nobody answered is asked again.
 * @param lasts says of what was found that nothing changes it any more: it is not asked again
 */
export function createRecent<Value>(now: () => number, lasts: (found: Value) => boolean = () => false) {
  type Entry = { readonly found: Promise<Value | undefined>; untilMs: number }
  const known = new LruCache<Entry>(recentMax)
  return (key: string, find: () => Promise<Value | undefined>): Promise<Value | undefined> => {
    const before = known.get(key)
    const atMs = now()
    if (before !== undefined && atMs < before.untilMs) return before.found
    const found = find()
    const entry: Entry = { found, untilMs: atMs + recentMs }
    known.set(key, entry)
    void found.then((value) => {
      if (value !== undefined) {
        if (lasts(value)) entry.untilMs = Number.POSITIVE_INFINITY
      } else if (known.get(key) === entry) known.delete(key)
    })
    return found
  }
}
