/** The last `capacity` values, in the order in which they came. */
export type Ring<T> = {
  push(value: T): void
  newest(): T | undefined
  oldestFirst(): readonly T[]
}

/** @throws RangeError unless the capacity is a positive integer */
export function createRing<T>(capacity: number): Ring<T> {
  if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError('a ring holds at least one value')
  const values: T[] = []
  let next = 0
  return {
    push(value) {
      values[next] = value
      next = (next + 1) % capacity
    },
    newest: () => values[(next + capacity - 1) % capacity],
    oldestFirst: () =>
      values.length < capacity ? [...values] : [...values.slice(next), ...values.slice(0, next)],
  }
}
