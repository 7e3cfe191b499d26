import { DomainError } from '@causeway/core'
import type { WatchLog } from '../halt/watchedChain.ts'
import type { AheadMetrics, AheadOutcome } from '../service/oracleMetrics.ts'

/** Outcome of one transaction; `later` if the next run may succeed, `passed` if another queue took it. */
export type AheadResult = Exclude<AheadOutcome, 'failed' | 'dropped'> | 'later' | 'passed'

export type AheadQueueOptions = {
  /** @throws DomainError for what may work later */
  readonly work: (chainId: string, transactionId: string, signal: AbortSignal) => Promise<AheadResult>
  /** Longest wait of an entry, in minutes. */
  readonly minutes: number
  readonly waitingMax: number
  readonly signal: AbortSignal
  readonly metrics: Pick<AheadMetrics, 'countAhead'>
  readonly log: WatchLog
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** Transactions that wait for one kind of work, bounded in number and age. */
export interface AheadQueue {
  add(chainId: string, transactionId: string): void
  /** Works at what waits. What fails waits for the next run. Never rejects; while one runs it is that one. */
  run(): Promise<void>
  readonly length: number
}

type Waiting = {
  readonly chainId: string
  readonly transactionId: string
  readonly sinceMs: number
  tries: number
}

/** At once, so that callers have the rest of the places. */
const workersMax = 4
const triesMax = 3

export function createAheadQueue(options: AheadQueueOptions): AheadQueue {
  const { work, minutes, waitingMax, signal, metrics, log, now } = options
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined

  async function workAt(item: Waiting): Promise<void> {
    const { chainId, transactionId, sinceMs } = item
    if (now() - sinceMs > minutes * 60_000) return metrics.countAhead(chainId, 'dropped')
    item.tries += 1
    try {
      const result = await work(chainId, transactionId, signal)
      if (result === 'later') putOff(item)
      else if (result !== 'passed') metrics.countAhead(chainId, result)
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

  async function workAtAll(): Promise<void> {
    const items = waiting.values()
    waiting = []
    const worker = async () => {
      for (const item of items) {
        if (signal.aborted) return
        await workAt(item)
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
      running ??= workAtAll().finally(() => {
        running = undefined
      })
      return running
    },
    get length() {
      return waiting.length
    },
  }
}
