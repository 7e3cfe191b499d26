// P28: each filter of a history of a million requests, by both orders, first page, deep page and total,
// one request at a time.
import { loadavg } from 'node:os'
import { startTestDatabase } from '@causeway/database'
import { type Page, type SortKey, sortKeys } from '../apps/quote-api/src/requests/history/requestFilter.ts'
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
    pool: { statementTimeoutMs: 1_800_000 },
  })
  try {
    const startedAtMs = performance.now()
    await fillHistory(bed.database, stored)
    console.log(`filled in ${((performance.now() - startedAtMs) / 1_000).toFixed(0)} s`)
    const history = createRequestHistory(bed)
    const rows: BenchRow[] = []
    for (const [name, filter] of Object.entries(filledFilters)) {
      for (const sortBy of sortKeys) {
        const asked = { apiKeyId: filledKey, ...filter }
        const first = { limit: 20, after: undefined, direction: 'desc', sortBy } as const
        const ways = {
          'first page': () => history.list(asked, first),
          'deep page': () => history.list(asked, { ...first, after: middleOf(sortBy) }),
          total: () => history.count(asked, first),
        }
        for (const [way, read] of Object.entries(ways)) {
          const row = await measure(`${way} by ${name}, sorted by ${sortBy}`, read)
          console.log(`${row.value}  ${row.name}`)
          rows.push(row)
        }
      }
    }
    return rows
  } finally {
    await bed.stop()
  }
}

/** Half of the history is behind it. */
function middleOf(sortBy: SortKey): Page['after'] {
  const atMicros = BigInt(Math.floor(Date.now() / 1_000) - stored / 2) * 1_000_000n
  return { sortBy, atMicros, id: `0x${'0'.repeat(64)}` }
}

async function measure(name: string, read: () => Promise<unknown>): Promise<BenchRow> {
  const times: number[] = []
  for (let count = 0; count < reads; count += 1) {
    const startedAtMs = performance.now()
    await read()
    times.push(performance.now() - startedAtMs)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const [p50Ms = 0, p99Ms = 0] = [0.5, 0.99].map((share) => sorted[Math.ceil(reads * share) - 1])
  return {
    id: 'P28',
    name: `of ${stored} requests ${name}: p99 against ${goalMs} ms`,
    value: `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, load ${loadavg()[0]?.toFixed(1)}`,
    limit: `<= 1 x ${goalMs} ms`,
    ratio: p99Ms / goalMs,
    goal: 1,
    atLeast: false,
  }
}
