import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { quotingFamilies } from '@causeway/families/rules'
import { toBytes } from '../../orders/orderColumns.ts'
import { addWork } from '../../work/workStore.ts'
import { type StoredDeposit, setDepositState } from '../deposits/depositStore.ts'
import { proofOf } from '../payments/fillWork.ts'
import type { SettledRequest } from '../settledRequest.ts'
import type { DecisionFacts, Obstacle } from './promiseRule.ts'

type Queries = Pick<SqlDatabase, 'query'>

/**
 * An order that an operator gave up. It waits for its obstacles (`keepObstacle`), then has a promise
 * (`keepPromise`), and becomes recoverable a delay after the hub has promise and deposits (`markEntered`).
 * Nothing takes it back.
 */
type StoredRecovery = {
  readonly decidedAt: Date
  /** Obstacle to signing the promise; undefined before the first look, and once it is signed. */
  readonly waitsFor: string | undefined
  /** Signature of the promise. */
  readonly promise: Hex | undefined
  /** Time from which depositors can withdraw; undefined until the hub has promise and deposits. */
  readonly recoverableAt: Date | undefined
}

/** Stores an operator's decision on a locked request. @returns false where it was given up before */
export async function insertRecovery(tx: SqlTx, requestId: Hex): Promise<boolean> {
  const rows = await tx.query(
    'insert into order_recovery (request_id) values ($1) on conflict do nothing returning 1',
    [toBytes(requestId)],
  )
  return rows.length > 0
}

export async function readRecovery(
  database: Queries,
  requestId: Hex,
  lock: '' | 'for update' = '',
): Promise<StoredRecovery | undefined> {
  const [row] = await database.query<{
    decided_at: Date
    waits_for: string | null
    promise: Buffer | null
    recoverable_at: Date | null
  }>(
    `select decided_at, waits_for, promise, recoverable_at from order_recovery where request_id = $1 ${lock}`,
    [toBytes(requestId)],
  )
  return (
    row && {
      decidedAt: row.decided_at,
      waitsFor: row.waits_for ?? undefined,
      promise: row.promise === null ? undefined : `0x${row.promise.toString('hex')}`,
      recoverableAt: row.recoverable_at ?? undefined,
    }
  )
}

/** Orders whose promise is not signed, each once in two seconds at most; the longest not looked at first. */
export async function listUnsigned(database: Queries, limit: number): Promise<readonly Hex[]> {
  const rows = await database.query<{ request_id: Buffer }>(
    `select request_id from order_recovery
     where promise is null and (looked_at is null or looked_at < statement_timestamp() - interval '2 seconds')
     order by looked_at nulls first limit $1`,
    [limit],
  )
  return rows.map(({ request_id }): Hex => `0x${request_id.toString('hex')}`)
}

export async function keepObstacle(tx: SqlTx, requestId: Hex, obstacle: Obstacle): Promise<void> {
  await tx.query(
    'update order_recovery set waits_for = $2, looked_at = clock_timestamp() where request_id = $1',
    [toBytes(requestId), obstacle],
  )
}

/** Stores the signed promise, and adds it to the open recovery items of the order. */
export async function keepPromise(tx: SqlTx, requestId: Hex, promise: Hex): Promise<void> {
  await tx.query(
    `update order_recovery set promise = $2, signed_at = clock_timestamp(), waits_for = null
     where request_id = $1`,
    [toBytes(requestId), toBytes(promise)],
  )
  await tx.query(
    `update work_item set payload = (payload::jsonb || jsonb_build_object('promise', $2::text))::json,
       not_before = clock_timestamp(), updated_at = clock_timestamp()
     where request_id = $1 and kind = 'recovery' and state = 'open'`,
    [toBytes(requestId), promise],
  )
}

/** Notes that the hub has the promise and all deposits, which oracles release after `delaySeconds`. */
export async function markEntered(tx: SqlTx, requestId: Hex, delaySeconds: number): Promise<void> {
  await tx.query(
    `update order_recovery set entered_at = clock_timestamp(),
       recoverable_at = clock_timestamp() + $2 * interval '1 second' where request_id = $1`,
    [toBytes(requestId), delaySeconds],
  )
}

export async function hasUnfinishedRecovery(database: Queries, requestId: Hex): Promise<boolean> {
  const rows = await database.query(
    `select from work_item where request_id = $1 and kind = 'recovery' and state <> 'done' limit 1`,
    [toBytes(requestId)],
  )
  return rows.length > 0
}

/**
 * Adds the work item by which the solver brings a deposit, and the promise of its order, to the hub.
 * @param promise undefined while it is not signed; `keepPromise` adds it to the item
 */
