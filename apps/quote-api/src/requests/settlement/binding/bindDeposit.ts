import type { Hex, SqlTx, SqlWriteTx } from '@causeway/core'
import type { QuotableChain } from '../../../pricing/registry.ts'
import { bookSkew } from '../../orders/skewBookings.ts'
import { openSettlement, setStatus } from '../../status/requestProgress.ts'
import { addWork, lockWorkOf, updateWork } from '../../work/workStore.ts'
import { readSponsor } from '../amounts/bookings.ts'
import { bookedFor, bookedSkew } from '../amounts/depositShare.ts'
import { type StoredDeposit, setDepositState } from '../deposits/depositStore.ts'
import { lateReservation, pinDecision, type SeenDeposit } from '../deposits/pinDecision.ts'
import { fillPayload, proofOf } from '../payments/fillWork.ts'
import { startRefund } from '../refunds/startRefund.ts'
import { depositTermsOf, type SettledRequest } from '../settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlementContext.ts'

type Binding = {
  readonly chain: QuotableChain
  readonly request: SettledRequest
  readonly deposit: StoredDeposit
  readonly seen: SeenDeposit
  /** Charge for the fill's gas at a late deposit's prices. @source docs/specification/protocol.md P-54 */
  readonly gasCharged?: bigint | undefined
}

/**
 * Ties hold and request to the deposit and asks for the fill, or refunds what no sponsor pays for any more. What
 * the solver has begun by then is not the sponsor's to stop: an operator looks where it cannot be debited.
 */
export async function bindDeposit(
  context: SettlementContext,
  tx: SqlWriteTx,
  binding: Binding,
): Promise<void> {
  const { request, deposit } = binding
  const { requestId } = request
  if (!(await bindHold(context, tx, binding)) && (await withdrawFill(tx, requestId, 'no sponsor'))) {
    const reason = 'SPONSOR_BALANCE_TOO_LOW'
    await startRefund(context, tx, { request, deposit, reason, wasFitting: true })
    return
  }
  await setDepositState(tx, deposit.id, 'taken')
  context.observe({ event: 'deposit_bound', requestId, deposit })
  const stage = request.settlement?.stage === 'filled' ? 'filled' : 'filling'
  await openSettlement(tx, { requestId, depositId: deposit.id, stage, isBound: true })
  const isFilled = stage === 'filled'
  await bookSkew(tx, { requestId, microUsd: bookedSkew(request, deposit.amount), isFilled })
  if (isFilled) return
  await setStatus(tx, context.announce, { requestId, status: 'pending' })
  await askForFill(context, tx, binding)
}

/** @returns false when the sponsor cannot pay any more */
async function bindHold(
  { ledger, ...context }: SettlementContext,
  tx: SqlWriteTx,
  { chain, request, seen: seenDeposit }: Binding,
): Promise<boolean> {
  if (request.debitMicroUsd === 0n) return true
  const { requestId } = request
  const terms = depositTermsOf(request, chain)
  const decision = pinDecision({
    deposit: seenDeposit,
    terms,
    hold: request.hold,
    nowSeconds: nowSeconds(context),
  })
  if (decision.action !== 'pin' && decision.action !== 'reserve_again') return false
  const until = new Date(decision.untilSeconds * 1_000)
  if (decision.action === 'pin') {
    const { status } = await ledger.pin(tx, { requestId, until })
    if (status === 'resolved') return true
  }
  const reservation = lateReservation(await ledger.reserveAgain(tx, { requestId, until }))
  return reservation.action === 'pin'
}

async function askForFill(
  context: SettlementContext,
  tx: SqlTx,
  { request, deposit, gasCharged = request.quoted.gasCharged }: Binding,
): Promise<void> {
  const { requestId, order, orderId, recipient, destinationChainId, feeBasis: quotedInput } = request
  const destination = chainOf(context, destinationChainId).chain
  const { amount } = deposit
  const booked = bookedFor(request, amount)
  const appFees = booked.appFees.map(({ recipient: wallet, amount: appFeeAmount }) => ({
    wallet,
    amount: appFeeAmount.toString(),
  }))
  const { debitMicroUsd } = booked
  const sponsor = debitMicroUsd === 0n ? undefined : await readSponsor(tx, requestId)
  const payload = {
    ...fillPayload(order, { amount, quotedInput }, { orderId, destination, recipient }),
    ...(appFees.length > 0 && { appFees }),
    ...(gasCharged !== undefined && { gasCharged: gasCharged.toString() }),
    booking: context.bookings.write({ orderId, requestId, sponsor, debitMicroUsd }),
    ...proofOf(request, deposit),
  }
  const isNew = await addWork(tx, { kind: 'fill', requestId, chainId: destinationChainId, payload })
  if (isNew) return
  // The deposit came back in another block, or one was given back that was too late.
  const item = await lockWorkOf(tx, { kind: 'fill', requestId })
  const isUnbegun = item?.state === 'open' || (item?.state === 'cancelled' && item.txHash === undefined)
  if (!isUnbegun) return
  await updateWork(tx, item.id, { state: 'open', delayMs: 0, payload })
}

/**
 * Cancels the fill of a deposit that a reorganization moved to a later block.
 * @returns false if the solver has begun it: then it keeps the deposit until its transaction is refuted
 */
export async function withdrawFill(tx: SqlTx, requestId: Hex, reason: string): Promise<boolean> {
  const fill = await lockWorkOf(tx, { kind: 'fill', requestId })
  if (fill?.state === 'reported' || fill?.state === 'done') return false
  if (fill?.state === 'open') await updateWork(tx, fill.id, { state: 'cancelled', reason })
  return true
}
