/** A value that is there at once, e.g. in a cache, or else comes later. */
export type MaybePromise<Value> = Value | Promise<Value>

/** What `map` makes of a value: at once, where the value is there at once. */
export function mapMaybe<Value, Result>(
  value: MaybePromise<Value>,
  map: (value: Value) => Result,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(map) : map(value)
}
