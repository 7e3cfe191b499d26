import { blockedWallet } from '@causeway/chains'
import type { SqlTx, SqlWriteTx } from '@causeway/core'
import { isSameDeposit } from '../../../jobs/bookedDeposits.ts'
import type { QuotableChain } from '../../../pricing/registry.ts'
import { toBytes } from '../../orders/orderColumns.ts'
import { endStatuses, recordTransaction, setStatus } from '../../status/requestProgress.ts'
import type { LateStep } from '../amounts/lateDeposit.ts'
import { type DepositDecision, depositDecision } from '../deposits/depositDecision.ts'
import { lockDeposit, type StoredDeposit, setDepositState, setSenders } from '../deposits/depositStore.ts'
import type { SeenDeposit } from '../deposits/pinDecision.ts'
import { askForRecovery, readRecovery } from '../recovery/recoveryStore.ts'
import { startRefund } from '../refunds/startRefund.ts'
import { depositTermsOf, lockSettledRequest, refundTermsOf, type SettledRequest } from '../settledRequest.ts'
import { nowSeconds, type SettlementContext } from '../settlementContext.ts'
import { bindDeposit, withdrawFill } from './bindDeposit.ts'

/** A deposit with all that was read and decided about it without locks. */
export type DepositIntake = {
  readonly chain: QuotableChain
  readonly deposit: StoredDeposit
  readonly seenDeposit: SeenDeposit
  /** Decision by the deposit's time; undefined unless the deposit was to be filled when it was read. */
  readonly timeStep: LateStep | undefined
  /** Undefined if the deposit was to be ignored when it was read. */
  readonly screened: Screened | undefined
}

/** Accounts that made a deposit, and the field of the request that names a denied account; undefined if none is. */
export type Screened = { readonly senders: readonly string[]; readonly denied: string | undefined }

/**
 * Locks request and deposit, decides again, and carries the decision out. The first case that applies:
 * 1. Another transaction has decided it: nothing. It was paid or refunded before it left the chain: see
 *    `isPaidAlready`.
 * 2. The decision is to wait: nothing; a later pass asks again.
 * 3. The order was given up: its depositor recovers the deposit from the hub.
 * 4. An account of deposit or request is denied, and money would be paid: it is held for an operator.
 * 5. It is ignored, refunded or bound, as `depositDecision` says.
 *
 * A deposit that could pay its order is refunded only if no solver has begun the fill. Otherwise it is bound,
 * since the fill will be paid.
 */
export async function applyDecision(
  context: SettlementContext,
  tx: SqlWriteTx,
  intake: DepositIntake,
): Promise<void> {
  const { chain, deposit, seenDeposit, screened } = intake
  const request = await lockSettledRequest(tx, deposit.requestId)
  const stored = await lockDeposit(tx, deposit.id)
  if (request === undefined || stored?.state !== 'seen') return
  if (seenDeposit.isCanonical && (await isPaidAlready(tx, deposit))) return
  const decision = decideDeposit(context, chain, seenDeposit, request)
  if (decision.action === 'wait') return
  const { requestId } = request
  if (request.isRecovered) {
    // The solver has promised not to pay this order any more, so its depositor recovers the deposit from the hub.
    await listDeposit(tx, deposit)
    await askForRecovery(tx, request, deposit, (await readRecovery(tx, requestId))?.promise)
    return
  }
  // An ignored deposit stays in the depository whoever made it, so no operator has to decide. If it is to be ignored no
  // more, the next pass screens it and has its order signed.
  if (screened === undefined && decision.action !== 'ignore') return
  if (screened !== undefined && screened.senders.length > 0)
    await setSenders(tx, deposit.id, screened.senders)
  if (screened?.denied !== undefined && decision.action !== 'ignore') {
    await holdDeposit(context, tx, { request, deposit, isFitting: decision.action === 'bind' })
    return
  }
  switch (decision.action) {
    case 'ignore':
      await setDepositState(tx, deposit.id, 'ignored', decision.reason)
      context.observe({ event: 'deposit_ignored', requestId, reason: decision.reason })
      return
    case 'refund':
      await refundUnfit(context, tx, { ...intake, request }, decision)
      return
    case 'bind':
      await takeFitting(context, tx, { ...intake, request })
  }
}

type LockedIntake = DepositIntake & { readonly request: SettledRequest }

/** Refunds a deposit that does not pay its order. One that came after the deadline is bound if a solver has begun the fill. */
async function refundUnfit(
  context: SettlementContext,
  tx: SqlWriteTx,
  { chain, request, deposit, seenDeposit }: LockedIntake,
  { reason, amount }: Extract<DepositDecision, { action: 'refund' }>,
): Promise<void> {
  await listDeposit(tx, deposit)
  const isTooLate = reason === 'PROTOCOL_DEADLINE_EXPIRED'
  if (isTooLate && !(await withdrawFill(tx, request.requestId, 'deadline')))
    return bindDeposit(context, tx, { chain, request, deposit, seenDeposit })
  await startRefund(context, tx, { request, deposit, reason, amount })
}

