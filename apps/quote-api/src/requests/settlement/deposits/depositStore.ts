import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { toBytes } from '../../orders/orderColumns.ts'
import { isReason, type Reason } from '../../status/reasons.ts'
import type { DepositRecheck } from './depositDecision.ts'
import { isFinalAboveCursor } from './openDeposits.ts'

/** A deposit as a chain reports it. */
export type NewDeposit = {
  readonly chainId: number
  readonly txHash: string
  readonly onchainIndex: string
  readonly blockNumber: bigint
  readonly blockHash: string
  readonly blockTimeSeconds: bigint
  /** Unix time at which a quorum did not have its block yet; undefined if nobody looked. */
  readonly minedAfterSeconds: number | undefined
  readonly orderId: Hex
  readonly depositor: string
  readonly currency: string
  readonly amount: bigint
}

/**
 * `seen`: not decided yet; `taken`: it pays its order; `refund_due`: its refund was decided and is not done;
 * `ignored`: it stays in the depository; `held`: waits for an operator, because an account is denied;
 * `orphaned`: its block left the chain. Only `seen` deposits are decided on; an orphaned or held one becomes
 * `seen` again.
 */
export type DepositRowState = 'seen' | 'taken' | 'refund_due' | 'refunded' | 'ignored' | 'orphaned' | 'held'

export type StoredDeposit = Omit<NewDeposit, 'blockTimeSeconds'> & {
  readonly id: bigint
  readonly blockTimeSeconds: number
  /** Time at which it was first stored, in Unix seconds with fractions. */
  readonly seenAtSeconds: number
  readonly requestId: Hex
  readonly state: DepositRowState
  readonly reason: Reason | undefined
  /** True once its block is final; taken back if a final block of the chain changes. */
  readonly isFinal: boolean
  /** Number of looks so far. */
  readonly looks: number
}

type Queries = Pick<SqlDatabase, 'query'>

/** Priority classes in which undecided deposits wait, the most urgent first. Stored in the column `lane`. */
const lanes = {
  /** It pays its order, which a stranger cannot fake for free, or its order was quoted with an API key. */
  first: 0,
  /** Too little for its order, or in another currency. */
  other: 1,
  /** It has its depth and waits for something else, such as market data. */
  waiting: 2,
} as const

const lanesInOrder = Object.values(lanes)

/** Percent of a pass that each lane gets even if more urgent lanes could fill it. */
const guaranteedPercent = 20

/** SQL condition on an order: the deposit in currency $9 of amount $10 pays it. */
const paysItsOrder = `(lower(order_data #>> '{inputs,0,payment,currency}') = lower($9)
  and (order_data #>> '{inputs,0,payment,amount}')::numeric <= $10::numeric)`

/**
 * Stores a deposit if its order is known. An orphaned row whose block is back on the chain becomes undecided again.
 * @returns its request if the deposit is new or back
 */
export async function recordDeposit(tx: SqlTx, deposit: NewDeposit): Promise<Hex | undefined> {
  const [row] = await tx.query<{ request_id: Buffer }>(
    `insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time,
       order_id, request_id, depositor, currency, amount, mined_after, lane)
     select $1, $2, $3, $4, $5, to_timestamp($6), order_id, request_id, $8, $9, $10, to_timestamp($11),
       case when api_key_id is not null or ${paysItsOrder} then ${lanes.first} else ${lanes.other} end
     from orders where order_id = $7
     on conflict (chain_id, tx_hash, onchain_index, block_hash) do update
       set state = 'seen', reason = null, lane = excluded.lane, looks = 0, due_at = clock_timestamp(),
         deep_since = null, updated_at = clock_timestamp()
       where deposit_seen.state = 'orphaned'
     returning request_id`,
    [
      deposit.chainId,
      deposit.txHash,
      deposit.onchainIndex,
      deposit.blockNumber,
      deposit.blockHash,
      deposit.blockTimeSeconds,
      toBytes(deposit.orderId),
      deposit.depositor,
      deposit.currency,
      deposit.amount,
      deposit.minedAfterSeconds ?? null,
    ],
  )
  return row === undefined ? undefined : `0x${row.request_id.toString('hex')}`
}

