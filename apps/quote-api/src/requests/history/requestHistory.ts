import { type Hex, type Order, orderSchema, type SqlDatabase, type SqlWriteTx } from '@causeway/core'
import { toHex } from '../orders/orderColumns.ts'
import type { ListedStandstill } from '../status/readStanding.ts'
import type { RequestStatus } from '../status/requestProgress.ts'
import { readShown, type ShownRow, shownColumns, shownReasons } from '../status/shownReasons.ts'
import { encodeCursor } from './cursor.ts'
import {
  type QuotedAmounts,
  type QuotedSponsorship,
  quotedAmountsSchema,
  quotedSponsorshipSchema,
} from './quotedAmounts.ts'
import { countSql, isAtAddress, type Page, pageSql, type RequestFilter, type Sql } from './requestFilter.ts'

/** One transaction that was seen for a request. */
export type RequestTransaction = {
  readonly role: 'deposit' | 'fill' | 'refund'
  readonly chainId: number
  readonly txHash: string
  readonly blockNumber: bigint | undefined
  readonly seenAtMs: number
}

/** Sponsorship that was asked for with a request. */
export type RequestSponsorship = {
  /** Wallet that pays; undefined where the user pays all. */
  readonly sponsor: string | undefined
  readonly quoted: QuotedSponsorship
  /** Debit for the quoted input; 0n without a sponsor. */
  readonly debitMicroUsd: bigint
  /** Debit for the deposit; undefined until the balance was debited. */
  readonly debitedMicroUsd: bigint | undefined
  /** True if the hold is taken at the deposit and not at the quote. */
  readonly isHeldAtDeposit: boolean
}

