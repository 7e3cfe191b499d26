import { bytesToHex, type Hex, type SqlDatabase } from '@causeway/core'
import { type LedgerBalance, readLedgerBalances } from '../../money/moneyMetrics.ts'
import { readExposure, type SolverExposure } from '../../requests/work/solverExposure.ts'
import { workKinds } from '../../requests/work/workItem.ts'
import { readWebhookStandings, type WebhookStanding } from '../../webhooks/webhookStandings.ts'

type Reading = Pick<SqlDatabase, 'query'>

/**
 * Figures for the first page of the operator console and for `status`: does money move, what is stuck, what was earned.
 * Amounts in micro-USD, at the prices that were quoted.
 */
export type Overview = {
  /** Settled requests of the last seven days, per day, newest first. */
  readonly days: readonly Day[]
  /** Requests by the last status that they took within 24 hours. */
  readonly statuses: readonly { readonly status: string; readonly requests: number }[]
  /** True if there were more changes than are read: `statuses` counts the newest. */
  readonly areStatusesCut: boolean
  /** Orders on their way, by stage. */
  readonly inFlight: readonly {
    readonly stage: string
    /** `flightsMax + 1` if there are more than `flightsMax`. */
    readonly requests: number
    /** Amounts that their recipients are to get. */
    readonly outMicroUsd: bigint
    readonly oldest: Date
  }[]
  /** Work of solvers that is not done, oldest first. */
  readonly oldestWork: readonly OpenWork[]
  readonly ledger: readonly LedgerBalance[]
  /** Wallets that pay for keys that work, least money first. */
  readonly sponsors: readonly SponsorBalance[]
  /** Webhooks whose messages wait behind a failure, or were given up. */
  readonly failingWebhooks: readonly WebhookStanding[]
  /** Payments that solvers told of and no oracle attested yet. */
  readonly unattested: readonly SolverExposure[]
  readonly oracleHalts: readonly { readonly oracle: string; readonly chainIds: readonly number[] }[]
}

type Day = {
  /** `YYYY-MM-DD` of UTC. */
  readonly day: string
  readonly requests: number
  /** Amounts that users paid in. */
  readonly volumeMicroUsd: bigint
  /** Fees of them for the solver's service, and for gas. */
  readonly serviceMicroUsd: bigint
  readonly gasMicroUsd: bigint
  /** True if the day's earlier requests are not counted, because there were too many. */
  readonly isCut: boolean
}

type OpenWork = {
  readonly kind: string
  readonly state: string
  readonly requestId: Hex | undefined
  readonly chainId: number
  readonly attempts: number
  /** The solver's last reason. */
  readonly reason: string | undefined
  readonly createdAt: Date
}

type SponsorBalance = {
  readonly wallet: string
  readonly keys: number
  readonly availableMicroUsd: bigint
  readonly heldMicroUsd: bigint
  /** Debited within 24 hours, for the newest settled requests. */
  readonly spentMicroUsd: bigint
  readonly isFrozen: boolean
}

// Most rows that are read, however many there are.
const settledMax = 2_000
const changesMax = 10_000
export const flightsMax = 1_000
const listedMax = 50
const workMax = 20

/** Reads bounded parts of tables by their indexes, so that the cost does not grow with the number of requests. */
export async function readOverview(database: Reading): Promise<Overview> {
  const [days, changes, inFlight, oldestWork, ledger, sponsors, webhooks, unattested, oracleHalts] =
    await Promise.all([
      readDays(database),
      readStatuses(database),
      readInFlight(database),
      readOldestWork(database),
      readLedgerBalances(database),
      readSponsors(database),
      readWebhookStandings(database),
      readExposure(database),
      readOracleHalts(database),
    ])
  return {
    days,
    inFlight,
    oldestWork,
    ledger,
    sponsors,
    unattested,
    oracleHalts,
    ...changes,
    failingWebhooks: webhooks
      .filter(({ failed, problem }) => failed > 0 || problem !== undefined)
      .slice(0, listedMax),
  }
}

/** SQL: joins the order of a row. A lateral join, so that no query plan reads all orders to join a few. */
const orderOf = (row: string) =>
  `cross join lateral (select quoted from orders where request_id = ${row}.request_id limit 1) o`

/**
 * SQL: sum of an amount over the orders `o`, in micro-USD: smallest units times usdX18 / 10^(decimals + 12). Orders of an
 * earlier release that lack a member add nothing.
 */
const sumMicroUsd = (amount: string, unit: 'in' | 'out' | 'fee') =>
  `coalesce(trunc(sum((o.quoted ->> '${amount}')::numeric * (o.quoted #>> '{units,${unit},usdX18}')::numeric
     / 10::numeric ^ (12 + (o.quoted #>> '{units,${unit},decimals}')::int))), 0)`

export const daysSql = `
  select to_char(s.updated_at at time zone 'utc', 'YYYY-MM-DD') as day, count(*)::int as requests,
    ${sumMicroUsd('amountIn', 'in')} as volume, ${sumMicroUsd('relayerService', 'fee')} as service,
    ${sumMicroUsd('relayerGas', 'fee')} as gas
  from (select request_id, updated_at from settlement where stage = 'settled'
      and updated_at >= date_trunc('day', now(), 'utc') - interval '6 days'
    order by updated_at desc limit ${settledMax}) s
  ${orderOf('s')} group by 1 order by 1 desc`

