// P15: what every client of a running request asks for, at the rate of many, out of many stored requests.
import { createHash } from 'node:crypto'
import type { SqlDatabase } from '@causeway/core'
import { median } from './load.ts'
import { withQuoteBed } from './quoteBed.ts'
import { bodies } from './quoteBench.ts'
import type { BenchRow } from './row.ts'
import { type SteadyResult, steadyLoad } from './steadyLoad.ts'

const stored = 100_000
const usualRate = 500
const rounds = 5
const secondsPerRound = 4
const goalMs = 5

/** @throws Error when a read fails */
export async function benchStatus(): Promise<readonly BenchRow[]> {
  const results = await measure()
  const p50Ms = median(results.map((result) => result.p50Ms))
  const p99Ms = median(results.map((result) => result.p99Ms))
  return [
    {
      id: 'P15',
      name: `GET /intents/status/v3 at ${usualRate} requests/s, ${stored} requests stored: p99 against ${goalMs} ms`,
      value: `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
      limit: `<= 1 x ${goalMs} ms`,
      ratio: p99Ms / goalMs,
      goal: 1,
      atLeast: false,
    },
  ]
}

function measure(): Promise<readonly SteadyResult[]> {
  return withQuoteBed(async ({ network, database, service: { url } }) => {
    await storeOne(url, bodies(network, { count: 1 })[0] ?? '')
    await storeCopies(database, { from: 1, to: stored })
    const results: SteadyResult[] = []
    // The first one warms up.
    for (let round = 0; round <= rounds; round += 1) {
      const result = await readStatuses(url, { stored, round })
      if (result.failed > 0) throw new Error(`${result.failed} reads failed`)
      if (round > 0) results.push(result)
    }
    return results
  })
}

export async function storeOne(url: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/quote`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(await answer.text())
}

/**
 * Rows of real size: a real quote under other ids, with the transactions of a request that is filled.
 * @param numbers of the copies, both included; each is stored once
 */
export async function storeCopies(
  database: SqlDatabase,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  // One statement for millions takes longer than a statement may.
  for (let first = from; first <= to; first += copiesAtOnce)
    await storeSome(database, first, Math.min(first + copiesAtOnce - 1, to))
  await database.query('vacuum analyze orders, request_transaction')
  await database.query('checkpoint')
}

const copiesAtOnce = 250_000

/** As the service makes them: in the order of their time, and random beyond it. */
const requestIdOfCopy = `decode(lpad(to_hex(i), 12, '0'), 'hex') || substr(sha256(convert_to('request ' || i, 'UTF8')), 1, 26)`

/** See `requestIdOfCopy`. */
function requestIdOf(place: number): string {
  const random = createHash('sha256').update(`request ${place}`).digest('hex')
  return `0x${place.toString(16).padStart(12, '0')}${random.slice(0, 52)}`
}

async function storeSome(database: SqlDatabase, first: number, last: number): Promise<void> {
  await database.query(
    `insert into orders (request_id, order_id, user_address, recipient, origin_chain_id, destination_chain_id,
       quoted, order_data, order_signature, steps_digest, expires_at, deadline, keep_until, status)
     select ${requestIdOfCopy}, sha256(convert_to('order ' || i, 'UTF8')),
       user_address, recipient, origin_chain_id, destination_chain_id, quoted, order_data, order_signature,
       steps_digest, expires_at, deadline, keep_until, 'success'
     from (select * from orders limit 1) o, generate_series($1::int, $2::int) i`,
    [first, last],
  )
  await database.query(
    `insert into request_transaction (request_id, role, chain_id, tx_hash, block_number)
     select ${requestIdOfCopy}, role, 10,
       '0x' || encode(sha256(convert_to(role || i, 'UTF8')), 'hex'), i
     from generate_series($1::int, $2::int) i, unnest(array['deposit', 'fill']) as role`,
    [first, last],
  )
}

/** No request is read twice: `stride` and the number of requests have no common factor. */
const stride = 7_919

export function readStatuses(
  url: string,
  {
    stored,
    round,
    rate = usualRate,
    connections = 32,
  }: {
    readonly stored: number
    readonly round: number
    /** Per second. */
    readonly rate?: number
    readonly connections?: number
  },
): Promise<SteadyResult> {
  const count = rate * secondsPerRound
  const requests = Array.from({ length: count }, (_, index) => {
    const place = (((round * count + index) * stride) % stored) + 1
    return { path: `/intents/status/v3?requestId=${requestIdOf(place)}` }
  })
  return steadyLoad({ url, requests, connections, seconds: secondsPerRound, rate })
}
