import { LRUCache } from 'lru-cache'

export type LruCache<Value extends NonNullable<unknown>> = LRUCache<string, Value>

/**
 * Keeps the entries used last, up to the sum of their sizes: memory stays bounded whatever callers ask for. The library
 * is told no number of entries, for which it would reserve memory at once: 230 KiB for ten thousand.
 * @param sizeOf a whole number from 1 on; by default each entry counts as one. One larger than all may be is not kept
 */
export function createLruCache<Value extends NonNullable<unknown>>(
  sizeMax: number,
  sizeOf: (value: Value) => number = () => 1,
): LruCache<Value> {
  return new LRUCache({ maxSize: sizeMax, sizeCalculation: sizeOf })
}
