import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { toBytes } from '../orders/orderColumns.ts'
import type { Announce } from '../status/requestProgress.ts'
import { reverted } from '../status/standstill.ts'
import { isStoppedWork } from '../stops/stopStore.ts'
import type { WorkItem, WorkKind, WorkPayload, WorkState } from './workItem.ts'

export type NewWork<Kind extends WorkKind = WorkKind> = {
  readonly kind: Kind
  readonly requestId: Hex | undefined
  /** Tells items of one kind and request apart; empty by default. */
  readonly subject?: string
  readonly chainId: number
  readonly payload: WorkPayload
  /** True for a refund of a deposit below its order's input, which pays only part of the gas; it may wait. */
  readonly isUnderpaid?: boolean
}

/**
 * Adds a work item, once per kind, request and subject. A permit whose deposit was seen already is marked so,
 * because it needs no solver. @returns false if the item exists already
 */
export async function addWork(tx: SqlTx, work: NewWork): Promise<boolean> {
  const rows = await tx.query(
    `insert into work_item (kind, request_id, subject, chain_id, payload, is_underpaid, is_deposited)
     values ($1, $2, $3, $4, $5, $6, $1 = 'permit' and exists
       (select 1 from deposit_seen d where d.request_id = $2 and d.state <> 'orphaned'))
     on conflict do nothing returning id`,
    [
      work.kind,
      work.requestId === undefined ? null : toBytes(work.requestId),
      work.subject ?? '',
      work.chainId,
      JSON.stringify(work.payload),
      work.isUnderpaid ?? false,
    ],
  )
  return rows.length > 0
}

/** SQL of the columns of a `WorkRow`. */
export const workColumns = `id, kind, request_id, subject, chain_id, payload, state, tx_hash, valid_until, reason, attempts,
  withheld_at is not null as is_withheld, is_included, created_at, updated_at`

/** Reads the item with an id. */
export async function readWork(
  database: Pick<SqlDatabase, 'query'>,
  id: string,
  lock: '' | 'for update' = '',
): Promise<WorkItem | undefined> {
  const [row] = await database.query<WorkRow>(`select ${workColumns} from work_item where id = $1 ${lock}`, [
    id,
  ])
  return row === undefined ? undefined : toWorkItem(row)
}

/** True if a chain that the item depends on is stopped for work too. */
export async function isOfStoppedChain(tx: SqlTx, id: string): Promise<boolean> {
  const rows = await tx.query(`select from work_item where id = $1 and ${isStoppedWork}`, [id])
  return rows.length > 0
}

/** Locks an item until the transaction ends. Its request is locked first, in the order of all who lock both. */
export async function lockWork(tx: SqlTx, id: string): Promise<WorkItem | undefined> {
  const request = 'select 1 from orders where request_id = (select request_id from work_item where id = $1)'
  await tx.query(`${request} for update`, [id])
  return readWork(tx, id, 'for update')
}

type WorkName = { readonly kind: WorkKind; readonly requestId: Hex; readonly subject?: string }

/** Reads the only item of a kind and subject of a request. */
export async function readWorkOf(
  database: Pick<SqlDatabase, 'query'>,
  work: WorkName,
  lock: '' | 'for update' = '',
): Promise<WorkItem | undefined> {
  const [row] = await database.query<WorkRow>(
    `select ${workColumns} from work_item where kind = $1 and request_id = $2 and subject = $3 ${lock}`,
    [work.kind, toBytes(work.requestId), work.subject ?? ''],
  )
  return row === undefined ? undefined : toWorkItem(row)
}

/** Like `readWorkOf`, with the row locked until the transaction ends. */
export function lockWorkOf(tx: SqlTx, work: WorkName): Promise<WorkItem | undefined> {
  return readWorkOf(tx, work, 'for update')
}

/** Locks the failed refunds of a request until the transaction ends. */
export async function lockFailedRefunds(tx: SqlTx, requestId: Hex): Promise<readonly WorkItem[]> {
  const rows = await tx.query<WorkRow>(
    `select ${workColumns} from work_item where request_id = $1 and kind = 'refund' and state = 'failed' for update`,
    [toBytes(requestId)],
  )
  return rows.map(toWorkItem)
}

/** True if a transaction was reported for an item already; each transaction counts for one item only. */
export async function isTaken(tx: SqlTx, chainId: number, txHash: string): Promise<boolean> {
  const rows = await tx.query('select 1 from work_item where chain_id = $1 and tx_hash = $2', [
    chainId,
    txHash,
  ])
  return rows.length > 0
}