const columns = `id, chain_id, tx_hash, onchain_index, block_number, block_hash, order_id, request_id, depositor,
  currency, amount, state, reason, is_final, looks, extract(epoch from block_time)::bigint as block_time_seconds,
  extract(epoch from seen_at)::double precision as seen_at_seconds,
  floor(extract(epoch from mined_after))::bigint as mined_after_seconds`

/**
 * Deposits whose blocks must be compared with the chain:
 * - those that are not final;
 * - final ones above the cursor's last final block: they became final before the cursor moved over their block, whose hash
 *   guards all below it;
 * - final ones whose transaction was since seen in another block, which shows that a final block was replaced.
 */
export async function listYoungDeposits(
  database: Queries,
  chainId: number,
): Promise<readonly StoredDeposit[]> {
  const rows = await database.query<DepositRow>(
    `select ${columns} from deposit_seen where chain_id = $1 and not is_final and state <> 'orphaned'
     union all select ${columns} from deposit_seen where ${isFinalAboveCursor}
     union select ${columns} from (select d.* from deposit_seen s join deposit_seen d using (chain_id, tx_hash)
       where chain_id = $1 and s.state = 'seen' and d.block_hash <> s.block_hash and d.is_final and d.state <> 'orphaned') d`,
    [chainId],
  )
  return rows.map(fromRow)
}

/** Undecided deposits that are due, by lane; within a lane those that wait longest come first. */
export async function listDueDeposits(
  database: Queries,
  chainId: number,
  limit: number,
): Promise<readonly StoredDeposit[]> {
  const dueInLane = (lane: number) =>
    `(select ${columns}, lane from deposit_seen where chain_id = $1 and state = 'seen' and lane = ${lane}
        and due_at <= statement_timestamp() order by due_at limit $2)`
  const rows = await database.query<DepositRow & { readonly lane: bigint }>(
    lanesInOrder.map(dueInLane).join(' union all '),
    [chainId, limit],
  )
  const byLane = lanesInOrder.map((lane) => rows.filter((row) => Number(row.lane) === lane))
  const guaranteedPlaces = Math.floor((limit * guaranteedPercent) / 100)
  let placesLeft = limit
  return byLane.flatMap((due, position) => {
    const lessUrgent = byLane.slice(position + 1)
    const reserved = lessUrgent.reduce((sum, { length }) => sum + Math.min(length, guaranteedPlaces), 0)
    const listed = due.slice(0, placesLeft - reserved)
    placesLeft -= listed.length
    return listed.map(fromRow)
  })
}

/** Schedules the next look at undecided deposits. */
export async function recheckDepositsAfter(
  tx: SqlTx,
  rechecks: readonly (DepositRecheck & Pick<StoredDeposit, 'id'>)[],
): Promise<void> {
  await tx.query(
    `update deposit_seen d set looks = looks + 1, lane = case when l.is_deep then ${lanes.waiting} else lane end,
       due_at = clock_timestamp() + l.delay_ms * interval '1 millisecond',
       deep_since = case when l.is_deep then coalesce(deep_since, clock_timestamp()) end
     from unnest($1::bigint[], $2::bigint[], $3::boolean[]) as l (id, delay_ms, is_deep)
     where d.id = l.id and d.state = 'seen'`,
    [
      rechecks.map(({ id }) => id),
      rechecks.map(({ delayMs }) => Math.ceil(delayMs)),
      rechecks.map(({ isDeep }) => isDeep),
    ],
  )
}

export async function lockDeposit(tx: SqlTx, id: bigint): Promise<StoredDeposit | undefined> {
  const [row] = await tx.query<DepositRow>(`select ${columns} from deposit_seen where id = $1 for update`, [
    id,
  ])
  return row === undefined ? undefined : fromRow(row)
}

export async function readDeposit(database: Queries, id: bigint): Promise<StoredDeposit | undefined> {
  const [row] = await database.query<DepositRow>(`select ${columns} from deposit_seen where id = $1`, [id])
  return row === undefined ? undefined : fromRow(row)
}

