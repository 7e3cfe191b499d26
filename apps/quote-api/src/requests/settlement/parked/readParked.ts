import { blockedWallet, type Hex, type SqlDatabase } from '@causeway/core'
import { toBytes } from '../../orders/orderColumns.ts'
import type { WorkState } from '../../work/workItem.ts'

type Queries = Pick<SqlDatabase, 'query'>

export type ParkedRequest = {
  readonly requestId: Hex
  readonly reason: string
  readonly status: string
  readonly originChainId: number
  readonly destinationChainId: number
  /** What the sponsor would pay; 0n where the user does. */
  readonly debitMicroUsd: bigint
  readonly parkedAt: Date
}

type ParkedRow = {
  readonly request_id: Buffer
  readonly parked_reason: string
  readonly status: string
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly debit: bigint | null
  readonly updated_at: Date
}

/** What waits because somebody is denied. */
const blockedRows = `
  select request_id, '${blockedWallet}' as reason, updated_at as at, 1 as place from deposit_seen where state = 'held'
  union all select request_id, '${blockedWallet}', withheld_at, 1 from work_item
    where withheld_at is not null and request_id is not null and state = 'open'
  union all select request_id, '${blockedWallet}', active_at, 1 from deposit_address
    where left_reason = '${blockedWallet}'`

/** Everything that waits for an operator, by its request; what stopped a whole request goes first. */
const parkedRows = `
  select request_id, parked_reason as reason, updated_at as at, 0 as place from settlement s where stage = 'parked'
    and not exists (select from order_recovery r where r.request_id = s.request_id and r.entered_at is not null)
  union all ${blockedRows}`

/** How many requests wait for an operator. */
export async function countParked(database: Queries): Promise<number> {
  const [row] = await database.query<{ parked: bigint }>(
    `select count(distinct request_id)::bigint as parked from (${parkedRows}) every`,
  )
  return Number(row?.parked ?? 0n)
}

/** Requests that wait for an operator, longest first. */
export async function listParked(
  database: Queries,
  { limit }: { limit: number },
): Promise<readonly ParkedRequest[]> {
  const rows = await database.query<ParkedRow>(
    `select p.request_id, p.reason as parked_reason, o.status, o.origin_chain_id, o.destination_chain_id,
       p.at as updated_at,
       (select r.debit_micro_usd from request_sponsorship r where r.request_id = p.request_id) as debit
     from (select distinct on (request_id) * from (${parkedRows}) every order by request_id, place) p
     join orders o on o.request_id = p.request_id
     order by p.at, p.request_id limit $1`,
    [limit],
  )
  return rows.map((row) => ({
    requestId: `0x${row.request_id.toString('hex')}`,
    reason: row.parked_reason,
    status: row.status,
    originChainId: Number(row.origin_chain_id),
    destinationChainId: Number(row.destination_chain_id),
    debitMicroUsd: row.debit ?? 0n,
    parkedAt: row.updated_at,
  }))
}

/** What is stored about a request, for a person to read; amounts as text. */
export type RequestRecord = {
  readonly deposits: readonly Readonly<Record<string, unknown>>[]
  readonly work: readonly Readonly<Record<string, unknown>>[]
  readonly holds: readonly Readonly<Record<string, unknown>>[]
  readonly actions: readonly Readonly<Record<string, unknown>>[]
  /** At most one. */
  readonly recovery: readonly Readonly<Record<string, unknown>>[]
}

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
  recovery: `select json_build_object('decidedAt', decided_at, 'waitsFor', waits_for, 'signedAt', signed_at,
      'recoverableAt', recoverable_at) as part
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

/** Why a request is parked; `undefined` where it is not. */
export async function readParkedReason(database: Queries, requestId: Hex): Promise<string | undefined> {
  const [row] = await database.query<{ parked_reason: string | null }>(
    `select reason as parked_reason from (${parkedRows}) every where request_id = $1 order by place limit 1`,
    [toBytes(requestId)],
  )
  return row?.parked_reason ?? undefined
}

/** The refund of the deposit that a request is about. */
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
