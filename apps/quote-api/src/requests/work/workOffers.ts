import { createHash } from 'node:crypto'
import { type OpenLanes, pageOf } from './openWork.ts'
import type { WorkItem } from './workItem.ts'

/** PostgreSQL notification channel that announces each offered item. @source 0066_work_offers.sql */
export const openWorkChannel = 'open_work'

const markLength = 8
/** The concatenated marks of a page, as a caller sends them back. */
export const knownPattern = new RegExp(`^([\\w-]{${markLength}})*$`)
/** Length of the marks of the largest page, of 200 items. */
export const knownLengthMax = 200 * markLength

/**
 * Makes the marks of a page, by which a caller says which items it has. A mark covers the item's attempts and last change, so
 * that an item that is offered anew has another mark. With 48 bits, a new item collides with one of 200 known ones once in
 * 10^12 cases, and is then only offered later.
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
  for (let start = 0; start < markText.length; start += markLength)
    marks.add(markText.slice(start, start + markLength))
  return marks
}

/** Items that a caller has: `known` are their marks, `limit` the size of the caller's page. */
export type KnownWork = { readonly known: string; readonly limit: number }

/** Lets solvers wait for new work (long polling), so that they learn of it at once. */
export interface WorkOffers {
  /**
   * Resolves when the caller's page has an item that `known` does not name, or when the signal aborts.
   * @throws errors of reading the table
   */
  untilNew(page: KnownWork, signal: AbortSignal): Promise<void>
  /** To be called when an item may have been offered. */
  changed(): void
}

type Waiter = {
  readonly marks: ReadonlySet<string>
  readonly limit: number
  settle(error?: unknown): void
}

/** Longest pause between looks. Items whose pause ends are not announced, and announcements may be missed. */
const lookEveryMs = 1_000
/** Least pause between looks, however many items are announced. */
const leastPauseMs = 50

/**
 * One read of the table serves all waiting callers; without a caller the table is not read. A read that begins after a caller
 * came finds all items offered before; later ones are announced, or found by the next regular read.
 * @param options.read reads the open items, by lane
 */
export function createWorkOffers({ read }: { read: (limit: number) => Promise<OpenLanes> }): WorkOffers {
  const waiters = new Set<Waiter>()
  let timer: NodeJS.Timeout | undefined
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let isLooking = false
  /** True if an item was announced, or a caller came, while a look was under way. */
  let isStale = false

  const lookAfter = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(look, Math.max(ms, 0))
  }
  /** Has the table read as soon as the least pause allows, or once more if it is being read. */
  const requestLook = () => {
    if (isLooking) isStale = true
    else if (waiters.size > 0) lookAfter(lookedAtMs + leastPauseMs - performance.now())
  }
  /** Reads the table for all callers that wait now, and settles those that it has news for. */
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
    if (isStale) requestLook()
    else if (waiters.size > 0) lookAfter(lookEveryMs)
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
        requestLook()
      })
    },
    changed: requestLook,
  }
}

function hasNews({ marks, limit }: Waiter, lanes: OpenLanes): boolean {
  return pageOf(lanes, limit).some((item) => !marks.has(markOf(item)))
}
