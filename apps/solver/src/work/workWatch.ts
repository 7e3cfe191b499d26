import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkSource } from './workClient.ts'
import type { WorkItem } from './workItems.ts'

/** Work as it is told of, and where it is not, as it is asked for. */
export type WorkWatch = {
  /** Open items, oldest first: as they were told of just now, else as the service lists them. */
  open(): Promise<readonly WorkItem[]>
  /** Whether the service holds a question of this solver, so that whatever it offers is heard of. */
  isTold(): boolean
  close(): Promise<void>
}

/** The service holds a question for 25 s at most. */
const waitMs = 20_000
const limits = {
  /** Between an answer and the next question, whatever the answer. */
  leastMs: 100,
  /** After an answer that came early and brought nothing, or none; twice as long after each further one. */
  firstPauseMs: 1_000,
  pauseMaxMs: 15_000,
  /** Until a release that holds nothing is asked whether it does by now. */
  olderReleaseMs: 60_000,
  /** What was told so long ago is asked for anew. */
  freshMs: 1_000,
}

/**
 * Has a question waiting at the service, and tells of each answer that has something new. The service may answer what it
 * likes: it is asked once in `leastMs` at most, and each item is judged like any other.
 */
export function watchWork(options: {
  readonly work: Pick<WorkSource, 'open' | 'offered'>
  readonly onTold: () => void
  readonly nowMs: () => number
}): WorkWatch {
  const { work, onTold, nowMs } = options
  const closing = new AbortController()
  const { signal } = closing
  let known: string | undefined
  let isHeld = false
  let pauseMs = limits.firstPauseMs
  let told: { readonly items: readonly WorkItem[]; readonly atMs: number } | undefined
  /** Whether anything was open when it was listed last: then it is asked for by the clock, too. */
  let hasOpen = true
  let tellings = 0

  const fruitless = () => {
    isHeld = false
    const nextMs = pauseMs
    pauseMs = Math.min(2 * pauseMs, limits.pauseMaxMs)
    return nextMs
  }
  /** @returns the pause until the next question */
  async function ask(): Promise<number> {
    const askedAtMs = nowMs()
    const offered = await work.offered({ waitMs: known === undefined ? 1 : waitMs, known, signal })
    if (offered.known === undefined) {
      known = undefined
      isHeld = false
      return limits.olderReleaseMs
    }
    const isNew = offered.known !== known
    known = offered.known
    tellings += 1
    hasOpen = offered.items.length > 0
    if (isNew) {
      told = { items: offered.items, atMs: nowMs() }
      onTold()
    } else if (nowMs() - askedAtMs < waitMs / 2) return fruitless()
    isHeld = true
    pauseMs = limits.firstPauseMs
    return limits.leastMs
  }
  async function follow(): Promise<void> {
    while (!signal.aborted) {
      // Whoever looks at the work by the clock tells of what fails.
      const nextMs = await ask().catch(fruitless)
      await sleep(nextMs, undefined, { signal }).catch(() => undefined)
    }
  }

  const ended = follow()
  return {
    async open() {
      const latest = told
      told = undefined
      if (latest !== undefined && nowMs() - latest.atMs < limits.freshMs) return latest.items
      if (isHeld && !hasOpen) return []
      const before = tellings
      const items = await work.open()
      // An answer that came meanwhile may be the newer one.
      if (items.length > 0 || tellings === before) hasOpen = items.length > 0
      return items
    },
    isTold: () => isHeld,
    async close() {
      closing.abort()
      await ended
    },
  }
}
