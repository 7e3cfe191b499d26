const rememberedMax = 20_000

/**
 * Memoizes a value that follows from its key alone. Memory stays bounded by `max` entries, whatever callers ask for.
 */
export function remembered<Value>(
  cache: Map<string, Value>,
  key: string,
  find: () => Value,
  max = rememberedMax,
): Value {
  const before = cache.get(key)
  if (before !== undefined) return before
  const value = find()
  if (cache.size >= max) cache.clear()
  cache.set(key, value)
  return value
}