/**
 * Reported items of a kind whose transaction is due to be read.
 * @param newBlocks ids of chains with a new block, whose items are due at once
 */
export async function listReportedWork(
  database: Pick<SqlDatabase, 'query'>,
  kind: WorkKind,
  limit: number,
  newBlocks: readonly number[] = [],
): Promise<readonly WorkItem[]> {
  const rows = await database.query<WorkRow>(
    `select ${workColumns} from work_item
     where state = 'reported' and kind = $1 and (not_before <= statement_timestamp()
       or chain_id = any($3::bigint[]))
     order by not_before limit $2`,
    [kind, limit, newBlocks],
  )
  return rows.map(toWorkItem)
}

/** Locks the item that pays a claim, which has no request. `coalesce` is spelled as in the unique index. */
export async function lockClaimWork(tx: SqlTx, claimId: Hex): Promise<WorkItem | undefined> {
  const [row] = await tx.query<WorkRow>(
    `select ${workColumns} from work_item
     where kind = 'claim' and coalesce(request_id, '') = '' and subject = $1 for update`,
    [claimId],
  )
  return row === undefined ? undefined : toWorkItem(row)
}

/** Items of pending claims that need a step: reported, failed, or not begun before their deadline. */
export async function listPendingClaimWork(
  database: Pick<SqlDatabase, 'query'>,
  limit: number,
): Promise<readonly WorkItem[]> {
  const rows = await database.query<WorkRow>(
    `select ${workColumns} from work_item w
     join (select '0x' || encode(claim_id, 'hex') as claim from app_fee_claim where status = 'pending') c
       on w.kind = 'claim' and coalesce(w.request_id, '') = '' and w.subject = c.claim
     where w.not_before <= statement_timestamp() and (w.state in ('reported', 'failed')
       or (w.state = 'open' and (w.payload ->> 'deadline')::numeric < extract(epoch from clock_timestamp())))
     order by w.not_before limit $1`,
    [limit],
  )
  return rows.map(toWorkItem)
}

/**
 * Permits that need a step: reported or failed ones, open ones whose deposit was seen, and those whose deadline is over. The
 * many other open ones are not read.
 * @param page.endedBefore Unix seconds; deadlines up to it are over
 */
export async function listPendingPermitWork(
  database: Pick<SqlDatabase, 'query'>,
  { limit, endedBefore }: { readonly limit: number; readonly endedBefore: number },
): Promise<readonly WorkItem[]> {
  // `statement_timestamp()` can be looked up in an index, which `clock_timestamp()` cannot.
  const rows = await database.query<WorkRow>(
    `(select ${workColumns} from work_item
      where kind = 'permit' and (state in ('reported', 'failed') or (state = 'open' and is_deposited))
        and not_before <= statement_timestamp() order by not_before limit $1)
     union all
     (select ${workColumns} from work_item
      where kind = 'permit' and state = 'open' and not is_deposited
        and (payload ->> 'deadline')::numeric <= $2
      order by (payload ->> 'deadline')::numeric limit $1)`,
    [limit, endedBefore],
  )
  return rows.map(toWorkItem)
}

/** Notes with the permit of a request whether its deposit was seen, so that it needs no solver; false if it left its chain. */
export async function markDeposited(tx: SqlTx, requestId: Hex, isDeposited: boolean): Promise<void> {
  await tx.query(
    `update work_item set is_deposited = $2, updated_at = clock_timestamp()
     where kind = 'permit' and request_id = $1 and is_deposited <> $2`,
    [toBytes(requestId), isDeposited],
  )
}

/** SQL: the change to state $2 is progress, since the item is asked for anew, first reported, or included in a block. */
const isProgress = `(($2 = 'open' and state in ('cancelled', 'failed', 'done'))
  or ($2 = 'reported' and state = 'open' and attempts = 0) or ($11 and not is_included))`

/**
 * Changes an item that the caller has locked. `null` clears a member; members that are left out stay, except
 * `isIncluded`, which becomes false. Progress restarts `waits_since`, by which standstills are judged.
 * @param change.delayMs time until it is offered or looked at again
 */
