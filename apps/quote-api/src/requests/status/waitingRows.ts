// SQL of everything that is unfinished and may stand still. `readStanding.ts` reads it, and `standstill.ts` judges each row.
import { blockedWallet } from '@causeway/chains'
import { orderRefused } from '@causeway/core'
import { endsWork, everyChain } from '../stops/stopStore.ts'

/** SQL of the configured limit in seconds, which the job `standstill` stores; else the default. */
const limitSeconds = 'coalesce((select seconds from standstill_limit), 300)'

/** SQL interval without progress after which something is listed. */
export const standstillLimit = `(${limitSeconds} * interval '1 second')`
/** SQL condition: that time lies further back than the limit. */
const isLong = (since: string) => `${since} <= statement_timestamp() - ${standstillLimit}`
/**
 * Columns of a row of `waitingRows`, in the order in which each query yields them. `part` and `state` are
 * those of `Waiting`, in combinations that it has; `kind` is that of the work item concerned, null without
 * one; `since` begins the time without progress; `chains` are the ids of the chains whose blocks it waits
 * for.
 */
const columns = 'request_id, subject, part, state, kind, since, chains, account, tries, report, transaction'

/** SQL of the account that a work item pays, or whose money it collects. */
const accountOfWork = `coalesce(w.payload ->> 'recipient', w.payload #>> '{payments,0,recipient}',
  w.payload ->> 'owner', w.payload ->> 'depositAddress', w.payload ->> 'to')`

/** SQL of a work item as a row of `waitingRows`; a condition follows. */
const selectWork = (state: string, since: string) => `select w.request_id,
    case when w.request_id is null then w.subject end as subject, 'work' as part, ${state} as state, w.kind, ${since} as since,
    array[w.chain_id] as chains, ${accountOfWork} as account, w.attempts as tries, w.reason as report, w.tx_hash as transaction
  from work_item w`

/** SQL join of a settlement with the work item that its stage waits for. */
const awaited = `left join work_item w on w.request_id = s.request_id
  and ((s.stage = 'filling' and w.kind = 'fill')
    or (s.stage = 'refunding' and w.kind = 'refund' and w.subject = s.deposit_id::text))`

/** SQL of a time by which no fitting deposit can follow a refunded one; until then waiting is on purpose. */
const followedUntil = `case s.stage when 'refunding' then o.expires_at + interval '1 minute' end`
/** SQL of the start of the time without progress in a stage that waits for a work item. */
const stageSince = `greatest(s.updated_at, w.updated_at, ${followedUntil})`

/** SQL that excludes orders whose deposits are recoverable, since these wait only for their depositors. */
const unlessRecoverable = (row: string) =>
  `not exists (select from order_recovery r where r.request_id = ${row}.request_id and r.entered_at is not null)`

/**
 * SQL of everything that has made no progress for the limit, waits for an operator, or is refused by the
 * solver. Each query uses its own index.
 */
const waitingRows = [
  // Deposits, and requests by the stage of their settlement.
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
  // Work items. Sweeps are shown by their address, and open recoveries by their order, as above.
  `${selectWork(`'withheld'`, 'w.withheld_at')} where w.withheld_at is not null and w.state = 'open'`,
  `${selectWork(`'failed'`, 'w.updated_at')} where w.kind = 'refund' and w.state = 'failed'
     and ${unlessRecoverable('w')}`,
  `${selectWork(`'open'`, 'w.waits_since')} where w.state = 'open' and w.withheld_at is null and w.kind not in ('sweep', 'recovery')
     and not w.is_deposited and (${isLong('w.waits_since')} or (w.attempts > 0 and w.reason like '${orderRefused}%'))`,
  `${selectWork(`case when w.is_included then 'included' else 'reported' end`, 'w.waits_since')}
   where w.state = 'reported' and w.kind <> 'sweep' and ${isLong('w.waits_since')}`,
  // Money at deposit addresses, holds that stay (`-infinity` is in the condition of their index), and
  // transactions that cannot be read.
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

/**
 * SQL of the list: each row with facts of its request, its chains and their stops. The second parameter limits its length.
 * @param condition on the columns of a row, which PostgreSQL applies within each query of the union
 */
export const selectWaiting = (condition: string) => `
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

/** Row of `selectWaiting`. */
export type WaitingRow = {
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
