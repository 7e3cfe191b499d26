import { blockedWallet } from '@causeway/chains'
import { type Hex, orderRefused, type SqlDatabase } from '@causeway/core'
import { z } from 'zod'
import { toBytes } from '../orders/orderColumns.ts'
import { endsWork, everyChain } from '../stops/stopStore.ts'
import { endText, type Reason, reasonText } from './reasons.ts'
import { type Standstill, standstillOf, type Waiting } from './standstill.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** One entry of the list of standstills: a request, claim or transaction that makes no progress. */
export type Standing = Pick<Standstill, 'isOperators'> & {
  /** Undefined for a claim, and for an unreadable transaction. */
  readonly requestId: Hex | undefined
  /** Id of the claim, or hash of the transaction; undefined for a request. */
  readonly subject: string | undefined
  readonly isRefund: boolean
  readonly reason: Reason
  /** The reason in one sentence. */
  readonly meaning: string
  /** The event that ends the standstill, in one sentence. */
  readonly endsBy: string
  /** Account that is to be paid, or that paid, where there is only one. */
  readonly account: string | undefined
  readonly tries: number
  /** Last report of the solver or stored reason. */
  readonly report: string | undefined
  readonly transaction: string | undefined
  /** Public status of the request. */
  readonly status: string | undefined
  readonly originChainId: number | undefined
  readonly destinationChainId: number | undefined
  /** Amount that the sponsor would pay; 0n where the user pays. */
  readonly debitMicroUsd: bigint
  /** Start of the time without progress. */
  readonly since: Date
  /** When it came onto the list. */
  readonly listedAt: Date
}

/** SQL of the configured limit in seconds, which the job `standstill` stores; else the default. */
const limitSeconds = 'coalesce((select seconds from standstill_limit), 300)'

/** SQL interval without progress after which something is listed. */
export const standstillLimit = `(${limitSeconds} * interval '1 second')`
const isLong = (since: string) => `${since} <= statement_timestamp() - ${standstillLimit}`
/** Columns that each part of the union yields, in this order. */
const columns = 'request_id, subject, part, state, kind, since, chains, account, tries, report, transaction'

/** SQL of the account that a work item pays, or whose money it collects. */
const accountOfWork = `coalesce(w.payload ->> 'recipient', w.payload #>> '{payments,0,recipient}',
  w.payload ->> 'owner', w.payload ->> 'depositAddress', w.payload ->> 'to')`

const workRow = (state: string, since: string) => `select w.request_id,
    case when w.request_id is null then w.subject end as subject, 'work' as part, ${state} as state, w.kind, ${since} as since,
    array[w.chain_id] as chains, ${accountOfWork} as account, w.attempts as tries, w.reason as report, w.tx_hash as transaction
  from work_item w`

/** SQL join of a settlement with the work item that its stage waits for. */
const awaited = `left join work_item w on w.request_id = s.request_id
  and ((s.stage = 'filling' and w.kind = 'fill')
    or (s.stage = 'refunding' and w.kind = 'refund' and w.subject = s.deposit_id::text))`

/** SQL of the time until which a fitting deposit may follow a refunded one, so that the request waits on purpose. */
const followedUntil = `case s.stage when 'refunding' then o.expires_at + interval '1 minute' end`
const stageSince = `greatest(s.updated_at, w.updated_at, ${followedUntil})`

/** SQL that excludes orders whose deposits are recoverable, since these wait only for their depositors. */
const unlessRecoverable = (row: string) =>
  `not exists (select from order_recovery r where r.request_id = ${row}.request_id and r.entered_at is not null)`

