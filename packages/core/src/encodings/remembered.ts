const rememberedMax = 20_000

/** What follows from a key alone is found once. Memory stays bounded by `max`, whatever callers ask for. */
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
