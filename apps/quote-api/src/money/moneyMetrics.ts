import type { SqlDatabase } from '@causeway/core'
import { type HttpMetrics, watchSeries } from '@causeway/http'
import { shareReading } from '../jobs/shareReading.ts'
import { readSkewSum } from '../requests/orders/skewBookings.ts'

type Reading = Pick<SqlDatabase, 'query'>

/** Chains by id, as metrics name them; one that left the configuration is `other`. */
type ChainNames = ReadonlyMap<number, { readonly key: string }>

/**
 * Exposes the money in the books as metrics. They are read from the database when scraped, so that all processes show the
 * same. As floats, amounts lose their last digits above 2^53; the jobs that check the books use integers.
 */
export function watchMoney(options: {
  readonly metrics: Pick<HttpMetrics, 'registry'>
  readonly database: Reading
  readonly chains: ChainNames
  /** Most that rewards may give away within 24 hours, beside what skew costs brought in. */
  readonly rewardsPerDayMicroUsd: bigint
}): void {
  const { metrics, database, chains, rewardsPerDayMicroUsd } = options
  const nameOf = (chainId: bigint) => chains.get(Number(chainId))?.key ?? 'other'
  watchBalances(metrics, database, nameOf)
  watchHolds(metrics, database, nameOf)
  watchTopUps(metrics, database)
  watchSeries(
    metrics.registry,
    {
      name: 'rewards_left_micro_usd',
      help: 'What rewards may still give away within 24 hours, in micro-USD; those of open quotes are a part of it',
      labelNames: [],
    },
    async () => [{ labels: {}, value: Number(rewardsPerDayMicroUsd + (await readSkewSum(database))) }],
  )
}

type ChainNameLookup = (chainId: bigint) => string

/** Label of sponsor money, which is on no particular chain. */
const anyChain = 'any'

function watchBalances(
  { registry }: Pick<HttpMetrics, 'registry'>,
  database: Reading,
  nameOf: ChainNameLookup,
): void {
  watchSeries(
    registry,
    {
      name: 'ledger_balance',
      help: 'What accounts of a kind hold in the books, in smallest units of the currency; sponsor money is of any chain',
      labelNames: ['account', 'chain', 'currency'],
    },
    async () =>
      (await readLedgerBalances(database)).map(({ account, chainId, currency, balance }) => ({
        labels: { account, chain: chainId === undefined ? anyChain : nameOf(chainId), currency },
        value: Number(balance),
      })),
  )
}

/** Sum of the ledger's accounts of one kind in one currency, in its smallest unit. */
export type LedgerBalance = {
  /** Kind of the accounts. */
  readonly account: string
  /** Absent for sponsor money. */
  readonly chainId: bigint | undefined
  /** Symbol. */
  readonly currency: string
  readonly decimals: number
  readonly balance: bigint
}

/** The balance of an account of normal side `C` grows by credits, that of any other by debits. */
export async function readLedgerBalances(database: Reading): Promise<readonly LedgerBalance[]> {
  const rows = await database.query<{
    kind: string
    chain_id: bigint | null
    symbol: string
    decimals: number
    balance: bigint
  }>(`
    select a.kind, s.chain_id, s.symbol, s.decimals, sum(case a.normal_side
      when 'C' then a.credits_posted - a.debits_posted else a.debits_posted - a.credits_posted end) as balance
    from account a join asset s on s.id = a.asset_id group by 1, 2, 3, 4`)
  return rows.map(({ kind, chain_id: chainId, symbol, decimals, balance }) => ({
    account: kind,
    chainId: chainId ?? undefined,
    currency: symbol,
    decimals,
    balance: BigInt(balance),
  }))
}

function watchHolds(
  { registry }: Pick<HttpMetrics, 'registry'>,
  database: Reading,
  nameOf: ChainNameLookup,
): void {
  // The condition on `expires_at` holds for every row; it lets PostgreSQL use the partial index `hold_due`.
  const read = shareReading(() =>
    database.query<{ chain_id: bigint; holds: bigint; amount: bigint }>(`
      select origin_chain_id as chain_id, count(*) as holds, sum(amount) as amount
      from hold where state = 'reserved' and expires_at > '-infinity' group by 1`),
  )
  const gauge = (name: string, help: string, member: 'holds' | 'amount') =>
    watchSeries(registry, { name, help, labelNames: ['chain'] }, async () =>
      (await read()).map((row) => ({ labels: { chain: nameOf(row.chain_id) }, value: Number(row[member]) })),
    )
  gauge(
    'sponsor_held_micro_usd',
    'Held of sponsors for open requests, in micro-USDC, by the chain that users pay on',
    'amount',
  )
  gauge('sponsor_holds', 'Holds of sponsors for open requests', 'holds')
}

function watchTopUps({ registry }: Pick<HttpMetrics, 'registry'>, database: Reading): void {
  const read = shareReading(async () => {
    const rows = await database.query<{ state: string; top_ups: bigint; amount: bigint; oldest: bigint }>(`
      select 'pending' as state, count(*) as top_ups, coalesce(sum(value), 0) as amount,
        coalesce(extract(epoch from clock_timestamp() - min(seen_at)), 0)::bigint as oldest
      from chain_event where state = 'seen'
      union all
      select 'suspended', count(*), coalesce(sum(value), 0),
        coalesce(extract(epoch from clock_timestamp() - min(final_at)), 0)::bigint
      from chain_event where state = 'final' and credited_owner is null and claimed_owner is null`)
    return rows
  })
  const gauge = (name: string, help: string, member: 'top_ups' | 'amount' | 'oldest') =>
    watchSeries(registry, { name, help, labelNames: ['state'] }, async () =>
      (await read()).map((row) => ({ labels: { state: row.state }, value: Number(row[member]) })),
    )
  gauge('top_ups_open', 'Top-ups that wait for finality, and suspended ones that nobody claimed', 'top_ups')
  gauge('top_ups_open_micro_usd', 'What they amount to, in micro-USDC', 'amount')
  gauge('top_ups_open_oldest_seconds', 'How long the oldest of them has waited; 0 without one', 'oldest')
}