/** Sets the state of a deposit. Without `reason` the stored reason stays. */
export async function setDepositState(
  tx: SqlTx,
  id: bigint,
  state: DepositRowState,
  reason?: Reason,
): Promise<void> {
  await tx.query(
    `update deposit_seen set state = $2, reason = coalesce($3, reason), updated_at = clock_timestamp()
     where id = $1`,
    [id, state, reason ?? null],
  )
}

/** Makes the held deposits of a request undecided again, after an operator's release. */
export async function takeHeldAgain(tx: SqlTx, requestId: Hex): Promise<void> {
  await tx.query(
    `update deposit_seen set state = 'seen', reason = null, looks = 0, due_at = clock_timestamp(),
       deep_since = null, updated_at = clock_timestamp() where request_id = $1 and state = 'held'`,
    [toBytes(requestId)],
  )
}

/** Stores the accounts that sent a deposit, as far as the chain tells, for later screenings. */
export async function setSenders(tx: SqlTx, id: bigint, senders: readonly string[]): Promise<void> {
  await tx.query('update deposit_seen set senders = $2 where id = $1', [id, senders])
}

/** Marks deposits whose block is final. */
export async function finalizeDeposits(tx: SqlTx, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return
  await tx.query('update deposit_seen set is_final = true where id = any($1)', [ids])
}

/** Makes the deposits of the last day count as not final, because a final block of their chain has changed. */
export async function doubtDeposits(tx: SqlTx, chainId: number): Promise<void> {
  await tx.query(
    `update deposit_seen set is_final = false where chain_id = $1 and is_final and state <> 'orphaned'
       and block_time > clock_timestamp() - interval '1 day'`,
    [chainId],
  )
}

/**
 * Reports transactions whose swap router event names a request that its user executes alone. Their number is not limited,
 * because each costs its sender gas. A reported transaction is `said` until a reader has compared it with the request's
 * calls, and `other` where it is none of them. Both are looked at again at once, as a reorganization may have changed it.
 */
export async function insertPaidSwaps(
  tx: SqlTx,
  chainId: number,
  swaps: readonly { readonly requestId: Hex; readonly txHash: Hex }[],
): Promise<void> {
  if (swaps.length === 0) return
  await tx.query(
    `insert into said_transaction (request_id, chain_id, tx_hash)
     select distinct o.request_id, o.origin_chain_id, s.tx_hash
     from unnest($1::bytea[], $2::text[]) as s (request_id, tx_hash) join orders o using (request_id)
     where o.origin_chain_id = $3 and o.order_id is null and o.status in ('waiting', 'pending')
     on conflict (request_id, tx_hash) do update set state = 'said', next_at = clock_timestamp()
     where said_transaction.state in ('said', 'other')`,
    [swaps.map(({ requestId }) => toBytes(requestId)), swaps.map(({ txHash }) => txHash), chainId],
  )
}

type DepositRow = {
  readonly id: bigint
  readonly chain_id: bigint
  readonly tx_hash: string
  readonly onchain_index: string
  readonly block_number: bigint
  readonly block_hash: string
  readonly order_id: Buffer
  readonly request_id: Buffer
  readonly depositor: string
  readonly currency: string
  readonly amount: bigint
  readonly state: DepositRowState
  readonly reason: string | null
  readonly is_final: boolean
  readonly looks: bigint
  readonly block_time_seconds: bigint
  readonly seen_at_seconds: number
  readonly mined_after_seconds: bigint | null
}

function fromRow(row: DepositRow): StoredDeposit {
  return {
    id: row.id,
    chainId: Number(row.chain_id),
    txHash: row.tx_hash,
    onchainIndex: row.onchain_index,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    orderId: `0x${row.order_id.toString('hex')}`,
    requestId: `0x${row.request_id.toString('hex')}`,
    depositor: row.depositor,
    currency: row.currency,
    amount: row.amount,
    state: row.state,
    reason: row.reason !== null && isReason(row.reason) ? row.reason : undefined,
    isFinal: row.is_final,
    looks: Number(row.looks),
    blockTimeSeconds: Number(row.block_time_seconds),
    seenAtSeconds: row.seen_at_seconds,
    minedAfterSeconds: row.mined_after_seconds === null ? undefined : Number(row.mined_after_seconds),
  }
}
