import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, type SqlDatabase } from '@causeway/core'
import type { KeyedAnswer } from '@causeway/http'
import { createUsageCounts } from './usageCounts.ts'
import { type UsageBatch, writeUsage } from './usageStore.ts'

/** Counts in memory what keys are answered, and adds it to the database beside the requests. */
export interface UsageRecorder {
  /** Never waits and never throws. */
  count(answer: KeyedAnswer): void
  /** Stores what was counted until now; tells of a failure instead of throwing. @returns whether it is stored */
  flush(): Promise<boolean>
  /** Flushes every few seconds until closed. */
  start(): void
  /** Flushes what is left, or says how much of it is lost. */
  close(): Promise<void>
}

const flushMs = 5_000
/** Ten minutes of what a dozen busy keys ask; a few megabytes while the database is away. */
const rowsMax = 10_000

/**
 * A batch that fails is kept and sent again under its number, so that it counts once whether or not its first
 * try was committed; what is counted meanwhile waits within bounds. A process that is killed loses some seconds.
 */
export function createUsageRecorder(options: {
  database: Pick<SqlDatabase, 'query'>
  /** UUID of this process. */
  writer: string
  /** Unix milliseconds. */
  now: () => number
  /** Told of the first failure of a row. */
  onFailure: (error: unknown) => void
  /** So many answers will never be counted. */
  onLost: (answers: number) => void
}): UsageRecorder {
  const { database, writer, now, onFailure, onLost } = options
  const counts = createUsageCounts({ rowsMax, now })
  const closing = new AbortController()
  let ended: Promise<void> = Promise.resolve()
  let sequence = 0
  let unsent: UsageBatch | undefined
  let isFailing = false

  const tellLost = (answers: number) => {
    if (answers > 0) onLost(answers)
  }
  const nextBatch = (): UsageBatch | undefined => {
    const rows = counts.take()
    if (rows.length === 0) return undefined
    sequence += 1
    return { writer, sequence, rows }
  }
  const flush = async (): Promise<boolean> => {
    tellLost(counts.takeLost())
    unsent ??= nextBatch()
    if (unsent === undefined) return true
    try {
      await writeUsage(database, unsent)
      unsent = undefined
      isFailing = false
      return true
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
      // What the database refuses for itself it would refuse for ever, and with it all that comes after.
      if (!(error instanceof DomainError)) {
        tellLost(answersOf(unsent))
        unsent = undefined
      }
      return false
    }
  }
  const repeat = async () => {
    while (!closing.signal.aborted) {
      await sleep(flushMs, undefined, { signal: closing.signal }).catch(() => {})
      await flush()
    }
  }
  return {
    count({ keyId, route, statusCode, errorCode }) {
      counts.add({
        apiKeyId: keyId,
        endpoint: route ?? unknownEndpoint,
        statusCode,
        // Public clients know codes of 400 alone.
        errorCode: statusCode === 400 ? (errorCode ?? '') : '',
      })
    },
    flush,
    start() {
      ended = repeat()
    },
    async close() {
      closing.abort()
      await ended
      // A batch that failed before goes alone, and after it what was counted meanwhile.
      if ((await flush()) && (await flush())) return
      tellLost(answersOf(unsent) + answersOf(nextBatch()) + counts.takeLost())
    },
  }
}

/** All URLs that lead nowhere are one: callers choose them. */
const unknownEndpoint = 'unknown'

function answersOf(batch: UsageBatch | undefined): number {
  return (batch?.rows ?? []).reduce((sum, { answers }) => sum + answers, 0)
}
