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

/**
 * Adds the work item that refunds a deposit. Unless another deposit is bound to the request, the request waits for this refund,
 * and its hold ends if no fill can follow.
 * @param refund.amount in smallest units; by default the deposit less the quoted gas
 * @param refund.wasFitting true if the deposit would have paid the order, so that it replaces one that left its chain
 * @param refund.replaces transaction id of a fill that can no longer pay
 */
export async function startRefund(
  context: SettlementContext,
  tx: SqlTx,
  refund: {
    readonly request: SettledRequest
    readonly deposit: StoredDeposit
    readonly reason: Reason
    readonly amount?: bigint
    readonly wasFitting?: boolean
    readonly replaces?: string | undefined
  },
): Promise<void> {
  const { request, deposit, reason, replaces } = refund
  const { requestId, orderId, order, settlement } = request
  const terms = refundTermsOf(request)
  const amount = refund.amount ?? refundAmount(deposit.amount, terms)
  const origin = chainOf(context, deposit.chainId).chain
  const payload = {
    ...refundPayload(order, {
      orderId,
      origin,
      currency: deposit.currency,
      amount,
      deadlineSeconds: nowSeconds(context) + refundSeconds,
      replaces,
    }),
    ...proofOf(request, deposit),
    endsOrder: refund.wasFitting === true || settlement?.depositId === deposit.id,
  }
  await setDepositState(tx, deposit.id, 'refund_due', reason)
  const subject = String(deposit.id)
  const { chainId } = deposit
  // A deposit in another currency bears the whole cost of its refund, so the solver loses nothing.
  const isUnderpaid = reason !== 'INCORRECT_DEPOSIT_CURRENCY' && deposit.amount < terms.inputAmount
  const isNew = await addWork(tx, { kind: 'refund', requestId, subject, chainId, payload, isUnderpaid })
  if (!isNew) await offerAgain(tx, requestId, subject)
  context.observe({ event: 'deposit_refund', requestId, reason, deposit })

  const isRequestsDeposit =
    settlement === undefined || settlement.depositId === deposit.id || refund.wasFitting === true
  const isOver = endStatuses.has(request.status)
  if (isRequestsDeposit) await takeSkewBack(tx, { requestId, isFilled: isOver })
  if (!isRequestsDeposit || isOver) return
  const isBound = settlement?.isBound === true
  await openSettlement(tx, { requestId, depositId: deposit.id, stage: 'refunding', isBound })
  await setStatus(tx, context.announce, { requestId, status: 'pending' })
  // After an unfit deposit a fitting one may still come, so the hold stays until it expires.
  if (isBound || endsHold.has(reason)) await context.ledger.void(tx, { requestId, reason })
}

async function offerAgain(tx: SqlTx, requestId: `0x${string}`, subject: string): Promise<void> {
  const item = await lockWorkOf(tx, { kind: 'refund', requestId, subject })
  if (item?.state === 'open') await updateWork(tx, item.id, { state: 'open', delayMs: 0 })
}
