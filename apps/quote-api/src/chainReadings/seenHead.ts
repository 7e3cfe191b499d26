/** The newest height of one chain that any reader of this process saw, so that another one need not ask for it. */
export interface SeenHead {
  note(head: bigint): void
  /** The head that was seen last; undefined if that was longer ago than so many milliseconds. */
  within(ageMs: number): bigint | undefined
  /** Calls back with each height above all before it. */
  listen(onNewer: () => void): void
}

/** @param now milliseconds of a clock that never goes back */
export function createSeenHead(now: () => number = () => performance.now()): SeenHead {
  let seen: { readonly head: bigint; readonly atMs: number } | undefined
  let highest = -1n
  const listeners: (() => void)[] = []
  return {
    note(head) {
      seen = { head, atMs: now() }
      if (head <= highest) return
      highest = head
      for (const onNewer of listeners) onNewer()
    },
    within: (ageMs) => (seen !== undefined && now() - seen.atMs <= ageMs ? seen.head : undefined),
    listen(onNewer) {
      listeners.push(onNewer)
    },
  }
}
