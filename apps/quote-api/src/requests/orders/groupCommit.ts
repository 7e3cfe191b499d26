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

/** Writes items in groups. */
export interface GroupCommit<Item, Outcome> {
  /** Resolves after the commit of the item. @throws WritesOverloadedError, and whatever `write` throws */
  add(item: Item): Promise<Outcome>
}

/**
 * Groups concurrent writes into one commit, because a commit costs more than a row. There is no timer: an idle store waits
 * for the end of the event loop's turn and writes all items of that turn. Items that arrive during a write form the next
 * group. A second group is written beside the first once it is large enough, so that one is prepared while the other is
 * flushed.
 * @source docs/decisions/0004-group-commit-of-quotes.md
 */
export const createGroupCommit = <Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): GroupCommit<Item, Outcome> => new WriteQueue(options)

class WriteQueue<Item, Outcome> implements GroupCommit<Item, Outcome> {
  readonly #options: GroupCommitOptions<Item, Outcome>
  #waiting: Waiting<Item, Outcome>[] = []
  #groupsInWriting = 0
  #isScheduled = false

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.#options = options
  }

  add(item: Item): Promise<Outcome> {
    if (this.#waiting.length >= this.#options.queueMax) return Promise.reject(new WritesOverloadedError())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || !this.#isDue()) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#writeDue()
    })
  }

  /** True if a group is to be written now: the first one at once, the second one if it is large enough. */
  #isDue(): boolean {
    const { secondGroupMin = Number.POSITIVE_INFINITY } = this.#options
    if (this.#groupsInWriting === 0) return this.#waiting.length > 0
    return this.#groupsInWriting === 1 && this.#waiting.length >= secondGroupMin
  }

  #writeDue(): void {
    // `#writeGroup` takes its items from the queue before it first waits, so the loop ends.
    while (this.#isDue()) void this.#writeGroup()
  }

  async #writeGroup(): Promise<void> {
    const group = this.#waiting.splice(0, this.#options.groupMax)
    this.#groupsInWriting += 1
    await this.#commit(group)
    this.#groupsInWriting -= 1
    this.#writeDue()
  }

  /** Settles the promise of every item, so it never rejects itself. */
  async #commit(group: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#options.write(group.map(({ item }) => item))
      if (outcomes.length !== group.length)
        throw new RangeError('a write must tell the outcome of every item')
      for (const [index, outcome] of outcomes.entries()) group[index]?.resolve(outcome)
    } catch (error) {
      if (group.length === 1 || !this.#options.mayRetryAlone(error))
        for (const { reject } of group) reject(error)
      else for (const member of group) await this.#commit([member])
    }
  }
}
