import type { Hex, SqlDatabase } from '@causeway/core'
import { toBytes } from '../../orders/orderColumns.ts'
import type { WorkState } from '../../work/workItem.ts'

type Queries = Pick<SqlDatabase, 'query'>

type Rows = readonly Readonly<Record<string, unknown>>[]

/** Stored rows of a request for an operator to read; amounts as text. `recovery` has one at most. */
export type RequestRecord = Readonly<Record<keyof typeof parts, Rows>>

/** SQL of each member of the record. */
const parts = {
  deposits: `select json_build_object('id', id::text, 'chainId', chain_id, 'transaction', tx_hash,
      'currency', currency, 'amount', amount::text, 'state', state, 'reason', reason, 'isFinal', is_final,
      'depositor', depositor, 'senders', senders) as part
    from deposit_seen where request_id = $1 order by id`,
  work: `select json_build_object('id', id, 'kind', kind, 'chainId', chain_id, 'state', state,
      'transaction', tx_hash, 'reason', reason, 'attempts', attempts, 'isWithheld', withheld_at is not null) as part
    from work_item where request_id = $1 order by created_at, id`,
  holds: `select json_build_object('attempt', attempt, 'state', state, 'isPinned', pinned,
      'amountMicroUsd', amount::text, 'postedMicroUsd', posted_amount::text, 'expiresAt', expires_at) as part
    from hold where request_id = $1 order by attempt`,
  actions: `select json_build_object('at', done_at, 'actor', actor, 'action', action, 'details', details) as part
    from admin_action where subject = '0x' || encode($1, 'hex') order by id`,
  recovery: `select json_build_object('decidedAt', decided_at, 'waitsFor', waits_for, 'payableUntil',
      (select to_timestamp(max((w.payload ->> 'deadline')::bigint)) from work_item w
       where w.request_id = $1 and w.kind in ('fill', 'refund')),
      'signedAt', signed_at, 'recoverableAt', recoverable_at) as part
    from order_recovery where request_id = $1`,
} as const

export async function readRequestRecord(database: Queries, requestId: Hex): Promise<RequestRecord> {
  const read = async (sql: string) => {
    const rows = await database.query<{ part: Record<string, unknown> }>(sql, [toBytes(requestId)])
    return rows.map(({ part }) => part)
  }
  return {
    deposits: await read(parts.deposits),
    work: await read(parts.work),
    holds: await read(parts.holds),
    actions: await read(parts.actions),
    recovery: await read(parts.recovery),
  }
}

/** The work item that refunds a deposit of a request. */
export async function readRefundWork(
  database: Queries,
  requestId: Hex,
  depositId: bigint,
): Promise<{ readonly id: string; readonly state: WorkState } | undefined> {
  const [row] = await database.query<{ id: string; state: WorkState }>(
    `select id, state from work_item where kind = 'refund' and request_id = $1 and subject = $2`,
    [toBytes(requestId), String(depositId)],
  )
  return row
}
