import { DomainError } from '@causeway/core'

/** More writes wait than can be served in good time. */
class WritesOverloadedError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
  readonly kind = 'overloaded'

  constructor() {
    super('Too many quotes are being stored at once.', { retryAfterSeconds: 1 })
  }
}

export type GroupCommitOptions<Item> = {
  /** Commits all items or none. */
  readonly write: (items: readonly Item[]) => Promise<void>
  /** Whether a failed group may succeed member by member: true for a bad member, false for a lost server. */
  readonly mayRetryAlone: (error: unknown) => boolean
  readonly groupMax: number
  /** Items that may wait; one more is refused at once. */
  readonly queueMax: number
}

type Waiting<Item> = { readonly item: Item; resolve(): void; reject(error: unknown): void }

/**
 * Folds concurrent writes into one commit without a timer: an idle store writes what one turn of the
 * event loop brought, and what arrives while a group is out leaves together as the next. Writing the
 * first of a turn alone would cost a burst two commits instead of one. `add` resolves after the commit.
 * @throws WritesOverloadedError from `add`, and whatever `write` throws
 * @source ledger-and-safety.md 1.6, decision 3
 */
export function createGroupCommit<Item>(options: GroupCommitOptions<Item>): {
  add(item: Item): Promise<void>
} {
  const { write, mayRetryAlone, groupMax, queueMax } = options
  let waiting: Waiting<Item>[] = []
  let isWriting = false

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.slice(0, groupMax)
      waiting = waiting.slice(groupMax)
      await commit(group)
    }
    isWriting = false
  }

  async function commit(group: readonly Waiting<Item>[]): Promise<void> {
    try {
      await write(group.map(({ item }) => item))
      for (const { resolve } of group) resolve()
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
        if (isWriting) return
        isWriting = true
        setImmediate(() => void drain())
      })
    },
  }
}