export async function askForRecovery(
  tx: SqlTx,
  request: Pick<SettledRequest, 'requestId' | 'orderId' | 'order' | 'orderSignature'>,
  deposit: StoredDeposit,
  promise: Hex | undefined,
): Promise<void> {
  const { requestId, orderId } = request
  const { id, chainId } = deposit
  await setDepositState(tx, id, 'ignored', 'DEPOSIT_RECOVERABLE')
  const payload = {
    orderId,
    chainId,
    ...(promise !== undefined && { promise }),
    ...proofOf(request, deposit),
  }
  await addWork(tx, { kind: 'recovery', requestId, subject: String(id), chainId, payload })
}

/** Reads the facts for `mayRecover`. A sweep without contract makes the fill wallet the depositor. */
export async function readDecisionFacts(
  database: Queries,
  { requestId, status, order }: Pick<SettledRequest, 'requestId' | 'status' | 'order'>,
): Promise<DecisionFacts> {
  const id = toBytes(requestId)
  const [row] = await database.query<{ is_recovered: boolean; under_way: boolean; to_fill_wallet: boolean }>(
    `select exists (select from order_recovery where request_id = $1) as is_recovered,
       exists (select from work_item where request_id = $1 and kind in ('fill', 'refund', 'sweep')
         and state in ('open', 'reported')) as under_way,
       exists (select from work_item where request_id = $1 and kind = 'sweep' and payload ->> 'contract' is null)
         as to_fill_wallet`,
    [id],
  )
  const deposits = await database.query<{
    id: bigint
    state: string
    reason: string | null
    has_failed: boolean
  }>(
    `select d.id, d.state, d.reason, exists (select from work_item w where w.request_id = $1 and w.kind = 'refund'
         and w.subject = d.id::text and w.state = 'failed') as has_failed
     from deposit_seen d where d.request_id = $1 and d.state <> 'orphaned' order by d.id`,
    [id],
  )
  return {
    isFilled: status === 'success',
    isRecovered: row?.is_recovered === true,
    hasWorkUnderWay: row?.under_way === true,
    sweepsToFillWallet: row?.to_fill_wallet === true,
    isRefundable: order.inputs.some(({ refunds }) =>
      refunds.some(({ recipient }) => !isBurnAccount(recipient)),
    ),
    deposits: deposits.map(({ id: depositId, state, reason, has_failed }) => ({
      id: depositId,
      state,
      reason: reason ?? undefined,
      hasFailedRefund: has_failed,
    })),
  }
}

/** True for a burn account of any family; the spellings of two families never collide. */
const isBurnAccount = (account: string): boolean =>
  Object.values(quotingFamilies).some(({ burnt }) =>
    burnt.some((one) => one === account || one === account.toLowerCase()),
  )

/** Ids of an order's deposits that are still on their chains, and its work items for fills and refunds. */
export type OrderWork = {
  readonly deposits: readonly bigint[]
  /** True if one of the items is open or reported. */
  readonly hasWork: boolean
  readonly payments: readonly {
    readonly kind: 'fill' | 'refund'
    /** The deposit that a refund pays back; undefined for a fill. */
    readonly depositId: bigint | undefined
    readonly fillContract: Hex | undefined
    readonly deadlineSeconds: number
    readonly isDone: boolean
  }[]
}

export async function readOrderWork(database: Queries, requestId: Hex): Promise<OrderWork> {
  const id = toBytes(requestId)
  const deposits = await database.query<{ id: bigint }>(
    `select id from deposit_seen where request_id = $1 and state <> 'orphaned' order by id`,
    [id],
  )
  const work = await database.query<{
    kind: 'fill' | 'refund'
    subject: string
    state: string
    fill_contract: string | null
    deadline: bigint
  }>(
    `select kind, subject, state, payload ->> 'fillContract' as fill_contract,
       (payload ->> 'deadline')::bigint as deadline
     from work_item where request_id = $1 and kind in ('fill', 'refund')`,
    [id],
  )
  return {
    deposits: deposits.map(({ id: depositId }) => depositId),
    hasWork: work.some(({ state }) => state === 'open' || state === 'reported'),
    payments: work.map(({ kind, subject, state, fill_contract: contract, deadline }) => ({
      kind,
      // The subject of a refund is its deposit's id, behind a prefix if only the excess is refunded.
      depositId: kind === 'fill' ? undefined : BigInt(subject.replace('surplus:', '')),
      fillContract: contract === null ? undefined : `0x${contract.slice(2)}`,
      deadlineSeconds: Number(deadline),
      isDone: state === 'done',
    })),
  }
}
