import { LRUCache } from 'lru-cache'

export type LruCache<Value extends NonNullable<unknown>> = LRUCache<string, Value>

/**
 * A cache that keeps the most recently used entries, up to a sum of their sizes. The library gets no number of entries,
 * since it would reserve memory for them at once (230 KiB for ten thousand).
 * @param sizeOf a whole number from 1 on; by default 1. An entry larger than `sizeMax` is not kept
 */
export function createLruCache<Value extends NonNullable<unknown>>(
  sizeMax: number,
  sizeOf: (value: Value) => number = () => 1,
): LruCache<Value> {
  return new LRUCache({ maxSize: sizeMax, sizeCalculation: sizeOf })
}
