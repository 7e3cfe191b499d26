import { DomainError } from '@causeway/core'

/** More writes wait than can be served in good time. */
class WritesOverloadedError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
  readonly kind = 'overloaded'

  constructor() {
    super('Too many quotes are being stored at once.', { retryAfterSeconds: 1 })
  }
}

export type GroupCommitOptions<Item, Outcome> = {
  /** Commits all items or none. @returns what each came to, in the order of the items */
  readonly write: (items: readonly Item[]) => Promise<readonly Outcome[]>
  /** True if the members of a failed group may succeed one by one: for a bad member, not for a lost server. */
  readonly mayRetryAlone: (error: unknown) => boolean
  readonly groupMax: number
  /** While one group is out, so many waiting items leave as a second one. Absent: they always wait. */
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
 * Folds concurrent writes into one commit without a timer: an idle store writes what one turn of the
 * event loop brought, and what arrives while a group is out leaves together as the next. Writing the
 * first of a turn alone would cost a burst two commits instead of one. A second group leaves beside the
 * first once it is worth a commit of its own, so that items are prepared while others are flushed. `add`
 * resolves after the commit.
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
  let writing = 0
  let isScheduled = false

  function isDue(): boolean {
    return writing === 0 ? waiting.length > 0 : writing === 1 && waiting.length >= secondGroupMin
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
    writing += 1
    await commit(group)
    writing -= 1
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
