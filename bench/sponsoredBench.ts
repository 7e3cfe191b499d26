import type { SqlDatabase } from '@causeway/core'
import { createSponsor, type TestSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import type { LoadResult } from './load.ts'
import { withQuoteBed } from './quoteBed.ts'
import { alternate, bodies, describe, ratioOf } from './quoteBench.ts'
import type { BenchRow } from './row.ts'
import { type SteadyResult, steadyLoad } from './steadyLoad.ts'

/** Below the 1,000 unpinned holds that one key may have: every quote must really hold. */
const users = 900
const balanceMicroUsd = 10n ** 15n
/** Integrator traffic: far from saturation, where only latency shows. */
const steadyRate = 200
const steadySeconds = 15
const unsponsored = '/quote unsponsored'
const sponsored = '/quote sponsored'

type Measured = { readonly results: Map<string, LoadResult[]>; readonly steady: SteadyResult }

/**
 * Quotes of one hot sponsor beside unsponsored ones of the same process; PostgreSQL syncs every commit.
 * @param prepare fills the ledger before the first quote
 */
function measure(
  prepare: (database: SqlDatabase, sponsor: TestSponsor) => Promise<void>,
  more: Readonly<Record<string, string>> = {},
): Promise<Measured> {
  return withQuoteBed(
    async ({ network, database, service: { url } }) => {
      const sponsor = await createSponsor(database, balanceMicroUsd)
      await prepare(database, sponsor)
      const headers = { 'x-api-key': sponsor.apiKey }
      const texts = bodies(network, { count: users, more: { subsidizeFees: true } })
      const target = { url, path: '/quote' }
      const results = await alternate(
        [
          { name: unsponsored, ...target },
          { name: sponsored, ...target, headers, texts },
        ],
        bodies(network),
      )
      const steady = await steadyLoad({
        url,
        requests: texts.map((body) => ({ path: '/quote', body })),
        headers,
        connections: 32,
        seconds: steadySeconds,
        rate: steadyRate,
      })
      await requireHolds(database, sponsor, steady)
      return { results, steady }
    },
    () => more,
  )
}

/** A quote that fell back to its user would be cheaper and would prove nothing. */
async function requireHolds(
  database: SqlDatabase,
  sponsor: TestSponsor,
  steady: SteadyResult,
): Promise<void> {
  if (steady.failed > 0) throw new Error(`${steady.failed} requests failed`)
  const [row] = await database.query<{ held: bigint; unpaid: bigint }>(
    `select count(*) filter (where sponsor = $1) as held, count(*) filter (where sponsor is null) as unpaid
     from request_sponsorship`,
    [sponsor.wallet],
  )
  if (row === undefined || row.held === 0n || row.unpaid > 0n) {
    throw new Error(`${row?.unpaid ?? 'all'} quotes were not sponsored`)
  }
}

function rateRow({ results }: Measured, row: { id: string; name: string }): BenchRow {
  return {
    ...row,
    value: `${describe(results, sponsored)}; unsponsored ${describe(results, unsponsored)}`,
    limit: '>= 0.6 of P2',
    ratio: ratioOf(results, sponsored, unsponsored),
    goal: 0.6,
    atLeast: true,
  }
}

function latencyRows({ steady }: Measured, id: string): readonly BenchRow[] {
  const { p50Ms, p99Ms, requestsPerSecond } = steady
  const value = `${requestsPerSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
  const name = `POST /quote sponsored at ${steadyRate} requests/s`
  return [
    {
      id: `${id}-tail`,
      name: `${name}: p99 against p50`,
      value,
      limit: '<= 5 x p50',
      ratio: p99Ms / p50Ms,
      goal: 5,
      atLeast: false,
    },
    {
      id: `${id}-p99`,
      name: `${name}: p99 against 50 ms`,
      value,
      limit: '<= 1 x 50 ms',
      ratio: p99Ms / 50,
      goal: 1,
      atLeast: false,
    },
  ]
}

/** P3: one hot sponsor, a durable hold per quote. */
export async function benchSponsored(): Promise<readonly BenchRow[]> {
  const measured = await measure(async () => {})
  const name = 'POST /quote sponsored, one hot sponsor, durable hold'
  return [rateRow(measured, { id: 'P3', name }), ...latencyRows(measured, 'P3')]
}

const pastHolds = 500_000

/** Sponsored quotes with a long history: every hold is two transfers, made and expired. */
export async function benchSponsoredGrowth(): Promise<readonly BenchRow[]> {
  // No quote made this past: the check of the books would rightly halt reservations.
  const measured = await measure(addPast, { JOBS: 'off' })
  const name = `P3 with ${(2 * pastHolds).toLocaleString('en-US')} past transfers`
  return [rateRow(measured, { id: 'P3-growth', name }), ...latencyRows(measured, 'P3-growth')]
}

/** Holds that came and went leave no trace in any counter, only rows. */
async function addPast(database: SqlDatabase, sponsor: TestSponsor): Promise<void> {
  const accounts = `(select id from account where kind = 'sponsor' and owner = $1) s (sponsor),
    (select min(id) from account where kind = 'solver_earned') w (solver)`
  const past = `generate_series(1, ${pastHolds}) i,
    lateral (select sha256(convert_to('past ' || i, 'UTF8')) as digest) d`
  const id = `ledger_transfer_id('past', i::text)`
  await database.query(
    `insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, code, request_id, actor,
       body_hash, debit_after)
     select ${id}, sponsor, solver, 1, 1000, 'pending', 'sponsor_hold', digest, 'bench', digest, ${balanceMicroUsd}
     from ${accounts}, ${past}`,
    [sponsor.wallet],
  )
  await database.query(
    `insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, pending_id, code,
       request_id, actor, body_hash, debit_after)
     select ledger_transfer_id('resolve', (${id})::text), sponsor, solver, 1, 0, 'expire', ${id}, 'sponsor_expire',
       digest, 'bench', digest, ${balanceMicroUsd}
     from ${accounts}, ${past}`,
    [sponsor.wallet],
  )
  await database.query(
    `insert into hold (id, request_id, attempt, sponsor, solver, api_key_id, user_key, recipient_key,
       origin_chain_id, destination_chain_id, components, requote_key, amount, state, lifetime_seconds,
       expires_at, created_at, resolved_at)
     select ${id}, digest, 0, sponsor, solver, $2, 'past ' || i % 1000, 'past ' || i % 1000, 8453, 10,
       array['execution'], 'past ' || i, 1000, 'expired', 90,
       clock_timestamp(), clock_timestamp(), clock_timestamp()
     from ${accounts}, ${past}`,
    [sponsor.wallet, sponsor.keyId],
  )
  // A past that grew over months was vacuumed and written out on the way.
  await database.query('vacuum analyze')
  await database.query('checkpoint')
}
