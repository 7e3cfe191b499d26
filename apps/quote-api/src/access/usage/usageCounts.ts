/** Count of one answer to a key within a minute. */
export type UsageRow = {
  readonly apiKeyId: string
  /** Unix seconds at which the minute begins. */
  readonly minuteSeconds: number
  /** Pattern of a route, or `unknown`. */
  readonly endpoint: string
  readonly statusCode: number
  /** Empty where there is none. */
  readonly errorCode: string
  readonly answers: number
}

/** Answers that were counted and not stored yet, in memory. */
export interface UsageCounts {
  add(answer: Omit<UsageRow, 'minuteSeconds' | 'answers'>): void
  /** Hands everything over, in one order for all processes, and begins anew. */
  take(): readonly UsageRow[]
  /** Answers since the last call that were not counted, because nothing was taken for too long. */
  takeLost(): number
}

/**
 * @param rowsMax so many sums are held at most; beyond them only answers of known sums count, and others are lost
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
