import { createHash } from 'node:crypto'
import type { WorkItem } from './workItem.ts'
import { type OpenLanes, pageOf } from './workStore.ts'

/** Channel that announces each offered item. @source 0066_work_offers.sql */
export const openWorkChannel = 'open_work'

const markLength = 8
/** Marks of a page, one behind the other. */
export const knownPattern = new RegExp(`^([\\w-]{${markLength}})*$`)
export const knownLengthMax = 200 * markLength

/**
 * Names the items of a page, each in the state in which it was given: an item that is offered anew after it was
 * reported, given up or withheld has another mark. Of 48 bits: the odds that a new item is taken for one of
 * two hundred that are known are one in a million million, and it is found when the wait is over.
 */
export function knownOf(items: readonly WorkItem[]): string {
  return items.map(markOf).join('')
}

function markOf({ id, attempts, updatedAtMs }: WorkItem): string {
  const digest = createHash('sha256').update(`${id} ${attempts} ${updatedAtMs}`).digest('base64url')
  return digest.slice(0, markLength)
}

function marksIn(markText: string): ReadonlySet<string> {
  const marks = new Set<string>()
  for (let at = 0; at < markText.length; at += markLength) marks.add(markText.slice(at, at + markLength))
  return marks
}

/** Page that a caller was given, for `limit` items; `known` names those that it has. */
export type KnownWork = { readonly known: string; readonly limit: number }

/** Lets callers wait until work is offered that they have not been given. */
export interface WorkOffers {
  /**
   * Resolves when the caller's page has an item that `known` does not name, or when the signal aborts.
   * @throws whatever the look at the table threw
   */
  untilNew(page: KnownWork, signal: AbortSignal): Promise<void>
  /** An item may have been offered. */
  changed(): void
}

type Waiter = {
  readonly marks: ReadonlySet<string>
  readonly limit: number
  settle(error?: unknown): void
}

/** An item comes back by the clock alone when its pause is over; so does everything while nobody is told. */
const everyMs = 1_000
/** However much is offered, the table is not looked at more often. */
const leastMs = 50

/**
 * One look at the table serves all callers, and there is none without one. A look that begins after a caller asked finds
 * whatever was offered before it; what is offered later is told of, or found by the clock.
 */
export function createWorkOffers({ read }: { read: (limit: number) => Promise<OpenLanes> }): WorkOffers {
  const waiters = new Set<Waiter>()
  let timer: NodeJS.Timeout | undefined
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let isLooking = false
  /** True if a new reason to look came while a look was under way. */
  let isStale = false

  const lookIn = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(look, Math.max(ms, 0))
  }
  const lookSoon = () => {
    if (isLooking) isStale = true
    else if (waiters.size > 0) lookIn(lookedAtMs + leastMs - performance.now())
  }
  async function look(): Promise<void> {
    const pendingWaiters = [...waiters]
    if (pendingWaiters.length === 0) return
    isLooking = true
    isStale = false
    try {
      const lanes = await read(Math.max(...pendingWaiters.map(({ limit }) => limit)))
      for (const waiter of pendingWaiters) if (hasNews(waiter, lanes)) waiter.settle()
    } catch (error) {
      for (const waiter of pendingWaiters) waiter.settle(error)
    }
    isLooking = false
    lookedAtMs = performance.now()
    if (isStale) lookSoon()
    else if (waiters.size > 0) lookIn(everyMs)
  }

  return {
    untilNew({ known, limit }, signal) {
      return new Promise<void>((resolve, reject) => {
        const waiter: Waiter = {
          marks: marksIn(known),
          limit,
          settle(error) {
            waiters.delete(waiter)
            signal.removeEventListener('abort', end)
            if (error === undefined) resolve()
            else reject(error)
          },
        }
        const end = () => waiter.settle()
        if (signal.aborted) return resolve()
        signal.addEventListener('abort', end)
        waiters.add(waiter)
        lookSoon()
      })
    },
    changed: lookSoon,
  }
}

function hasNews({ marks, limit }: Waiter, lanes: OpenLanes): boolean {
  return pageOf(lanes, limit).some((item) => !marks.has(markOf(item)))
}