/** SQL of everything that has made no progress for the limit, or waits for an operator. Each query uses its own index. */
const waitingRows = [
  `select d.request_id, null, 'deposit', 'held', null, d.updated_at, array[d.chain_id], d.depositor, 0, null, d.tx_hash
   from deposit_seen d where d.state = 'held'`,
  `select d.request_id, null, 'deposit', case when d.deep_since is null then 'shallow' else 'deep' end, null,
     coalesce(d.deep_since, d.seen_at), array[d.chain_id], d.depositor, 0, null, d.tx_hash
   from deposit_seen d where d.state = 'seen' and ${isLong('coalesce(d.deep_since, d.seen_at)')}`,
  `select s.request_id, null, 'stage', 'parked', null, s.updated_at, array[]::bigint[], null, 0, s.parked_reason,
     coalesce(s.fill_tx, s.refund_tx)
   from settlement s where s.stage = 'parked' and ${unlessRecoverable('s')}`,
  `select r.request_id, null, 'stage', 'parked', null, r.decided_at, array[]::bigint[], null, 0, 'RECOVERY_WAITS', null
   from order_recovery r where r.entered_at is null`,
  `select s.request_id, null, 'stage', 'undecided', w.kind, ${stageSince}, array[o.origin_chain_id, o.destination_chain_id],
     ${accountOfWork}, coalesce(w.attempts, 0), w.reason, w.tx_hash
   from settlement s join orders o using (request_id) ${awaited}
   where s.stage in ('filling', 'refunding') and coalesce(w.state not in ('open', 'reported'), true)
     and ${isLong(stageSince)}`,
  `select s.request_id, null, 'stage', case when s.unproven_since is null then 'confirming' else 'unproven' end, 'fill',
     coalesce(s.unproven_since, s.updated_at), array[o.origin_chain_id, o.destination_chain_id], o.recipient,
     s.attempts, s.unproven_as, s.fill_tx
   from settlement s join orders o using (request_id)
   where s.stage = 'filled' and ${isLong('coalesce(s.unproven_since, s.updated_at)')}`,
  `${workRow(`'withheld'`, 'w.withheld_at')} where w.withheld_at is not null and w.state = 'open'`,
  `${workRow(`'failed'`, 'w.updated_at')} where w.kind = 'refund' and w.state = 'failed'
     and ${unlessRecoverable('w')}`,
  `${workRow(`'open'`, 'w.waits_since')} where w.state = 'open' and w.withheld_at is null and w.kind not in ('sweep', 'recovery')
     and not w.is_deposited and (${isLong('w.waits_since')} or (w.attempts > 0 and w.reason like '${orderRefused}%'))`,
  `${workRow(`case when w.is_included then 'included' else 'reported' end`, 'w.waits_since')}
   where w.state = 'reported' and w.kind <> 'sweep' and ${isLong('w.waits_since')}`,
  `select a.request_id, null, 'address', 'held', null, a.active_at, array[a.chain_id], a.address, 0, null, null
   from deposit_address a where a.left_reason = '${blockedWallet}'`,
  `select a.request_id, null, 'address', case when a.deep_since is null then 'shallow' else 'deep' end, 'sweep',
     coalesce(a.deep_since, a.held_since), array[a.chain_id], a.address, coalesce(w.attempts, 0), w.reason, w.tx_hash
   from deposit_address a left join lateral (select * from work_item w where w.request_id = a.request_id
     and w.kind = 'sweep' order by w.created_at desc limit 1) w on true
   where a.held_since is not null and ${isLong('coalesce(a.deep_since, a.held_since)')}`,
  `select h.request_id, null, 'hold', 'over', null, h.expires_at, array[]::bigint[], null, 0, null, null
   from hold h where h.state = 'reserved' and h.expires_at > '-infinity' and ${isLong('h.expires_at')}`,
  `select null, p.transaction_id, 'transaction', 'over', null, p.first_seen_at, array[p.chain_id], null, p.tries, p.reason,
     p.transaction_id
   from put_aside p where ${isLong('p.first_seen_at')}`,
]

/** SQL of the list. @param condition on the columns of a row, which PostgreSQL applies within each query of the union */
const select = (condition: string) => `
  select w.*, o.status, o.origin_chain_id, o.destination_chain_id, ${limitSeconds} as limit_seconds,
    clock_timestamp() as now,
    (select r.debit_micro_usd from request_sponsorship r where r.request_id = w.request_id) as debit,
    (select json_agg(json_build_object('movedAtMs', extract(epoch from c.moved_at) * 1000, 'paceMs', c.pace_ms))
      from deposit_cursor c where c.chain_id = any(w.chains)) as motions,
    (select s.reason from chain_stop s where ${endsWork('s.told_by')}
      and (s.chain_id in (${everyChain}, o.origin_chain_id) or s.chain_id = any(w.chains)) limit 1) as stop
  from (${waitingRows.map((row) => `(${row})`).join(' union all ')}) w (${columns})
  left join orders o on o.request_id = w.request_id
  where ${condition} order by w.since limit $2`

