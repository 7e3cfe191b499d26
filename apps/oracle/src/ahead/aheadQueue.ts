import { DomainError } from '@causeway/core'
import type { WatchLog } from '../halt/watchedChain.ts'
import type { AheadMetrics, AheadOutcome } from '../service/oracleMetrics.ts'

/** Outcome of the work on one transaction; `later` if the next run may succeed, `handed_on` if another queue took it. */
export type AheadResult = Exclude<AheadOutcome, 'failed' | 'dropped'> | 'later' | 'handed_on'

export type AheadQueueOptions = {
  /** Works on one transaction. A DomainError counts as `later`. */
  readonly work: (chainId: string, transactionId: string, signal: AbortSignal) => Promise<AheadResult>
  /** An entry that has waited longer is dropped. */
  readonly minutes: number
  /** Most waiting entries; further ones are dropped. */
  readonly waitingMax: number
  readonly signal: AbortSignal
  readonly metrics: Pick<AheadMetrics, 'countAhead'>
  readonly log: WatchLog
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Transactions that wait for one kind of work of `createAttestAhead`, bounded in number and age. A dropped one is read
 * when somebody asks for it.
 */
export interface AheadQueue {
  add(chainId: string, transactionId: string): void
  /** Works on all waiting entries; one that fails waits for the next run. Never rejects. A run under way is shared. */
  run(): Promise<void>
  readonly length: number
}

type Waiting = {
  readonly chainId: string
  readonly transactionId: string
  readonly sinceMs: number
  tries: number
}

/** Entries that are worked on at once: few, so that callers' requests have most of the oracle's capacity. */
const workersMax = 4
const triesMax = 3

export function createAheadQueue(options: AheadQueueOptions): AheadQueue {
  const { work, minutes, waitingMax, signal, metrics, log, now } = options
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined

  async function workOn(item: Waiting): Promise<void> {
    const { chainId, transactionId, sinceMs } = item
    if (now() - sinceMs > minutes * 60_000) return metrics.countAhead(chainId, 'dropped')
    item.tries += 1
    try {
      const result = await work(chainId, transactionId, signal)
      if (result === 'later') putOff(item)
      else if (result !== 'handed_on') metrics.countAhead(chainId, result)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof DomainError) return putOff(item)
      log.error({ event: 'ahead_failed', chain: chainId, transactionId, err: error }, 'not prepared ahead')
      metrics.countAhead(chainId, 'failed')
    }
  }

  function putOff(item: Waiting): void {
    if (item.tries < triesMax) waiting.push(item)
    else metrics.countAhead(item.chainId, 'failed')
  }

  async function workOnAll(): Promise<void> {
    // The workers share one iterator, so that each entry goes to one of them.
    const items = waiting.values()
    waiting = []
    const worker = async () => {
      for (const item of items) {
        if (signal.aborted) return
        await workOn(item)
      }
    }
    await Promise.all(Array.from({ length: workersMax }, worker))
  }

  return {
    add(chainId, transactionId) {
      if (waiting.length >= waitingMax) metrics.countAhead(chainId, 'dropped')
      else waiting.push({ chainId, transactionId, sinceMs: now(), tries: 0 })
    },
    run() {
      running ??= workOnAll().finally(() => {
        running = undefined
      })
      return running
    },
    get length() {
      return waiting.length
    },
  }
}
