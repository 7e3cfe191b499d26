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

/** A deposit that pays its order, with its request. */
type Binding = {
  readonly chain: QuotableChain
  readonly request: SettledRequest
  readonly deposit: StoredDeposit
  /** That deposit with its standing on the chain. */
  readonly seenDeposit: SeenDeposit
  /** Charge for the fill's gas at a late deposit's prices. @source rule P-54 */
  readonly gasCharged?: bigint | undefined
}

/**
 * Binds a request to its deposit: pins the sponsor's hold, books the skew, and adds the work item for the fill. If the sponsor
 * can no longer pay and no solver has begun the fill, the deposit is refunded. A begun fill goes on; if its debit fails
 * later, the request is parked for an operator.
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

/**
 * Pins the sponsor's hold for as long as the order may be settled, or takes a new one if it has ended. A
 * pinned hold never comes here: its request is bound, so that a second deposit is refunded, and a
 * reorganization unpins and unbinds at once.
 * @returns false if nothing can be held, so that the sponsor would not pay
 */
async function bindHold(
  { ledger, ...context }: SettlementContext,
  tx: SqlWriteTx,
  { chain, request, seenDeposit }: Binding,
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
    // The hold has ended since the request was read, so a new one is taken.
  }
  const reservation = lateReservation(await ledger.reserveAgain(tx, { requestId, until }))
  return reservation.action === 'pin'
}

/**
 * Adds the work item of the fill, or renews one that no solver has begun. `booking` is the note by which the
 * fill can be booked even if the database is lost. The order must be signed already, which `takeDeposits`
 * does before it locks.
 */
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
  // A work item exists already: the deposit returned in another block, or an earlier deposit was refunded.
  const item = await lockWorkOf(tx, { kind: 'fill', requestId })
  const isUnbegun = item?.state === 'open' || (item?.state === 'cancelled' && item.txHash === undefined)
  if (!isUnbegun) return
  await updateWork(tx, item.id, { state: 'open', delayMs: 0, payload })
}

/**
 * Cancels the fill of a request whose deposit is to be refunded; even a bound one is, if a reorganization
 * moves it to a later block. @returns false if the solver has begun the fill, so that it must not be refunded
 */
export async function withdrawFill(tx: SqlTx, requestId: Hex, reason: string): Promise<boolean> {
  const fill = await lockWorkOf(tx, { kind: 'fill', requestId })
  if (fill?.state === 'reported' || fill?.state === 'done') return false
  if (fill?.state === 'open') await updateWork(tx, fill.id, { state: 'cancelled', reason })
  return true
}