/** Bounds the query; no operator reads more entries. */
const rowsMax = 10_000

/**
 * Lists all standstills, the longest first. If several parts of a request stand still, it appears once, with the part that
 * waits for an operator or else the oldest one.
 */
export async function listStanding(database: Queries): Promise<readonly Standing[]> {
  return readList(database, '$1::bytea[] is null', null)
}

/** Reads the standstills of some requests, by request id. */
export async function readStandingOf(
  database: Queries,
  requestIds: readonly Hex[],
): Promise<ReadonlyMap<string, Standing>> {
  if (requestIds.length === 0) return new Map()
  const rows = await readList(database, 'w.request_id = any($1::bytea[])', requestIds.map(toBytes))
  return new Map(rows.map((row) => [row.requestId ?? '', row]))
}

async function readList(
  database: Queries,
  condition: string,
  ids: readonly Buffer[] | null,
): Promise<readonly Standing[]> {
  const rows = await database.query<Row>(select(condition), [ids, rowsMax])
  const standing = rows.flatMap((row) => {
    const entry = fromRow(row)
    return entry.isOperators || entry.listedAt <= row.now ? [entry] : []
  })
  const entryBySubject = new Map<string, Standing>()
  for (const row of standing.toSorted(byWeight)) {
    const key = row.requestId ?? row.subject ?? ''
    if (!entryBySubject.has(key)) entryBySubject.set(key, row)
  }
  return [...entryBySubject.values()].toSorted((one, other) => one.since.getTime() - other.since.getTime())
}

const byWeight = (one: Standing, other: Standing) =>
  Number(other.isOperators) - Number(one.isOperators) || one.since.getTime() - other.since.getTime()

const motionsSchema = z.array(z.object({ movedAtMs: z.number(), paceMs: z.number() })).nullable()

type Row = {
  readonly request_id: Buffer | null
  readonly subject: string | null
  readonly part: string
  readonly state: string
  readonly kind: string | null
  readonly since: Date
  readonly account: string | null
  readonly tries: number
  readonly report: string | null
  readonly transaction: string | null
  readonly status: string | null
  readonly origin_chain_id: bigint | null
  readonly destination_chain_id: bigint | null
  readonly limit_seconds: number
  readonly now: Date
  readonly debit: bigint | null
  readonly motions: unknown
  readonly stop: string | null
}

function fromRow(row: Row): Standing {
  const numberOf = (id: bigint | null) => (id === null ? undefined : Number(id))
  const { tries, report } = { tries: Number(row.tries), report: row.report ?? undefined }
  const sinceMs = row.since.getTime()
  // CAST: the statement writes parts and states of the type.
  const partAndState = { part: row.part, state: row.state } as Pick<Waiting, 'part' | 'state'>
  const waiting = {
    ...partAndState,
    sinceMs,
    tries,
    report,
    stop: row.stop ?? undefined,
    chains: motionsSchema.parse(row.motions) ?? [],
    // CAST: see above.
  } as Waiting
  const { reason, listedAtMs, isOperators } = standstillOf(waiting, Number(row.limit_seconds) * 1_000)
  return {
    requestId: row.request_id === null ? undefined : `0x${row.request_id.toString('hex')}`,
    subject: row.subject ?? undefined,
    isRefund: row.kind === 'refund' || reason === 'REFUND_FAILED',
    reason,
    meaning: reasonText(reason),
    isOperators,
    endsBy:
      reason === 'CHAIN_STOPPED' && row.stop !== null
        ? `${endText(reason)} Its reason: ${row.stop}`
        : endText(reason),
    account: row.account ?? undefined,
    tries,
    report,
    transaction: row.transaction ?? undefined,
    status: row.status ?? undefined,
    originChainId: numberOf(row.origin_chain_id),
    destinationChainId: numberOf(row.destination_chain_id),
    debitMicroUsd: row.debit ?? 0n,
    since: row.since,
    listedAt: new Date(listedAtMs),
  }
}
