const rememberedMax = 20_000

/**
 * Memoizes a value that follows from its key alone. Memory stays bounded by `max` entries, whatever callers ask for.
 */
export function remembered<Value>(
  known: Map<string, Value>,
  key: string,
  find: () => Value,
  max = rememberedMax,
): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  const found = find()
  if (known.size >= max) known.clear()
  known.set(key, found)
  return found
}
