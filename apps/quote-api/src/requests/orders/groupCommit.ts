import { DomainError } from '@causeway/core'

/** The queue is full, so a further write would wait too long. */
class WritesOverloadedError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
  readonly kind = 'overloaded'

  constructor() {
    super('Too many quotes are being stored at once.', { retryAfterSeconds: 1 })
  }
}

export type GroupCommitOptions<Item, Outcome> = {
  /** Commits all items or none. @returns the outcome of each, in the order of the items */
  readonly write: (items: readonly Item[]) => Promise<readonly Outcome[]>
  /** True if an error may be the fault of one item, so that the others are written one by one; not for a lost server. */
  readonly mayRetryAlone: (error: unknown) => boolean
  /** Most items of one commit. */
  readonly groupMax: number
  /** Waiting items from which a second group is written beside a first. Absent: there is never a second one. */
  readonly secondGroupMin?: number
  /** Items that may wait; one more is refused at once. */
  readonly queueMax: number
}

type Waiting<Item, Outcome> = {
  readonly item: Item
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/**
 * Groups concurrent writes into one commit, because a commit costs more than a row. There is no timer: an idle store waits
 * for the end of the event loop's turn and writes all items of that turn. Items that arrive during a write form the next
 * group. A second group is written beside the first once it is large enough, so that one is prepared while the other is
 * flushed. `add` resolves after the commit.
 * @throws WritesOverloadedError from `add`, and whatever `write` throws
 * @source ledger-and-safety.md 1.6, decision 3
 */
export function createGroupCommit<Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): {
  add(item: Item): Promise<Outcome>
} {
  const { write, mayRetryAlone, groupMax, queueMax, secondGroupMin = queueMax + 1 } = options
  let waiting: Waiting<Item, Outcome>[] = []
  let groupsInWriting = 0
  let isScheduled = false

  function isDue(): boolean {
    return groupsInWriting === 0
      ? waiting.length > 0
      : groupsInWriting === 1 && waiting.length >= secondGroupMin
  }

  function schedule(): void {
    if (isScheduled || !isDue()) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      startDue()
    })
  }

  function startDue(): void {
    while (isDue()) void writeNext()
  }

  async function writeNext(): Promise<void> {
    const group = waiting.slice(0, groupMax)
    waiting = waiting.slice(groupMax)
    groupsInWriting += 1
    await commit(group)
    groupsInWriting -= 1
    startDue()
  }

  async function commit(group: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await write(group.map(({ item }) => item))
      if (outcomes.length !== group.length)
        throw new RangeError('a write must tell the outcome of every item')
      for (const [index, outcome] of outcomes.entries()) group[index]?.resolve(outcome)
    } catch (error) {
      if (group.length === 1 || !mayRetryAlone(error)) for (const { reject } of group) reject(error)
      else for (const member of group) await commit([member])
    }
  }

  return {
    add(item) {
      if (waiting.length >= queueMax) return Promise.reject(new WritesOverloadedError())
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        schedule()
      })
    },
  }
}