async function readDays(database: Reading): Promise<readonly Day[]> {
  const rows = await database.query<{
    day: string
    requests: number
    volume: string | bigint
    service: string | bigint
    gas: string | bigint
  }>(daysSql)
  const counted = rows.reduce((sum, { requests }) => sum + requests, 0)
  return rows.map(({ day, requests, volume, service, gas }, index) => ({
    day,
    requests,
    volumeMicroUsd: BigInt(volume),
    serviceMicroUsd: BigInt(service),
    gasMicroUsd: BigInt(gas),
    // The newest requests are read, so only the oldest day can lack some.
    isCut: counted === settledMax && index === rows.length - 1,
  }))
}

// The count is cut only if even the oldest change that is read lies within the 24 hours.
export const statusesSql = `
  with newest as (select id, request_id, part, state, at from request_event order by id desc limit ${changesMax}),
  latest as (select distinct on (request_id) state from newest
    where part = 'status' and at > now() - interval '24 hours' order by request_id, id desc)
  select state as status, count(*)::int as requests,
    (select count(*) = ${changesMax} and min(at) > now() - interval '24 hours' from newest) as is_cut
  from latest group by 1 order by 1`

async function readStatuses(database: Reading): Promise<Pick<Overview, 'statuses' | 'areStatusesCut'>> {
  const rows = await database.query<{ status: string; requests: number; is_cut: boolean }>(statusesSql)
  return {
    statuses: rows.map(({ status, requests }) => ({ status, requests })),
    areStatusesCut: rows[0]?.is_cut ?? false,
  }
}

// The stages are named twice, because a partial index is used only where its own condition is repeated.
export const inFlightSql = `
  select s.stage, count(*)::int as requests, min(s.created_at) as oldest,
    ${sumMicroUsd('amountOut', 'out')} as out
  from (values ('filling'), ('refunding'), ('filled')) stages (stage)
  cross join lateral (select request_id, stage, created_at from settlement each
    where each.stage = stages.stage and each.stage in ('filling', 'filled', 'refunding')
    order by each.stage, next_at limit ${flightsMax + 1}) s
  ${orderOf('s')} group by 1 order by 1`

async function readInFlight(database: Reading): Promise<Overview['inFlight']> {
  const rows = await database.query<{
    stage: string
    requests: number
    oldest: Date
    out: string | bigint
  }>(inFlightSql)
  return rows.map(({ out, ...row }) => ({ ...row, outMicroUsd: BigInt(out) }))
}

const workColumns = 'kind, state, request_id, chain_id, attempts, reason, created_at'
// Reported items are cut in the order of their index, each kind by itself: finding the oldest of all would read every one.
export const oldestWorkSql = `
  (select ${workColumns} from work_item where state = 'open' order by created_at, id limit ${workMax})
  union all
  (select reported.* from unnest(array['${workKinds.join("', '")}']) kinds (name)
    cross join lateral (select ${workColumns} from work_item where state = 'reported' and kind = kinds.name
      order by kind, not_before limit ${flightsMax}) reported
    order by created_at limit ${workMax})
  order by created_at limit ${workMax}`

async function readOldestWork(database: Reading): Promise<readonly OpenWork[]> {
  const rows = await database.query<{
    kind: string
    state: string
    request_id: Buffer | null
    chain_id: bigint
    attempts: number
    reason: string | null
    created_at: Date
  }>(oldestWorkSql)
  return rows.map((row) => ({
    kind: row.kind,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    requestId: row.request_id === null ? undefined : bytesToHex(row.request_id),
    chainId: Number(row.chain_id),
    reason: row.reason ?? undefined,
  }))
}

// Asset 1 is the USDC of sponsor money.
export const sponsorsSql = `
  with spent as (select h.sponsor, sum(h.posted_amount) as amount
    from (select request_id from settlement where stage = 'settled' and updated_at > now() - interval '24 hours'
      order by updated_at desc limit ${settledMax}) s
    cross join lateral (select sponsor, posted_amount from hold
      where hold.request_id = s.request_id and state = 'posted' limit 1) h group by 1)
  select k.wallet, k.keys, coalesce(ledger_available(a), 0) as available, coalesce(a.debits_pending, 0) as held,
    coalesce(a.frozen, false) as frozen, coalesce((select amount from spent where sponsor = a.id), 0) as spent
  from (select wallet, count(*)::int as keys from api_key
    where wallet is not null and revoked_at is null group by wallet) k
  left join account a on a.kind = 'sponsor' and a.owner = k.wallet and a.asset_id = 1
  order by available, k.wallet limit ${listedMax}`

async function readSponsors(database: Reading): Promise<readonly SponsorBalance[]> {
  const rows = await database.query<{
    wallet: string
    keys: number
    available: string | bigint
    held: string | bigint
    frozen: boolean
    spent: string | bigint
  }>(sponsorsSql)
  return rows.map(({ wallet, keys, available, held, frozen, spent }) => ({
    wallet,
    keys,
    isFrozen: frozen,
    spentMicroUsd: BigInt(spent),
    availableMicroUsd: BigInt(available),
    heldMicroUsd: BigInt(held),
  }))
}

async function readOracleHalts(database: Reading): Promise<Overview['oracleHalts']> {
  const rows = await database.query<{ oracle: string; chains: readonly bigint[] }>(
    'select oracle, array_agg(chain_id order by chain_id) as chains from oracle_halt group by 1 order by 1',
  )
  return rows.map(({ oracle, chains }) => ({ oracle, chainIds: chains.map(Number) }))
}
