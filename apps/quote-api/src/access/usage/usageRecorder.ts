import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, type SqlDatabase } from '@causeway/core'
import type { KeyedAnswer } from '@causeway/http'
import { createUsageCounts, type UsageCounts } from './usageCounts.ts'
import { type UsageBatch, writeUsage } from './usageStore.ts'

/** Counts the answers that each API key gets, and adds the counts to the database every few seconds. */
export interface UsageRecorder {
  /** Never waits and never throws. */
  count(answer: KeyedAnswer): void
  /**
   * Stores the batch that failed last, or else what was counted until now; reports a failure to `onFailure`
   * instead of throwing. Only one may run at a time. @returns whether it is stored
   */
  flush(): Promise<boolean>
  /** Flushes every few seconds until closed. */
  start(): void
  /** Flushes what is left, or reports to `onLost` how much is lost. */
  close(): Promise<void>
}

const flushMs = 5_000
/** Ten minutes of what a dozen busy keys ask; a few megabytes while the database is away. */
const rowsMax = 10_000

/**
 * A batch that fails is kept and sent again under its number, so that it counts once whether or not its first
 * try was committed. Later counts wait in memory, up to `rowsMax`. A process that is killed loses a few seconds.
 */
export const createUsageRecorder = (options: UsageRecorderOptions): UsageRecorder =>
  new NumberedBatches(options)

type UsageRecorderOptions = {
  readonly database: Pick<SqlDatabase, 'query'>
  /** UUID of this process. */
  readonly writer: string
  /** Unix milliseconds. */
  readonly now: () => number
  /** Called on the first of successive failures. */
  readonly onFailure: (error: unknown) => void
  /** Called with the number of answers that will never be counted. */
  readonly onLost: (answers: number) => void
}

class NumberedBatches implements UsageRecorder {
  readonly #options: UsageRecorderOptions
  readonly #counts: UsageCounts
  readonly #closing = new AbortController()
  #ended: Promise<void> = Promise.resolve()
  /** Number of the last batch that was made. */
  #sequence = 0
  /** Batch that is being written, or whose write failed without telling whether it was committed. */
  #unsent: UsageBatch | undefined
  #isFailing = false

  constructor(options: UsageRecorderOptions) {
    this.#options = options
    this.#counts = createUsageCounts({ rowsMax, now: options.now })
  }

  count({ keyId, route, statusCode, errorCode }: KeyedAnswer): void {
    this.#counts.add({
      apiKeyId: keyId,
      endpoint: route ?? unknownEndpoint,
      statusCode,
      // Answers of other statuses are told apart by status alone: public clients know only the codes of 400.
      errorCode: statusCode === 400 ? (errorCode ?? '') : '',
    })
  }

  async flush(): Promise<boolean> {
    this.#tellLost(this.#counts.takeLost())
    this.#unsent ??= this.#nextBatch()
    if (this.#unsent === undefined) return true
    try {
      await writeUsage(this.#options.database, this.#unsent)
      this.#unsent = undefined
      this.#isFailing = false
      return true
    } catch (error) {
      if (!this.#isFailing) this.#options.onFailure(error)
      this.#isFailing = true
      // A `DomainError` tells that the database did not answer. Any other error is its refusal of this batch,
      // which would fail for ever and block all later ones, so the batch is dropped.
      if (!(error instanceof DomainError)) {
        this.#tellLost(answersOf(this.#unsent))
        this.#unsent = undefined
      }
      return false
    }
  }

  start(): void {
    this.#ended = this.#repeat()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ended
    // A batch that failed before goes alone, and after it what was counted meanwhile.
    if ((await this.flush()) && (await this.flush())) return
    this.#tellLost(answersOf(this.#unsent) + answersOf(this.#nextBatch()) + this.#counts.takeLost())
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await sleep(flushMs, undefined, { signal }).catch(() => {})
      await this.flush()
    }
  }

  #nextBatch(): UsageBatch | undefined {
    const rows = this.#counts.take()
    if (rows.length === 0) return undefined
    this.#sequence += 1
    return { writer: this.#options.writer, sequence: this.#sequence, rows }
  }

  #tellLost(answers: number): void {
    if (answers > 0) this.#options.onLost(answers)
  }
}

/** One name for all URLs without a route: callers choose them, so their number has no bound. */
const unknownEndpoint = 'unknown'

function answersOf(batch: UsageBatch | undefined): number {
  return (batch?.rows ?? []).reduce((sum, { answers }) => sum + answers, 0)
}
