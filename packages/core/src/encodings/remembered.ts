const rememberedMax = 20_000

/**
 * Memoizes a pure function of `key` in `cache`. Callers of a service may choose the keys, so memory is bounded: a cache
 * with `max` entries is emptied before the next one.
 */
export function getOrCompute<Value>(
  cache: Map<string, Value>,
  key: string,
  compute: () => Value,
  max = rememberedMax,
): Value {
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const value = compute()
  if (cache.size >= max) cache.clear()
  cache.set(key, value)
  return value
}
