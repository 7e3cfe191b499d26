import { DomainError } from '@causeway/core'
import type { WatchLog } from '../halt/watchedChain.ts'
import type { AheadMetrics, AheadOutcome } from '../service/oracleMetrics.ts'

/**
 * Result of the work on one transaction. `later`: the next run may succeed. `handed_on`: the work added it to another
 * queue, which will count its outcome. Any other result is counted as it is.
 */
export type AheadResult = Exclude<AheadOutcome, 'failed' | 'dropped'> | 'later' | 'handed_on'

export type AheadQueueOptions = {
  /** Works on one transaction. A DomainError counts as `later`; any other error is a bug, and is not retried. */
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
 * Transactions that wait for one kind of work of `createAttestAhead`, bounded in number and age. Nothing is lost with a
 * dropped one: its work is done when somebody asks for its attestation.
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

/** Number of entries that are worked on at once: few, so that callers' requests have most of the oracle's capacity. */
const workerCount = 4
const triesMax = 3

export function createAheadQueue(options: AheadQueueOptions): AheadQueue {
  const { work, minutes, waitingMax, signal, metrics, log, now } = options
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined

  /** Works on all entries that wait now; those put off meanwhile wait for the next run. */
  async function workOnAll(): Promise<void> {
    // The workers share one iterator, so that each entry goes to one of them.
    const entries = waiting.values()
    waiting = []
    const worker = async () => {
      for (const entry of entries) {
        if (signal.aborted) return
        await workOn(entry)
      }
    }
    await Promise.all(Array.from({ length: workerCount }, worker))
  }

  async function workOn(entry: Waiting): Promise<void> {
    const { chainId, transactionId, sinceMs } = entry
    if (now() - sinceMs > minutes * 60_000) return metrics.countAhead(chainId, 'dropped')
    entry.tries += 1
    try {
      const result = await work(chainId, transactionId, signal)
      if (result === 'later') putOff(entry)
      else if (result !== 'handed_on') metrics.countAhead(chainId, result)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof DomainError) return putOff(entry)
      log.error({ event: 'ahead_failed', chain: chainId, transactionId, err: error }, 'not prepared ahead')
      metrics.countAhead(chainId, 'failed')
    }
  }

  function putOff(entry: Waiting): void {
    if (entry.tries < triesMax) waiting.push(entry)
    else metrics.countAhead(entry.chainId, 'failed')
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
