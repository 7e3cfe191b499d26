import { createLruCache } from '@causeway/rpc'

const rememberedMax = 20_000
/** Pause before the second look at a transaction; it doubles with each further look. */
const pauseMs = 500
/** With the doubled pauses, the last look comes more than an hour after the first one. */
const looksMax = 13

/** A transaction that is to be looked at again. */
type OpenLook = {
  /** Looks until now. */
  readonly looks: number
  /** Unix milliseconds of the next look. */
  readonly dueMs: number
  /** True if the next look is the last one, even if it finds nothing. */
  readonly isLast?: boolean
}

/**
 * Remembers the transactions of one chain that a watcher of deposits or top-ups has read. `settled` ones are not read again
 * with their block. `open` ones held nothing or got no answer, and are looked at again, each after twice the pause before.
 * Kept in memory: a restart reads some again, which changes nothing.
 * @param now Unix milliseconds
 */
export function createReadMemory(now: () => number) {
  const settled = createLruCache<true>(rememberedMax)
  const open = createLruCache<OpenLook>(rememberedMax)
  // Members are passed on without this object, so none of them uses `this`.
  const settle = (transactionId: string) => {
    open.delete(transactionId)
    settled.set(transactionId, true)
  }
  return {
    now,
    /** True if a listed transaction is to be read. A look at final blocks does not wait for its pause. */
    isDue: (transactionId: string, by: 'live' | 'final'): boolean =>
      settled.get(transactionId) === undefined &&
      (by === 'final' || now() >= (open.get(transactionId)?.dueMs ?? 0)),
    /** Transactions that are due once more, whether a list still names them or not. */
    dueAgain: (): readonly string[] =>
      [...open.entries()].flatMap(([transactionId, { dueMs }]) => (now() >= dueMs ? [transactionId] : [])),
    /** Notes that the transaction was read for good. */
    settle,
    /** Plans a look as soon as there is time, and no other one if it finds nothing. */
    lookOnce(transactionId: string) {
      open.set(transactionId, { looks: 0, dueMs: now(), isLast: true })
    },
    isLastLook: (transactionId: string): boolean => open.get(transactionId)?.isLast === true,
    /** Plans a new look at a transaction that held nothing or got no answer. @returns true the first time */
    lookLater(transactionId: string): boolean {
      const { looks, isLast } = { looks: 0, isLast: false, ...open.get(transactionId) }
      if (looks < looksMax)
        open.set(transactionId, { looks: looks + 1, dueMs: now() + pauseMs * 2 ** looks, isLast })
      else settle(transactionId)
      return looks === 0
    },
    /** Forgets all transactions, because the chain is no longer the one that was read. */
    forget() {
      settled.clear()
      open.clear()
    },
  }
}

export type ReadMemory = ReturnType<typeof createReadMemory>
