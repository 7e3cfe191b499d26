/** A value that is there at once, e.g. in a cache, or else comes later. */
export type MaybePromise<Value> = Value | Promise<Value>

/** Maps a value: at once, where it is there at once. */
export function mapMaybe<Value, Result>(
  value: MaybePromise<Value>,
  map: (value: Value) => Result,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(map) : map(value)
}

/** Maps several values together: at once, where all are there at once. */
export function mapAllMaybe<const Values extends readonly unknown[], Result>(
  values: Values,
  map: (values: { readonly [Index in keyof Values]: Awaited<Values[Index]> }) => Result,
): MaybePromise<Result> {
  if (values.some((value) => value instanceof Promise)) return Promise.all(values).then(map)
  // CAST: none of them is a promise.
  return map(values as { readonly [Index in keyof Values]: Awaited<Values[Index]> })
}
