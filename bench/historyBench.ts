// P28: each filter of a history of a million requests, by both orders, one request at a time.
import { startTestDatabase } from '@causeway/database'
import { sortKeys } from '../apps/quote-api/src/requests/history/requestFilter.ts'
import { createRequestHistory } from '../apps/quote-api/src/requests/history/requestHistory.ts'
import {
  filledFilters,
  filledKey,
  fillHistory,
  historyDirectories,
} from '../apps/quote-api/test/historySupport/filledHistory.ts'
import type { BenchRow } from './row.ts'

const stored = 1_000_000
const reads = 200
const goalMs = 20

export async function benchHistory(): Promise<readonly BenchRow[]> {
  const bed = await startTestDatabase({
    directories: historyDirectories,
    pool: { statementTimeoutMs: 600_000 },
  })
  try {
    await fillHistory(bed.database, stored)
    const history = createRequestHistory(bed)
    const rows: BenchRow[] = []
    for (const [name, filter] of Object.entries(filledFilters)) {
      for (const sortBy of sortKeys) {
        const page = { limit: 20, after: undefined, direction: 'desc', sortBy } as const
        const times: number[] = []
        for (let read = 0; read < reads; read += 1) {
          const startedAtMs = performance.now()
          await history.list({ apiKeyId: filledKey, ...filter }, page)
          times.push(performance.now() - startedAtMs)
        }
        const p99Ms = times.toSorted((a, b) => a - b)[Math.floor(reads * 0.99) - 1] ?? 0
        rows.push({
          id: 'P28',
          name: `a page of 20 of ${stored} requests by ${name}, sorted by ${sortBy}: p99 against ${goalMs} ms`,
          value: `p99 ${p99Ms.toFixed(1)} ms`,
          limit: `<= 1 x ${goalMs} ms`,
          ratio: p99Ms / goalMs,
          goal: 1,
          atLeast: false,
        })
      }
    }
    return rows
  } finally {
    await bed.stop()
  }
}
