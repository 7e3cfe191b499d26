import type { Hex, SqlTx } from '@causeway/core'
import type { LedgerAsset } from '../transfers/accounts.ts'

/** Kinds of balance events, as the public client `@relayprotocol/relay-sdk` names them; `app-fee` is ours. */
export const balanceEventContexts = [
  'set-pending-amount',
  'unset-pending-amount',
  'pay-fees',
  'balance-topup',
  'claim',
  'app-fee',
] as const
export type BalanceEventContext = (typeof balanceEventContexts)[number]

/** One change of what a wallet may spend or claim. A post of a hold is two: the hold is freed, the fees are paid. */
export type BalanceEvent = {
  /** Larger for later events of one wallet. */
  readonly id: bigint
  /** Absent for sponsor money, whose currency is the service's. */
  readonly asset: LedgerAsset | undefined
  /** Smallest units, signed. */
  readonly delta: bigint
  /** Available balance after the event. */
  readonly balanceAfter: bigint
  readonly context: BalanceEventContext
  readonly requestId: Hex | undefined
  readonly createdAt: Date
}

export type BalanceEventQuery = {
  /** Lower-case. */
  readonly wallet: string
  readonly limit: number
  /** `id` of the last event of the page before. */
  readonly cursor?: bigint
  readonly context?: BalanceEventContext
  readonly requestId?: Hex
  readonly currency?: CurrencyFilter
}

/** Filter on the currency of events; an absent member does not filter. */
export type CurrencyFilter = {
  readonly chainId?: number
  /** In any case where the family's addresses have no case. */
  readonly address?: string
  /** True if sponsor money, which has no chain and address, passes the filter. */
  readonly withSponsorMoney: boolean
}

/**
 * SQL that turns a transfer `t` on the debit side of the account `own` into balance changes: (part, delta,
 * balance after, context). Debits lower what `own` may spend. `p` is the pending transfer that `t` ends. Part
 * 0 is about held money: a `pending` transfer holds its amount, and every end of one (`post`, `void`,
 * `expire`) frees all of it, `p.amount`. Part 1 pays: `post` and `posted`. So a `post` is both, and
 * `debit_after` is the balance after both: part 0 adds the payment back, as it is not paid yet. A null delta
 * is no event. A debit with any other code than those that are listed counts as `claim`.
 */
const changesOfDebits = `(values
  (0, case t.kind when 'pending' then -t.amount when 'posted' then null else p.amount end,
    t.debit_after + case t.kind when 'post' then t.amount else 0 end,
    case t.kind when 'pending' then 'set-pending-amount' else 'unset-pending-amount' end),
  (1, case when t.kind in ('post', 'posted') then -t.amount end, t.debit_after,
    case t.code when 'sponsor_post' then 'pay-fees' when 'found_fill' then 'pay-fees' when 'reversal' then 'balance-topup' else 'claim' end))`
/** As `changesOfDebits`, on the credit side, where a transfer is one change. */
const changesOfCredits = `(values (0, t.amount, t.credit_after,
  case when own.kind = 'sponsor' then 'balance-topup' when t.code = 'claim_failed' then 'claim'
    else 'app-fee' end))`

/**
 * Events of one side of the account. Event ids are `seq * 2 + part`, and `$2` is the first id that is
 * excluded; the coarser bound on `seq` lets the index serve. A transfer without a balance after it does not
 * change what the account may spend.
 */
const eventsOfSide = (side: 'debit' | 'credit', changes: string) => `(
  select t.seq * 2 + c.part as id, c.delta, c.balance_after, c.context, t.request_id, t.created_at
  from transfer t left join transfer p on p.id = t.pending_id
    cross join lateral ${changes} c (part, delta, balance_after, context)
  where t.${side}_account = own.id and t.${side}_after is not null and c.delta <> 0
    and t.seq <= $2::bigint / 2 and t.seq * 2 + c.part < $2::bigint
    and ($3::text is null or c.context = $3) and ($4::bytea is null or t.request_id = $4)
  order by t.seq desc, c.part desc limit $5)`

/**
 * Parameters: $1 wallet, $2 cursor, $3 context, $4 request id, $5 limit, then the members of `CurrencyFilter`
 * in their order. Addresses are stored in lower case, or as they are where case matters: it tries both.
 */
const select = `
  select e.*, s.chain_id, s.address, s.symbol, s.name, s.decimals
  from account own join asset s on s.id = own.asset_id
  cross join lateral (${eventsOfSide('debit', changesOfDebits)} union all ${eventsOfSide('credit', changesOfCredits)}) e
  where own.owner = $1 and own.kind in ('sponsor', 'app_fee')
    and case when s.chain_id is null then $8::boolean
      else ($6::numeric is null or s.chain_id = $6) and ($7::text is null or s.address in ($7, lower($7))) end
  order by e.id desc limit $5`

/** Cursor of the first page: above every event id, near the end of PostgreSQL's `bigint`. */
const firstPageCursor = 9_223_372_036_854_775_806n

type EventRow = {
  readonly id: bigint
  readonly delta: bigint
  readonly balance_after: bigint
  readonly context: BalanceEventContext
  readonly request_id: Buffer | null
  readonly created_at: Date
  readonly chain_id: bigint | null
  readonly address: string | null
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}

/** One page of a wallet's money history, newest first. The deltas of each asset add up to its balance. */
export async function balanceEvents(
  tx: SqlTx,
  query: BalanceEventQuery,
): Promise<{ readonly events: readonly BalanceEvent[]; readonly cursor: bigint | undefined }> {
  const { wallet, limit, cursor = firstPageCursor, context = null, requestId, currency } = query
  const request = requestId === undefined ? null : Buffer.from(requestId.slice(2), 'hex')
  const rows = await tx.query<EventRow>(select, [
    wallet,
    cursor,
    context,
    request,
    limit,
    currency?.chainId ?? null,
    currency?.address ?? null,
    currency?.withSponsorMoney ?? true,
  ])
  const events = rows.map(toEvent)
  return { events, cursor: events.length < limit ? undefined : events.at(-1)?.id }
}

function toEvent(row: EventRow): BalanceEvent {
  const { chain_id, address, symbol, name, decimals } = row
  return {
    id: row.id,
    asset:
      chain_id === null || address === null
        ? undefined
        : { chainId: Number(chain_id), address, symbol, name, decimals },
    delta: row.delta,
    balanceAfter: row.balance_after,
    context: row.context,
    requestId: row.request_id === null ? undefined : `0x${row.request_id.toString('hex')}`,
    createdAt: row.created_at,
  }
}