/** Binds a deposit that fits its order. It is refunded if an operator gives it back, or if it is late and prices have moved. */
async function takeFitting(
  context: SettlementContext,
  tx: SqlWriteTx,
  { chain, request, deposit, seenDeposit, timeStep }: LockedIntake,
): Promise<void> {
  const { requestId } = request
  if (request.released === 'refund') {
    await listDeposit(tx, deposit)
    if (!(await withdrawFill(tx, requestId, 'an operator gives it back')))
      return bindDeposit(context, tx, { chain, request, deposit, seenDeposit })
    return startRefund(context, tx, { request, deposit, reason: blockedWallet, wasFitting: true })
  }
  // The request has changed since it was read without a lock, so the next pass decides.
  if (timeStep === undefined || timeStep.action === 'wait') return
  await listDeposit(tx, deposit)
  if (timeStep.action === 'refund' && (await withdrawFill(tx, requestId, 'quote expired')))
    return startRefund(context, tx, { request, deposit, reason: timeStep.reason, wasFitting: true })
  const gasCharged = timeStep.action === 'bind' ? timeStep.gasCharged : undefined
  await bindDeposit(context, tx, { chain, request, deposit, seenDeposit, gasCharged })
}

/**
 * Recognizes a deposit that returned to the chain, in any block, after it was filled or refunded. In its old
 * block it has its old row, and in another one a new row beside the orphaned one. A new row takes the place
 * of the earlier one, `t`, so that the deposit is not paid for twice, and a settlement that was not refunded
 * is bound to it.
 * @returns false if nothing was paid for it
 * @source rule L-27
 */
async function isPaidAlready(tx: SqlTx, { id, requestId }: StoredDeposit): Promise<boolean> {
  const rows = await tx.query<{ state: 'refunded' | 'taken'; earlier: bigint }>(
    `select case when w.kind = 'refund' then 'refunded' else 'taken' end as state, t.id as earlier
     from deposit_seen d join deposit_seen t on t.request_id = d.request_id
       and (t.id = d.id or ${isSameDeposit} and t.state = 'orphaned')
     join work_item w on w.request_id = d.request_id and w.state = 'done'
     left join settlement s on s.request_id = d.request_id
     where d.id = $1 and (w.kind = 'refund' and w.subject = t.id::text
       or w.kind = 'fill' and s.deposit_id = t.id and s.stage in ('settled', 'parked'))`,
    [id],
  )
  const [paidDeposit] = rows
  if (paidDeposit === undefined) return false
  await setDepositState(tx, id, paidDeposit.state)
  await tx.query(
    `update settlement set deposit_id = $2, is_bound = is_bound or stage <> 'refunded', updated_at = clock_timestamp()
     where request_id = $1 and deposit_id = $3`,
    [toBytes(requestId), id, paidDeposit.earlier],
  )
  return true
}

/**
 * Holds the deposit of a denied account for an operator. The request is not bound to it, because a denied stranger must not
 * block an order whose own deposit may still come.
 */
async function holdDeposit(
  context: SettlementContext,
  tx: SqlTx,
  {
    request: { requestId, settlement },
    deposit,
    isFitting,
  }: { readonly request: SettledRequest; readonly deposit: StoredDeposit; readonly isFitting: boolean },
): Promise<void> {
  await setDepositState(tx, deposit.id, 'held', blockedWallet)
  // Only a deposit that could pay a request without another deposit changes what the request shows.
  if (isFitting && settlement === undefined) {
    await listDeposit(tx, deposit)
    await setStatus(tx, context.announce, { requestId, status: 'pending' })
  }
  context.observe({ event: 'parked', requestId, reason: blockedWallet })
}

/** Shows the deposit's transaction with its request. */
function listDeposit(tx: SqlTx, { requestId, chainId, txHash, blockNumber }: StoredDeposit): Promise<void> {
  return recordTransaction(tx, { requestId, role: 'deposit', chainId, txHash, blockNumber })
}

/** Decides by the present state of the request; the caller asks again under locks before it acts. */
export function decideDeposit(
  context: SettlementContext,
  chain: QuotableChain,
  seenDeposit: SeenDeposit,
  request: SettledRequest,
): DepositDecision {
  const { settlement } = request
  return depositDecision({
    deposit: seenDeposit,
    terms: depositTermsOf(request, chain),
    refund: refundTermsOf(request),
    request: {
      isOver: isOver(request),
      isBound: settlement?.isBound === true,
      isFilled: settlement?.stage === 'filled',
    },
    otherRefund: context.otherRefund(chain, seenDeposit.currency, request.relayedBy),
    nowSeconds: nowSeconds(context),
  })
}

function isOver({ settlement, status }: SettledRequest): boolean {
  if (settlement === undefined) return endStatuses.has(status)
  return settlement.stage === 'settled' || settlement.stage === 'refunded' || settlement.stage === 'parked'
}
