/** Number of answers of one kind that one key got within a minute. */
export type UsageRow = {
  readonly apiKeyId: string
  /** Unix seconds at which the minute begins. */
  readonly minuteSeconds: number
  /** Pattern of the route that answered, or `unknown`. */
  readonly endpoint: string
  readonly statusCode: number
  /** Empty where there is none. */
  readonly errorCode: string
  readonly answers: number
}

/** Counts in memory, of answers that are not stored yet. */
export interface UsageCounts {
  add(answer: Omit<UsageRow, 'minuteSeconds' | 'answers'>): void
  /** Returns all counts, sorted, and begins again at zero. */
  take(): readonly UsageRow[]
  /** Answers since the last call that were not counted, because `rowsMax` was reached. */
  takeLost(): number
}

/**
 * @param rowsMax most rows that are held; beyond them an answer counts only if its row exists, else it is lost
 * @param now Unix milliseconds
 */
export function createUsageCounts(options: { rowsMax: number; now: () => number }): UsageCounts {
  const { rowsMax, now } = options
  let rows = new Map<string, { row: Omit<UsageRow, 'answers'>; answers: number }>()
  let lost = 0
  return {
    add(answer) {
      const minuteSeconds = Math.floor(now() / 60_000) * 60
      const { apiKeyId, endpoint, statusCode, errorCode } = answer
      const key = `${apiKeyId} ${minuteSeconds} ${statusCode} ${errorCode} ${endpoint}`
      const entry = rows.get(key)
      if (entry !== undefined) entry.answers += 1
      else if (rows.size >= rowsMax) lost += 1
      else rows.set(key, { row: { ...answer, minuteSeconds }, answers: 1 })
    },
    take() {
      const entries = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))
      rows = new Map()
      return entries.map(([, { row, answers }]) => ({ ...row, answers }))
    },
    takeLost() {
      const lostCount = lost
      lost = 0
      return lostCount
    },
  }
}
