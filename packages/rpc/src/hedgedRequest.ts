/**
 * The first success of several attempts to get the same answer. The next attempt starts when the one before it has
 * failed, or has been silent for `staggerMs` (it goes on beside the next one). A success aborts the others.
 * @throws AggregateError of every failure, in the order of the attempts
 */
export function hedgedRequest<T>(
  attempts: readonly ((signal: AbortSignal) => Promise<T>)[],
  options: { readonly staggerMs: number; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController()
    const failures = new Array<unknown>(attempts.length)
    let started = 0
    let failed = 0
    let timer: NodeJS.Timeout | undefined
    const giveUp = () => controller.abort(options.signal?.reason)
    options.signal?.addEventListener('abort', giveUp, { once: true })

    const settle = (finish: () => void) => {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', giveUp)
      finish()
    }
    const startNext = () => {
      clearTimeout(timer)
      const position = started
      const attempt = attempts[position]
      if (attempt === undefined) return
      started += 1
      if (started < attempts.length) timer = setTimeout(startNext, options.staggerMs)
      attempt(controller.signal).then(
        (value) =>
          settle(() => {
            resolve(value)
            controller.abort()
          }),
        (failure: unknown) => {
          failures[position] = failure
          failed += 1
          if (failed === attempts.length) settle(() => reject(new AggregateError(failures)))
          // If an earlier attempt fails, nothing starts: its successor is under way already.
          else if (position === started - 1 && !controller.signal.aborted) startNext()
          // After the caller's abort no further attempt starts, so the last failure ends it.
          else if (controller.signal.aborted && failed === started) {
            settle(() => reject(new AggregateError(failures.filter((one) => one !== undefined))))
          }
        },
      )
    }
    if (attempts.length === 0) reject(new AggregateError([]))
    else startNext()
  })
}
