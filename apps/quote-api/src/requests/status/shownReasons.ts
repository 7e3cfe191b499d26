import type { Hex, SqlDatabase } from '@causeway/core'
import { type ListedStandstill, readStandingOf } from './readStanding.ts'
import { endStatuses, type RequestStatus } from './requestProgress.ts'
import { failureOf } from './standstill.ts'
import { standstillLimit } from './waitingRows.ts'

/** An open or reported work item: `transaction` if reported, `report` the solver's last one, `tries` the failed attempts. */
type OpenWork = {
  readonly kind: string
  readonly transaction: string | null
  readonly report: string | null
  readonly tries: number
}

/** Row from which statuses and histories show reasons and transactions; read with `shownColumns`. */
export type ShownRow = {
  readonly status: RequestStatus
  readonly fail_reason: string | null
  readonly refund_fail_reason: string | null
  /** Reason of the refund that is due for the deposit. */
  readonly refund_reason: string | null
  readonly open_work: readonly OpenWork[] | null
  /** False if the request cannot be at a standstill, which spares most polls the costly look for one. */
  readonly may_stand: boolean
}

/** SQL of the request's rows in another table; a condition may follow. */
const selectFrom = (table: string) => `select from ${table} where request_id = o.request_id`

/**
 * SQL condition on `orders o`: the request is open, and either waits for an operator or is old enough for a
 * standstill. A waiting quote without deposit address, deposit and work waits for nobody, so it cannot stand
 * still.
 */
const mayStand = `(o.status not in ('success', 'failure', 'refund') and (
  exists (${selectFrom('settlement')} and stage = 'parked') or exists (${selectFrom('deposit_seen')} and state = 'held')
  or (o.created_at <= statement_timestamp() - ${standstillLimit} and (o.status <> 'waiting' or o.deposit_address is not null
    or exists (${selectFrom('deposit_seen')}) or exists (${selectFrom('work_item')})))))`

/** SQL of the columns of a `ShownRow`, from `orders o`. */
export const shownColumns = `o.status, o.fail_reason, o.refund_fail_reason,
  (select d.reason from settlement s join deposit_seen d on d.id = s.deposit_id
    where s.request_id = o.request_id and d.state = 'refund_due') as refund_reason,
  (select json_agg(json_build_object('kind', w.kind, 'transaction', case when w.state = 'reported' then w.tx_hash end,
      'report', w.reason, 'tries', w.attempts) order by w.created_at)
    from work_item w where w.request_id = o.request_id and w.state in ('open', 'reported')) as open_work,
  ${mayStand} as may_stand`

/** Public reasons of a request. */
export type ShownReasons = {
  readonly failReason: string | undefined
  readonly refundFailReason: string | undefined
}

/**
 * Decides the public reasons: why a request failed, is refunded or stands still, and what is wrong with its refund. A problem
 * is shown from its first occurrence on, not only after the last try. Undefined is shown as `N/A`. Pure. @source rule O-50
 */
export function shownReasons(
  row: ShownRow,
  standing: Pick<ListedStandstill, 'reason' | 'isRefund'> | undefined,
): ShownReasons {
  const { status } = row
  const stored = {
    failReason: row.fail_reason ?? undefined,
    refundFailReason: row.refund_fail_reason ?? undefined,
  }
  if (status === 'failure' || status === 'refund')
    return { ...stored, failReason: stored.failReason ?? 'UNKNOWN' }
  if (endStatuses.has(status)) return { ...stored, failReason: undefined }
  const openWorkFailure = (isRefund: boolean) =>
    (row.open_work ?? [])
      .filter(({ kind }) => (kind === 'refund') === isRefund)
      .map(({ tries, report }) => failureOf({ tries, report: report ?? undefined }))
      .find((failure) => failure !== undefined)
  const standstillReason = (isRefund: boolean) =>
    standing?.isRefund === isRefund ? standing.reason : undefined
  return {
    failReason: row.refund_reason ?? standstillReason(false) ?? openWorkFailure(false),
    refundFailReason: stored.refundFailReason ?? standstillReason(true) ?? openWorkFailure(true),
  }
}

/** Reads the standstills of those rows that may have one, by request id. */
export function readShown(
  database: Pick<SqlDatabase, 'query'>,
  rows: readonly (Pick<ShownRow, 'may_stand'> & { readonly request_id: Buffer })[],
): Promise<ReadonlyMap<string, ListedStandstill>> {
  const ids = rows.flatMap(({ may_stand, request_id }): Hex[] =>
    may_stand ? [`0x${request_id.toString('hex')}`] : [],
  )
  return readStandingOf(database, ids)
}

/** Transactions that the solver reported for work of some kinds and that were not seen in a block yet. */
export function sentHashes({ open_work }: ShownRow, kinds: readonly string[]): readonly string[] {
  return (open_work ?? []).flatMap(({ kind, transaction }) =>
    transaction !== null && kinds.includes(kind) ? [transaction] : [],
  )
}
