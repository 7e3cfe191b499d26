import { blockedWallet } from '@causeway/chains'
import { type Hex, orderRefused, type SqlDatabase } from '@causeway/core'
import { z } from 'zod'
import { toBytes } from '../orders/orderColumns.ts'
import { endsWork, everyChain } from '../stops/stopStore.ts'
import { endText, type Reason, reasonText } from './reasons.ts'
import { type Standstill, standstillOf, type Waiting } from './standstill.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** One line of the list of what makes no progress. */
export type Standing = Pick<Standstill, 'isOperators'> & {
  /** Absent for a claim, and for a transaction that nobody can read. */
  readonly requestId: Hex | undefined
  /** Id of a claim, or hash of a transaction. */
  readonly subject: string | undefined
  readonly isRefund: boolean
  readonly reason: Reason
  readonly meaning: string
  readonly endsBy: string
  /** The account that the money is for or from, where it is one account. */
  readonly account: string | undefined
  readonly tries: number
  readonly report: string | undefined
  readonly transaction: string | undefined
  readonly status: string | undefined
  readonly originChainId: number | undefined
  readonly destinationChainId: number | undefined
  /** Amount that the sponsor would pay; 0n where the user pays. */
  readonly debitMicroUsd: bigint
  readonly since: Date
  readonly listedAt: Date
}

/** The setting, once the job `standstill` has stored it, else its default. */
const limitSeconds = 'coalesce((select seconds from standstill_limit), 300)'

/** Time without progress after which something is listed, as an SQL interval. */
export const standstillLimit = `(${limitSeconds} * interval '1 second')`
const isLong = (since: string) => `${since} <= statement_timestamp() - ${standstillLimit}`
const columns = 'request_id, subject, part, state, kind, since, chains, account, tries, report, transaction'

/** The account that a row of `work_item` pays, or whose payment it fetches. */
const accountOfWork = `coalesce(w.payload ->> 'recipient', w.payload #>> '{payments,0,recipient}',
  w.payload ->> 'owner', w.payload ->> 'depositAddress', w.payload ->> 'to')`

const workRow = (state: string, since: string) => `select w.request_id,
    case when w.request_id is null then w.subject end as subject, 'work' as part, ${state} as state, w.kind, ${since} as since,
    array[w.chain_id] as chains, ${accountOfWork} as account, w.attempts as tries, w.reason as report, w.tx_hash as transaction
  from work_item w`

/** Join of a settlement with the work that its stage waits for. */
const awaited = `left join work_item w on w.request_id = s.request_id
  and ((s.stage = 'filling' and w.kind = 'fill')
    or (s.stage = 'refunding' and w.kind = 'refund' and w.subject = s.deposit_id::text))`

/** A fitting deposit may follow an unfit one until then. */
const followedUntil = `case s.stage when 'refunding' then o.expires_at + interval '1 minute' end`
const stageSince = `greatest(s.updated_at, w.updated_at, ${followedUntil})`

/** An order whose deposits are recoverable waits for their owners alone. */
const unlessRecoverable = (row: string) =>
  `not exists (select from order_recovery r where r.request_id = ${row}.request_id and r.entered_at is not null)`

/** Everything that waits and has made no progress for the limit, or waits for an operator; each part by its index. */
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

/** @param condition condition on the columns of a row; it narrows each part, by the part's index */
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

/** No operator looks at more, and a flood of them makes no query larger. */
const rowsMax = 10_000

/**
 * Lists requests and claims without progress, each once, longest first: with the part that waits for an
 * operator, where there is one.
 */
export async function listStanding(database: Queries): Promise<readonly Standing[]> {
  return read(database, '$1::bytea[] is null', null)
}

/** Reads the lines of some requests, by their ids in hex. */
export async function readStandingOf(
  database: Queries,
  requestIds: readonly Hex[],
): Promise<ReadonlyMap<string, Standing>> {
  if (requestIds.length === 0) return new Map()
  const rows = await read(database, 'w.request_id = any($1::bytea[])', requestIds.map(toBytes))
  return new Map(rows.map((row) => [row.requestId ?? '', row]))
}

async function read(
  database: Queries,
  condition: string,
  ids: readonly Buffer[] | null,
): Promise<readonly Standing[]> {
  const rows = await database.query<Row>(select(condition), [ids, rowsMax])
  const standing = rows.flatMap((row) => {
    const one = fromRow(row)
    return one.isOperators || one.listedAt <= row.now ? [one] : []
  })
  const first = new Map<string, Standing>()
  for (const row of standing.toSorted(byWeight)) {
    const key = row.requestId ?? row.subject ?? ''
    if (!first.has(key)) first.set(key, row)
  }
  return [...first.values()].toSorted((one, other) => one.since.getTime() - other.since.getTime())
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
  const place = { part: row.part, state: row.state } as Pick<Waiting, 'part' | 'state'>
  const waiting = {
    ...{ ...place, sinceMs, tries, report, stop: row.stop ?? undefined },
    chains: motionsSchema.parse(row.motions) ?? [],
    // CAST: see above.
  } as Waiting
  const { reason, listedAtMs, isOperators } = standstillOf(waiting, Number(row.limit_seconds) * 1_000)
  return {
    requestId: row.request_id === null ? undefined : `0x${row.request_id.toString('hex')}`,
    subject: row.subject ?? undefined,
    isRefund: row.kind === 'refund' || reason === 'REFUND_FAILED',
    ...{ reason, meaning: reasonText(reason), isOperators },
    endsBy:
      reason === 'CHAIN_STOPPED' && row.stop !== null
        ? `${endText(reason)} Its reason: ${row.stop}`
        : endText(reason),
    account: row.account ?? undefined,
    ...{ tries, report, transaction: row.transaction ?? undefined },
    status: row.status ?? undefined,
    originChainId: numberOf(row.origin_chain_id),
    destinationChainId: numberOf(row.destination_chain_id),
    debitMicroUsd: row.debit ?? 0n,
    ...{ since: row.since, listedAt: new Date(listedAtMs) },
  }
}
