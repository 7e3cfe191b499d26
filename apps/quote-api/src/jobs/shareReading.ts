/** Callers at the same time share one reading; the next caller after it begins another. */
export function shareReading<T>(read: () => Promise<T>): () => Promise<T> {
  let underway: Promise<T> | undefined
  return () => {
    underway ??= read().finally(() => {
      underway = undefined
    })
    return underway
  }
}
