import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { toBytes } from '../orders/orderColumns.ts'

/** An unproven report that a transaction belongs to a request which its user executes alone. Table `said_transaction`. */
export type ReportedTransaction = {
  readonly requestId: Hex
  readonly chainId: number
  readonly txHash: Hex
  /** Number of looks so far that decided nothing. */
  readonly attempts: number
}

/** `other`: the transaction is none of the request's open calls, or came into no block in time. */
export type Verdict = 'executed' | 'reverted' | 'other'

/** Reports that one request may have: clients also report approvals and replaced transactions. */
const reportsPerRequestMax = 12

/** Stores a report if its request is one that the user executes alone and has not ended; else does nothing. */
export async function insertReportedTransaction(
  database: Pick<SqlDatabase, 'query'>,
  reported: { readonly requestId: Hex; readonly chainId: number; readonly txHash: Hex },
): Promise<void> {
  await database.query(
    `insert into said_transaction (request_id, chain_id, tx_hash)
     select request_id, origin_chain_id, $3 from orders o
     where request_id = $1 and origin_chain_id = $2 and order_id is null and status in ('waiting', 'pending')
       and (select count(*) from said_transaction s where s.request_id = o.request_id) < $4
     on conflict do nothing`,
    [toBytes(reported.requestId), reported.chainId, reported.txHash, reportsPerRequestMax],
  )
}

/** Looks after which a report no longer counts as new, so that a new block does not make it due. */
const newAttempts = 3

/** Transactions due now, and recently reported ones on chains that have a new block. */
export async function listDueReported(
  database: Pick<SqlDatabase, 'query'>,
  newBlocks: readonly number[],
  limit: number,
): Promise<readonly ReportedTransaction[]> {
  const rows = await database.query<ReportedRow>(
    `select request_id, chain_id, tx_hash, attempts from said_transaction
     where state = 'said' and (next_at <= statement_timestamp()
       or chain_id = any($2::bigint[]) and attempts <= $3) order by next_at limit $1`,
    [limit, newBlocks, newAttempts],
  )
  return rows.map(fromRow)
}

/** Locks an undecided report; the caller has locked its request. @returns false once it was decided */
export async function lockReported(tx: SqlTx, { requestId, txHash }: ReportedTransaction): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from said_transaction where request_id = $1 and tx_hash = $2 and state = 'said' for update`,
    [toBytes(requestId), txHash],
  )
  return rows.length > 0
}

/** Indexes of the request's quoted calls that were executed already. */
export async function listExecuted(tx: SqlTx, requestId: Hex): Promise<ReadonlySet<number>> {
  const rows = await tx.query<{ call_index: bigint }>(
    `select call_index from said_transaction where request_id = $1 and state = 'executed'`,
    [toBytes(requestId)],
  )
  return new Set(rows.map(({ call_index }) => Number(call_index)))
}

/**
 * True if the transaction already counts as a quoted call of a request; it can only be one. Transactions that
 * a router's event matched do not count here, because they may serve several requests.
 */
export async function isSpent(tx: SqlTx, { chainId, txHash }: ReportedTransaction): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from said_transaction where chain_id = $1 and tx_hash = $2
       and state in ('executed', 'reverted') and not by_event`,
    [chainId, txHash],
  )
  return rows.length > 0
}

/** Stores the verdict on a report, after which it is not looked at again. */
export async function decideReported(
  tx: SqlTx,
  { requestId, txHash }: ReportedTransaction,
  decision: {
    readonly state: Verdict
    readonly callIndex?: number
    /** True if a router's event names the request. Such a transaction may serve several requests. */
    readonly byEvent?: boolean
    readonly paidAmount?: bigint | undefined
  },
): Promise<void> {
  const { state, callIndex = null, byEvent = false, paidAmount } = decision
  await tx.query(
    `update said_transaction set state = $3, call_index = $4, by_event = $5, paid_amount = $6
     where request_id = $1 and tx_hash = $2`,
    [toBytes(requestId), txHash, state, callIndex, byEvent, paidAmount?.toString() ?? null],
  )
}

export async function recheckReportedAfter(
  tx: SqlTx,
  { requestId, txHash }: ReportedTransaction,
  delayMs: number,
): Promise<void> {
  await tx.query(
    `update said_transaction set attempts = attempts + 1,
       next_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
     where request_id = $1 and tx_hash = $2`,
    [toBytes(requestId), txHash, Math.ceil(delayMs)],
  )
}

type ReportedRow = {
  readonly request_id: Buffer
  readonly chain_id: bigint
  readonly tx_hash: string
  readonly attempts: number
}

function fromRow(row: ReportedRow): ReportedTransaction {
  return {
    requestId: `0x${row.request_id.toString('hex')}`,
    chainId: Number(row.chain_id),
    // CAST: only transaction ids in the family's form are stored.
    txHash: row.tx_hash as Hex,
    attempts: Number(row.attempts),
  }
}
