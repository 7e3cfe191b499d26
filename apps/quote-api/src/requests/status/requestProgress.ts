import type { Hex, SqlTx } from '@causeway/core'
import { toBytes } from '../orders/orderColumns.ts'
import type { Reason } from './reasons.ts'

/** Public statuses of a request. */
export const requestStatuses = [
  'waiting',
  'depositing',
  'pending',
  'submitted',
  'success',
  'failure',
  'refund',
  'delayed',
] as const
export type RequestStatus = (typeof requestStatuses)[number]

/**
 * Internal stage of a request's settlement, which begins with a bound or refunded deposit (`openSettlement`).
 * `filling` waits for the fill and becomes `filled`, which waits for attestations and becomes `settled`. A
 * fill that is given up, or a deposit that does not fit, is `refunding`, then `refunded`. `parked` waits for
 * an operator, who sets another stage.
 */
export type SettlementStage = 'filling' | 'filled' | 'refunding' | 'settled' | 'refunded' | 'parked'

/** Within a transaction, schedules the news of a changed request for webhooks and followers, sent after the commit. */
export type Announce = (tx: SqlTx, requestId: Hex) => Promise<void>

/** Statuses that never change again. A failed request is none of them, because its deposit may still come. */
export const endStatuses: ReadonlySet<RequestStatus> = new Set(['success', 'refund'])

/** Sets the public status, unless it is a final one. @returns false if it was final */
export async function setStatus(
  tx: SqlTx,
  announce: Announce,
  change: {
    readonly requestId: Hex
    readonly refundFailReason?: Reason | undefined
  } & (
    | { readonly status: 'failure' | 'refund'; readonly failReason: Reason }
    | { readonly status: Exclude<RequestStatus, 'failure' | 'refund'>; readonly failReason?: undefined }
  ),
): Promise<boolean> {
  const rows = await tx.query(
    `update orders set status = $2, fail_reason = coalesce($3, fail_reason),
       refund_fail_reason = coalesce($4, refund_fail_reason), updated_at = clock_timestamp()
     where request_id = $1 and status not in ('success', 'refund') returning 1`,
    [toBytes(change.requestId), change.status, change.failReason ?? null, change.refundFailReason ?? null],
  )
  if (rows.length > 0) await announce(tx, change.requestId)
  return rows.length > 0
}

/** Shows that a permit's deposit was seen, although it is not deep enough yet. */
export async function setDepositing(tx: SqlTx, announce: Announce, requestId: Hex): Promise<void> {
  const rows = await tx.query(
    `update orders set status = 'depositing', updated_at = clock_timestamp()
     where request_id = $1 and status = 'waiting'
       and exists (select 1 from work_item w where w.request_id = $1 and w.kind = 'permit') returning 1`,
    [toBytes(requestId)],
  )
  if (rows.length > 0) await announce(tx, requestId)
}

/** Stores a transaction that callers see with the request. A repeated call changes nothing but the block. */
export async function recordTransaction(
  tx: SqlTx,
  transaction: {
    readonly requestId: Hex
    readonly role: 'deposit' | 'fill' | 'refund'
    readonly chainId: number
    readonly txHash: string
    readonly blockNumber: bigint
  },
): Promise<void> {
  await tx.query(
    `insert into request_transaction (request_id, role, chain_id, tx_hash, block_number)
     values ($1, $2, $3, $4, $5)
     on conflict (request_id, role, chain_id, tx_hash) do update set block_number = $5`,
    [
      toBytes(transaction.requestId),
      transaction.role,
      transaction.chainId,
      transaction.txHash,
      transaction.blockNumber,
    ],
  )
}

/** SQL: the wait for proof of the fill starts anew. */
const proofRestarts = 'unproven_since = null, unproven_as = null'

/** Stores why a fill in a final block is not proven, and since when; undefined: its block is not final. */
export async function setUnproven(
  tx: SqlTx,
  requestId: Hex,
  reason: 'ATTESTATION_MISSING' | 'FILL_NOT_SEEN' | undefined,
): Promise<void> {
  await tx.query(
    `update settlement set unproven_as = $2,
       unproven_since = case when $2::text is not null then coalesce(unproven_since, clock_timestamp()) end
     where request_id = $1`,
    [toBytes(requestId), reason ?? null],
  )
}

/** Begins the settlement of a request with a deposit, or restarts it with another one in place of the former. */
export async function openSettlement(
  tx: SqlTx,
  opened: {
    readonly requestId: Hex
    readonly depositId: bigint
    readonly stage: 'filling' | 'filled' | 'refunding'
    readonly isBound: boolean
  },
): Promise<void> {
  await tx.query(
    `insert into settlement (request_id, deposit_id, stage, is_bound) values ($1, $2, $3, $4)
     on conflict (request_id) do update set deposit_id = $2, stage = $3, is_bound = $4,
       attempts = 0, contradictions = 0, ${proofRestarts}, next_at = clock_timestamp(), updated_at = clock_timestamp()`,
    [toBytes(opened.requestId), opened.depositId, opened.stage, opened.isBound],
  )
}

/** Unbinds a request from a deposit that left its chain, so that another one may pay it. */
export async function unbindDeposit(tx: SqlTx, requestId: Hex): Promise<void> {
  await tx.query(
    'update settlement set is_bound = false, updated_at = clock_timestamp() where request_id = $1',
    [toBytes(requestId)],
  )
}

/** A new stage; members that are left out keep their stored values, but `parkedReason` is deleted. */
export type StageChange = {
  readonly stage: SettlementStage
  readonly isBound?: boolean
  readonly fillTx?: string
  readonly refundTx?: string
  readonly evidence?: Readonly<Record<string, unknown>>
  readonly parkedReason?: Reason
}

export async function setStage(tx: SqlTx, requestId: Hex, change: StageChange): Promise<void> {
  await tx.query(
    `update settlement set stage = $2, is_bound = coalesce($3, is_bound), fill_tx = coalesce($4, fill_tx),
       refund_tx = coalesce($5, refund_tx), evidence = coalesce($6, evidence),
       parked_reason = case when $2 = 'parked' then $7 else null end,
       attempts = 0, contradictions = 0, ${proofRestarts}, next_at = clock_timestamp(), updated_at = clock_timestamp()
     where request_id = $1`,
    [
      toBytes(requestId),
      change.stage,
      change.isBound ?? null,
      change.fillTx ?? null,
      change.refundTx ?? null,
      change.evidence === undefined ? null : JSON.stringify(change.evidence),
      change.parkedReason ?? null,
    ],
  )
}

/** Schedules the next look at a request. */
export async function recheckAfter(tx: SqlTx, requestId: Hex, delayMs: number): Promise<void> {
  await tx.query(
    `update settlement set attempts = attempts + 1,
       next_at = clock_timestamp() + $2::bigint * interval '1 millisecond'
     where request_id = $1`,
    [toBytes(requestId), Math.ceil(delayMs)],
  )
}

/** Stores the number of consecutive contradictions between oracles and our own endpoints. */
export async function countContradictions(tx: SqlTx, requestId: Hex, count: number): Promise<void> {
  await tx.query('update settlement set contradictions = $2 where request_id = $1', [
    toBytes(requestId),
    count,
  ])
}

/** Makes a request due for a look at once. */
export async function recheckNow(tx: SqlTx, requestId: Hex): Promise<void> {
  await tx.query('update settlement set next_at = clock_timestamp() where request_id = $1', [
    toBytes(requestId),
  ])
}