export async function updateWork(
  tx: SqlTx,
  id: string,
  change: {
    readonly state: WorkState
    readonly txHash?: string | null
    readonly validUntilSeconds?: number | null
    readonly reason?: string
    readonly attempts?: number
    readonly delayMs?: number
    readonly payload?: WorkPayload
    /** True if a block has the reported transaction, which pays the item. */
    readonly isIncluded?: boolean
  },
): Promise<void> {
  await tx.query(
    `update work_item set state = $2, updated_at = clock_timestamp(),
       waits_since = case when ${isProgress} then clock_timestamp() else waits_since end, is_included = $11,
       tx_hash = case when $3 then $4 else tx_hash end,
       reason = coalesce($5, reason), attempts = coalesce($6, attempts),
       not_before = case when $7::bigint is null then not_before
         else clock_timestamp() + $7 * interval '1 millisecond' end,
       payload = coalesce($8::json, payload),
       valid_until = case when $9 then $10::bigint else valid_until end
     where id = $1`,
    [
      id,
      change.state,
      change.txHash !== undefined,
      change.txHash ?? null,
      change.reason ?? null,
      change.attempts ?? null,
      change.delayMs === undefined ? null : Math.ceil(change.delayMs),
      change.payload === undefined ? null : JSON.stringify(change.payload),
      change.validUntilSeconds !== undefined,
      change.validUntilSeconds ?? null,
      change.isIncluded ?? false,
    ],
  )
}

/**
 * Stores what the chain shows of a reported transaction whose outcome is still open; followers of its request learn of the
 * first revert.
 * @param inclusion.delayMs time until the next look; absent: the caller schedules it, and without a change nothing is written
 */
export async function noteReported(
  announce: Announce,
  tx: SqlTx,
  item: Pick<WorkItem, 'id' | 'requestId' | 'reason' | 'isIncluded'>,
  inclusion: { readonly isIncluded: boolean; readonly isReverted: boolean; readonly delayMs?: number },
): Promise<void> {
  const { isIncluded, isReverted, delayMs } = inclusion
  const isFirstRevert = isReverted && item.reason !== reverted
  if (delayMs === undefined && !isFirstRevert && isIncluded === item.isIncluded) return
  await updateWork(tx, item.id, {
    state: 'reported',
    isIncluded,
    ...(isReverted && { reason: reverted }),
    ...(delayMs !== undefined && { delayMs }),
  })
  if (isFirstRevert && item.requestId !== undefined) await announce(tx, item.requestId)
}

/**
 * Stores why a solver has not begun an item; it counts neither as progress nor as an attempt. An item that
 * failed before keeps the reason of its failure.
 */
export async function keepWait(
  database: Pick<SqlDatabase, 'query'>,
  id: string,
  reason: string,
): Promise<void> {
  await database.query(`update work_item set reason = $2 where id = $1 and state = 'open' and attempts = 0`, [
    id,
    reason,
  ])
}

/** Withholds an item that the caller has locked, so that it is not offered. */
export async function withholdItem(tx: SqlTx, id: string): Promise<void> {
  await tx.query('update work_item set withheld_at = clock_timestamp() where id = $1', [id])
}

/** Offers the withheld items of a request again. @returns their number */
export async function offerWithheld(tx: SqlTx, requestId: Hex): Promise<number> {
  const rows = await tx.query(
    `update work_item set withheld_at = null, updated_at = clock_timestamp()
     where request_id = $1 and withheld_at is not null returning 1`,
    [toBytes(requestId)],
  )
  return rows.length
}

export type WorkRow = {
  readonly id: string
  readonly kind: WorkKind
  readonly request_id: Buffer | null
  readonly subject: string
  readonly chain_id: bigint
  readonly payload: unknown
  readonly state: WorkState
  readonly tx_hash: string | null
  readonly valid_until: bigint | null
  readonly reason: string | null
  readonly attempts: number
  readonly is_withheld: boolean
  readonly is_included: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

export function toWorkItem(row: WorkRow): WorkItem {
  return {
    id: row.id,
    kind: row.kind,
    requestId: row.request_id === null ? undefined : `0x${row.request_id.toString('hex')}`,
    subject: row.subject,
    chainId: Number(row.chain_id),
    payload: row.payload,
    state: row.state,
    txHash: row.tx_hash ?? undefined,
    validUntilSeconds: row.valid_until === null ? undefined : Number(row.valid_until),
    reason: row.reason ?? undefined,
    attempts: Number(row.attempts),
    isWithheld: row.is_withheld,
    isIncluded: row.is_included,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}
