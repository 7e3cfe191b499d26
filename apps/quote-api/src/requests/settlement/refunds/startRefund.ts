import { blockedWallet } from '@causeway/chains'
import type { SqlTx } from '@causeway/core'
import { takeSkewBack } from '../../orders/skewBookings.ts'
import type { Reason } from '../../status/reasons.ts'
import { endStatuses, openSettlement, setStatus } from '../../status/requestProgress.ts'
import { refundSeconds } from '../../timings.ts'
import { addWork, lockWorkOf, updateWork } from '../../work/workStore.ts'
import { refundAmount } from '../deposits/depositDecision.ts'
import { type StoredDeposit, setDepositState } from '../deposits/depositStore.ts'
import { proofOf, refundPayload } from '../payments/fillWork.ts'
import { refundTermsOf, type SettledRequest } from '../settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlementContext.ts'

/** Reasons after which the request is surely not filled any more, so that its hold ends at once. */
const endsHold: ReadonlySet<string> = new Set([
  'SPONSOR_BALANCE_TOO_LOW',
  blockedWallet,
  'QUOTE_EXPIRED_PRICE_MOVED',
  'QUOTE_EXPIRED_NOT_QUOTABLE',
  'QUOTE_EXPIRED_MARKET_UNAVAILABLE',
])

type Refund = {
  readonly request: SettledRequest
  readonly deposit: StoredDeposit
  readonly reason: Reason
  /** In smallest units; by default the deposit less the quoted gas. */
  readonly amount?: bigint
  /** True if the deposit would have paid the order, so that it replaces one that left its chain. */
  readonly wasFitting?: boolean
  /** Transaction id of a fill that can no longer pay; the solver must never broadcast it again. */
  readonly replaces?: string | undefined
}

/**
 * Starts the refund of a deposit by a work item. Unless another deposit is bound to the request, the request waits for this
 * refund, and its hold ends if no fill can follow.
 */
export async function startRefund(context: SettlementContext, tx: SqlTx, refund: Refund): Promise<void> {
  const { request, deposit, reason, wasFitting = false } = refund
  const { requestId, settlement } = request
  await setDepositState(tx, deposit.id, 'refund_due', reason)
  await askForRefund(context, tx, refund)
  context.observe({ event: 'deposit_refund', requestId, reason, deposit })

  const isRequestsDeposit = settlement === undefined || settlement.depositId === deposit.id || wasFitting
  const isOver = endStatuses.has(request.status)
  // A request that is over keeps its reward, which its fill may have paid.
  if (isRequestsDeposit) await takeSkewBack(tx, { requestId, isFilled: isOver })
  if (!isRequestsDeposit || isOver) return
  const isBound = settlement?.isBound === true
  await openSettlement(tx, { requestId, depositId: deposit.id, stage: 'refunding', isBound })
  await setStatus(tx, context.announce, { requestId, status: 'pending' })
  // After an unfit deposit a fitting one may still come, so the hold stays until it expires.
  if (isBound || endsHold.has(reason)) await context.ledger.void(tx, { requestId, reason })
}

/** Adds the work item of a refund. One that exists already, as the deposit was refunded before, is offered at once. */
async function askForRefund(context: SettlementContext, tx: SqlTx, refund: Refund): Promise<void> {
  const { request, deposit, reason, wasFitting = false, replaces } = refund
  const { requestId, orderId, order, settlement } = request
  const { chainId, currency } = deposit
  const terms = refundTermsOf(request)
  const payload = {
    ...refundPayload(order, {
      orderId,
      origin: chainOf(context, chainId).chain,
      currency,
      amount: refund.amount ?? refundAmount(deposit.amount, terms),
      deadlineSeconds: nowSeconds(context) + refundSeconds,
      replaces,
    }),
    ...proofOf(request, deposit),
    // Tells the solver whether the order is over, or another deposit may still pay for it.
    endsOrder: wasFitting || settlement?.depositId === deposit.id,
  }
  const subject = String(deposit.id)
  // A deposit in another currency bears the whole cost of its refund, so the solver loses nothing.
  const isUnderpaid = reason !== 'INCORRECT_DEPOSIT_CURRENCY' && deposit.amount < terms.inputAmount
  if (await addWork(tx, { kind: 'refund', requestId, subject, chainId, payload, isUnderpaid })) return
  const item = await lockWorkOf(tx, { kind: 'refund', requestId, subject })
  if (item?.state === 'open') await updateWork(tx, item.id, { state: 'open', delayMs: 0 })
}