/** A request as its integrator looks it up. */
export type RequestRecord = {
  readonly requestId: Hex
  readonly orderId: Hex | undefined
  /** API key that it was made with. */
  readonly apiKeyId: string | undefined
  readonly status: RequestStatus
  readonly failReason: string | undefined
  readonly refundFailReason: string | undefined
  readonly user: string
  readonly recipient: string
  readonly originChainId: number
  readonly destinationChainId: number
  readonly depositAddress: string | undefined
  /** The transfer to the deposit address, and its `sender` if one account alone made it. */
  readonly addressTransfer?: { readonly txHash: string; readonly sender: string | null } | undefined
  /** Absent without a deposit address. */
  readonly addressTerms?: { readonly type: 'open' | 'strict'; readonly recoveryAddress: string } | undefined
  /** Deposit that pays the request or is refunded, in its canonical currency; undefined before that. */
  readonly taken?: { readonly currency: string; readonly amount: bigint } | undefined
  /** Amount that the first recipient of its order got, in smallest units; absent until it was measured. */
  readonly measuredOutput?: bigint | undefined
  /** Newer request of the same deposit address, which replaced this one before it was paid. */
  readonly supersededByRequestId: Hex | undefined
  readonly quoted: QuotedAmounts
  readonly order: Order | undefined
  /** Account that a refund was asked for; undefined while nothing goes back. */
  readonly refundedTo?: string | undefined
  /** Undefined until the caller asked for it or the deposit was seen. */
  readonly orderSignature: Hex | undefined
  readonly sponsorship: RequestSponsorship | undefined
  readonly transactions: readonly RequestTransaction[]
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Highest total that is told exactly, because counting more takes too long. */
export const totalMax = 1_000

/** Lists of requests for routes, console pages and operators. */
export interface RequestHistory {
  /** Newest first unless asked otherwise. `continuation` is absent on the last page. */
  list(
    filter: RequestFilter,
    page: Page,
  ): Promise<{ readonly requests: readonly RequestRecord[]; readonly continuation: string | undefined }>
  /** True if the address is the deposit address of a request; hex in any case. */
  isDepositAddress(address: string): Promise<boolean>
  /** Counts the requests on all pages; `totalMax + 1` stands for any higher number. */
  count(filter: RequestFilter, page: Page): Promise<number>
}

/**
 * Columns of a `HistoryRow`. The table `deposit_address` keeps hex in lower case, and other addresses as they
 * are. The measured output is that of the fill, or of the transaction that the user executed alone.
 */
const columns = `
  o.request_id, o.order_id, o.api_key_id, ${shownColumns}, o.user_address, o.recipient,
  o.origin_chain_id, o.destination_chain_id, o.deposit_address, o.superseded_by, o.quoted, o.order_data, o.order_signature,
  (extract(epoch from o.created_at) * 1000000)::bigint as created_at_us,
  (extract(epoch from coalesce(o.updated_at, o.created_at)) * 1000000)::bigint as updated_at_us,
  s.request_id is not null as is_sponsorship, s.sponsor, s.quoted as sponsorship, s.debit_micro_usd as debit,
  (select h.posted_amount from hold h where h.request_id = o.request_id and h.state = 'posted') as debited,
  exists (select from hold_at_deposit d where d.request_id = o.request_id) as holds_at_deposit,
  (select w.payload ->> 'recipient' from work_item w where w.kind = 'refund' and w.request_id = o.request_id
    order by w.created_at desc limit 1) as refunded_to,
  (select json_build_object('type', case when d.is_strict then 'strict' else 'open' end,
      'recoveryAddress', d.depositor)
    from deposit_address d where d.address in (o.deposit_address, lower(o.deposit_address)) limit 1) as address_terms,
  (select json_build_object('txHash', a.tx_hash, 'sender', a.sender) from address_transfer a
    where a.request_id = o.request_id) as address_transfer,
  (select json_build_object('currency', d.currency, 'amount', d.amount::text) from settlement t
    join deposit_seen d on d.id = t.deposit_id where t.request_id = o.request_id) as taken,
  coalesce((select m.output_amount from fill_measurement m where m.request_id = o.request_id),
    (select max(e.paid_amount) from said_transaction e where e.request_id = o.request_id and e.state = 'executed'))
    as measured_output,
  (select json_agg(json_build_object('role', t.role, 'chainId', t.chain_id, 'txHash', t.tx_hash,
      'blockNumber', t.block_number::text, 'seenAtMs', floor(extract(epoch from t.seen_at) * 1000))
      order by t.seen_at, t.tx_hash)
    from request_transaction t where t.request_id = o.request_id) as transactions`

/** Reads requests by their ids, in their order. */
const details = `select ${columns} from unnest($1::bytea[]) with ordinality as page (request_id, place)
  join orders o using (request_id) left join request_sponsorship s using (request_id) order by place`

/** Lists are planned anew for their values, because a key may have one request on a chain or a million. */
const plannedAnew = { isPlannedEachTime: true } as const
/** Reads by ids use one cached plan, because planning takes longer than reading. */
const useCachedPlan = 'set local plan_cache_mode = force_generic_plan'

/** Requests in PostgreSQL. @source Q-77 */
export function createRequestHistory({ database }: { database: SqlDatabase }): RequestHistory {
  return {
    async list(filter, page) {
      const { limit, sortBy } = page
      const changedBeforeMicros = sortBy === 'updatedAt' ? await readChangedBefore(database) : undefined
      // One database snapshot for both reads: a request that changed in between might no longer match the filter.
      // `opensWithRead` sends the first of them together with `begin`, which saves a round trip.
      const snapshotOptions = { isSnapshot: true, opensWithRead: true } as const
      const { entries, rows, standing } = await database.transaction(
        (tx) => readPage(tx, pageSql(filter, page, changedBeforeMicros), page),
        snapshotOptions,
      )
      const last = entries[limit - 1]
      const hasMore = entries.length > limit && last !== undefined
      return {
        requests: rows.map((row) => fromRow(row, standing.get(toHex(row.request_id)))),
        continuation: hasMore
          ? encodeCursor({ sortBy, atMicros: last.at_us, id: toHex(last.request_id) })
          : undefined,
      }
    },

    async isDepositAddress(address) {
      const rows = await database.query(`select from orders o where ${isAtAddress('$1')} limit 1`, [address])
      return rows.length > 0
    },

    async count(filter, page) {
      const { text, values } = countSql(filter, page, totalMax + 1)
      const [row] = await database.query<{ count: bigint }>(text, values, plannedAnew)
      return Number(row?.count ?? 0n)
    },
  }
}

type PageRows = {
  /** Id and sort time of each request of the page, and of one more if there is a next page. */
  readonly entries: readonly { readonly request_id: Buffer; readonly at_us: bigint }[]
  /** Details of the requests on the page, in the same order. */
  readonly rows: readonly HistoryRow[]
  /** Standstills of these requests, by request id. */
  readonly standing: ReadonlyMap<string, ListedStandstill>
}

/** Reads the ids of a page, then the details of its requests. */
async function readPage(
  tx: SqlWriteTx,
  { text, values }: Sql,
  { direction, limit }: Page,
): Promise<PageRows> {
  const entries = await tx.query<PageRows['entries'][number]>(
    `select request_id, (extract(epoch from page.at) * 1000000)::bigint as at_us from (${text}) page
     order by page.at ${direction}, request_id ${direction}`,
    values,
    plannedAnew,
  )
  if (entries.length === 0) return { entries, rows: [], standing: new Map() }
  tx.send(useCachedPlan)
  const ids = entries.slice(0, limit).map(({ request_id }) => request_id)
  const rows = await tx.query<HistoryRow>(details, [ids])
  return { entries, rows, standing: await readShown(tx, rows) }
}

/**
 * Time, in microseconds since 1970, that every later change of a request exceeds: the start of the oldest transaction that
 * is still writing. Lists by `updatedAt` end there, so that no page misses a change. It is read outside the list's
 * transaction, whose snapshot would hide the writes of a transaction that has ended since.
 */
async function readChangedBefore(database: SqlDatabase): Promise<bigint> {
  const [row] = await database.query<{ at_us: bigint }>(
    `select (extract(epoch from least(clock_timestamp(), min(xact_start))) * 1000000)::bigint as at_us
     from pg_stat_activity where datname = current_database() and backend_xid is not null`,
    // The empty list of values lets the plan be cached.
    [],
  )
  if (row === undefined) throw new Error('an aggregate has a row')
  return row.at_us
}

type HistoryRow = ShownRow & {
  readonly request_id: Buffer
  readonly order_id: Buffer | null
  readonly api_key_id: string | null
  readonly user_address: string
  readonly recipient: string
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly deposit_address: string | null
  readonly superseded_by: Buffer | null
  readonly quoted: unknown
  readonly order_data: unknown
  readonly order_signature: Buffer | null
  readonly created_at_us: bigint
  readonly updated_at_us: bigint
  readonly is_sponsorship: boolean
  readonly sponsor: string | null
  readonly sponsorship: unknown
  readonly debit: bigint | null
  readonly debited: bigint | null
  readonly holds_at_deposit: boolean
  readonly refunded_to: string | null
  readonly address_terms: RequestRecord['addressTerms'] | null
  readonly address_transfer: { readonly txHash: string; readonly sender: string | null } | null
  readonly taken: { readonly currency: string; readonly amount: string } | null
  readonly measured_output: bigint | null
  readonly transactions:
    | readonly (Omit<RequestTransaction, 'blockNumber'> & { readonly blockNumber: string | null })[]
    | null
}

function fromRow(row: HistoryRow, standing: ListedStandstill | undefined): RequestRecord {
  return {
    requestId: toHex(row.request_id),
    orderId: row.order_id === null ? undefined : toHex(row.order_id),
    apiKeyId: row.api_key_id ?? undefined,
    status: row.status,
    ...shownReasons(row, standing),
    user: row.user_address,
    refundedTo: row.refunded_to ?? undefined,
    recipient: row.recipient,
    originChainId: Number(row.origin_chain_id),
    destinationChainId: Number(row.destination_chain_id),
    depositAddress: row.deposit_address ?? undefined,
    addressTerms: row.address_terms ?? undefined,
    addressTransfer: row.address_transfer ?? undefined,
    taken: row.taken === null ? undefined : { ...row.taken, amount: BigInt(row.taken.amount) },
    measuredOutput: row.measured_output ?? undefined,
    supersededByRequestId: row.superseded_by === null ? undefined : toHex(row.superseded_by),
    quoted: quotedAmountsSchema.parse(row.quoted),
    order: row.order_data === null ? undefined : orderSchema.parse(row.order_data),
    orderSignature: row.order_signature === null ? undefined : toHex(row.order_signature),
    sponsorship: row.is_sponsorship
      ? {
          sponsor: row.sponsor ?? undefined,
          quoted: quotedSponsorshipSchema.parse(row.sponsorship),
          debitMicroUsd: row.debit ?? 0n,
          debitedMicroUsd: row.debited ?? undefined,
          isHeldAtDeposit: row.holds_at_deposit,
        }
      : undefined,
    transactions: (row.transactions ?? []).map(({ blockNumber, ...rest }) => ({
      ...rest,
      blockNumber: blockNumber === null ? undefined : BigInt(blockNumber),
    })),
    createdAtMs: Number(row.created_at_us / 1_000n),
    updatedAtMs: Number(row.updated_at_us / 1_000n),
  }
}
