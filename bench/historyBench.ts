// P28: each filter of a history of a million requests, by both orders, first page, deep page and total,
// one request at a time, in a service that has been up for a while. Its first read is told apart.
import { execFile } from 'node:child_process'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { SqlDatabase } from '@causeway/core'
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
/** Reads of each row before those that count: a service that has been up has its plans and its code. */
const warmReads = 20
/** Five of them are beyond the 99th percentile. */
const reads = 500
const goalMs = 20

export async function benchHistory(): Promise<readonly BenchRow[]> {
  const bed = await startTestDatabase({
    directories: historyDirectories,
    pool: { statementTimeoutMs: 1_800_000 },
  })
  try {
    const startedAtMs = performance.now()
    await fillHistory(bed.database, stored)
    await standStill(bed.database)
    console.log(`filled in ${((performance.now() - startedAtMs) / 1_000).toFixed(0)} s`)
    const calm = await calmDown(bed.database)
    console.log(calm)
    const history = createRequestHistory(bed)
    const rows: BenchRow[] = []
    for (const [name, filter] of Object.entries({ ...filledFilters, ...standing })) {
      for (const sortBy of sortKeys) {
        const asked = { apiKeyId: filledKey, ...filter }
        const first = { limit: 20, after: undefined, direction: 'desc', sortBy } as const
        const ways = {
          'first page': () => history.list(asked, first),
          'deep page': () => history.list(asked, { ...first, after: middleOf(sortBy) }),
          total: () => history.count(asked, first),
        }
        for (const [way, read] of Object.entries(ways)) {
          const row = await measure(`${way} by ${name}, sorted by ${sortBy}`, calm, read)
          console.log(`${row.value}  ${row.name}`)
          rows.push(row)
        }
      }
    }
    console.log(`${rows.filter(({ ratio }) => ratio < 1).length} of ${rows.length} rows below ${goalMs} ms`)
    return rows
  } finally {
    await bed.stop()
  }
}

/** Beside `filledFilters`. */
const standing = {
  'status of what stands still': { status: 'pending' },
  'status that none has': { status: 'delayed' },
} as const

/** One request in a thousand was filled, and no oracle has said so since: a list tells why it waits. */
async function standStill(database: SqlDatabase): Promise<void> {
  await database.transaction(async (tx) => {
    // A request that has succeeded stays so otherwise.
    await tx.query('set local session_replication_role = replica')
    await tx.query(
      `with standing as (
         update orders set status = 'pending' where request_id in
           (select sha256(convert_to('request ' || i, 'UTF8')) from generate_series(779, $1::int, 1000) i)
         returning request_id, order_id, user_address, created_at),
       taken as (
         insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
           request_id, depositor, currency, amount, state)
         select 8453, encode(request_id, 'hex'), '0', 1, 'b', created_at, order_id, request_id, user_address, 'c', 1,
           'taken' from standing
         returning id, request_id)
       insert into settlement (request_id, deposit_id, stage, is_bound, updated_at)
       select request_id, id, 'filled', true, now() - interval '1 hour' from taken`,
      [stored],
    )
  })
  await database.query('analyze orders, deposit_seen, settlement')
  await database.query('checkpoint')
}

/** Half of the history is behind it. */
function middleOf(sortBy: SortKey): Page['after'] {
  const atMicros = BigInt(Math.floor(Date.now() / 1_000) - stored / 2) * 1_000_000n
  return { sortBy, atMicros, id: `0x${'0'.repeat(64)}` }
}

const calmSeconds = 15
const calmWithinSeconds = 300

/**
 * Waits until what filling leaves behind is done: pages that the machine has not written yet, a checkpoint, and the
 * vacuum that the server begins by itself. They stay on while rows are measured. @returns what it did
 */
async function calmDown(database: SqlDatabase): Promise<string> {
  const startedAtMs = performance.now()
  const seconds = () => (performance.now() - startedAtMs) / 1_000
  await promisify(execFile)('sync')
  let calmSince = seconds()
  while (seconds() - calmSince < calmSeconds) {
    if (seconds() > calmWithinSeconds) return `not calm ${calmWithinSeconds} s after vacuum and checkpoint`
    const busy = await database.query(
      `select from pg_stat_activity where backend_type = 'autovacuum worker'
         or (backend_type = 'checkpointer' and wait_event_type is distinct from 'Activity')`,
    )
    if (busy.length > 0) calmSince = seconds()
    await sleep(500)
  }
  return `calm ${seconds().toFixed(0)} s after vacuum and checkpoint`
}

async function measure(name: string, calm: string, read: () => Promise<unknown>): Promise<BenchRow> {
  const time = async () => {
    const startedAtMs = performance.now()
    await read()
    return performance.now() - startedAtMs
  }
  const firstMs = await time()
  for (let count = 0; count < warmReads; count += 1) await read()
  const times: number[] = []
  for (let count = 0; count < reads; count += 1) times.push(await time())
  const sorted = times.toSorted((a, b) => a - b)
  const [p50Ms = 0, p99Ms = 0] = [0.5, 0.99].map((share) => sorted[Math.ceil(reads * share) - 1])
  return {
    id: 'P28',
    name: `of ${stored} requests ${name}: p99 against ${goalMs} ms`,
    value:
      `first ${firstMs.toFixed(1)} ms; p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, most ` +
      `${sorted.at(-1)?.toFixed(1)} ms of ${reads} after ${warmReads} more; load ${loadavg()[0]?.toFixed(1)}; ${calm}`,
    limit: `<= 1 x ${goalMs} ms`,
    ratio: p99Ms / goalMs,
    goal: 1,
    atLeast: false,
  }
}
