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

/** After these nothing is filled on the request's hold any more. */
const endsHold: ReadonlySet<string> = new Set([
  'SPONSOR_BALANCE_TOO_LOW',
  blockedWallet,
  'QUOTE_EXPIRED_PRICE_MOVED',
  'QUOTE_EXPIRED_NOT_QUOTABLE',
  'QUOTE_EXPIRED_MARKET_UNAVAILABLE',
])

/**
 * Asks the solver to give a deposit back. Where no other deposit is bound to the request, the request waits
 * for this refund; its hold ends at once, for nothing is filled any more.
 * @param refund.amount default: all but the quoted gas
 * @param refund.wasFitting it would have paid the order: it takes the place of one that left its chain
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
  // Another currency comes back less all that its refund costs.
  const isUnderpaid = reason !== 'INCORRECT_DEPOSIT_CURRENCY' && deposit.amount < terms.inputAmount
  const isNew = await addWork(tx, { kind: 'refund', requestId, subject, chainId, payload, isUnderpaid })
  if (!isNew) await offerAgain(tx, requestId, subject)
  context.observe({ event: 'deposit_refund', requestId, reason, deposit })

  const isOwn = settlement === undefined || settlement.depositId === deposit.id || refund.wasFitting === true
  const isOver = endStatuses.has(request.status)
  if (isOwn) await takeSkewBack(tx, { requestId, isFilled: isOver })
  if (!isOwn || isOver) return
  const isBound = settlement?.isBound === true
  await openSettlement(tx, { requestId, depositId: deposit.id, stage: 'refunding', isBound })
  await setStatus(tx, context.announce, { requestId, status: 'pending' })
  // An unfit deposit ends nothing: a fitting one may still come, and its hold ends by itself.
  if (isBound || endsHold.has(reason)) await context.ledger.void(tx, { requestId, reason })
}

async function offerAgain(tx: SqlTx, requestId: `0x${string}`, subject: string): Promise<void> {
  const item = await lockWorkOf(tx, { kind: 'refund', requestId, subject })
  if (item?.state === 'open') await updateWork(tx, item.id, { state: 'open', delayMs: 0 })
}
