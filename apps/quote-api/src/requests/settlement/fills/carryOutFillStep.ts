import type { SqlTx } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import { bookSkew } from '../../orders/skewBookings.ts'
import {
  recheckAfter,
  recheckNow,
  recordTransaction,
  setStage,
  setStatus,
} from '../../status/requestProgress.ts'
import { reverted } from '../../status/standstill.ts'
import { refundSeconds } from '../../timings.ts'
import { retryDelayMs } from '../../work/solverWork.ts'
import type { WorkItem } from '../../work/workItem.ts'
import { addWork, noteReported, updateWork } from '../../work/workStore.ts'
import { bookedSkew } from '../amounts/depositShare.ts'
import type { PaymentReading } from '../chain/settlementChain.ts'
import { surplusRefund } from '../deposits/depositDecision.ts'
import { readDeposit, type StoredDeposit } from '../deposits/depositStore.ts'
import { parkRequest } from '../parked/parkRequest.ts'
import { proofOf, refundPayload } from '../payments/fillWork.ts'
import { startRefund } from '../refunds/startRefund.ts'
import { refundTermsOf, type SettledRequest } from '../settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlementContext.ts'
import type { FillFailure, FillStep } from './fillStep.ts'

/** Pause between looks at an item that waits for its solver, whose report makes it due at once. */
const idleMs = 5_000

/** A decided step with the locked rows and the facts by which it was decided. */
type FillTransition = {
  readonly request: SettledRequest
  readonly item: WorkItem
  readonly payment: PaymentReading | undefined
  /** True if the fill contract has recorded a payment of the order; undefined if it was not asked. */
  readonly isRecorded?: boolean | undefined
  readonly step: FillStep
}

/** Carries out the step of a request that waits for its fill, in the transaction that has locked its rows. */
export async function carryOutFillStep(
  context: SettlementContext,
  tx: SqlTx,
  transition: FillTransition,
): Promise<void> {
  const { step } = transition
  switch (step.action) {
    case 'wait':
      return wait(context, tx, transition)
    case 'show_submitted':
      return showSubmitted(context, tx, transition)
    case 'succeed':
      return succeed(context, tx, transition, step.isLate)
    case 'offer_again':
      reportFalseReport(context, transition, step.why)
      return offerAgain(context, tx, transition, step.why)
    case 'refund':
      reportFalseReport(context, transition, step.reason)
      return refundDeposit(context, tx, transition, step.reason)
  }
}

async function wait(
  context: SettlementContext,
  tx: SqlTx,
  { request, item, payment }: FillTransition,
): Promise<void> {
  if (item.state === 'reported')
    await noteReported(context.announce, tx, item, {
      isIncluded: false,
      isReverted: payment?.state === 'reverted',
    })
  await recheckAfter(tx, request.requestId, item.state === 'reported' ? pollMs(context, request) : idleMs)
}

/** Shows the fill in the request's status as soon as a block has it. */
async function showSubmitted(
  context: SettlementContext,
  tx: SqlTx,
  transition: FillTransition,
): Promise<void> {
  const { request, item } = transition
  const { requestId } = request
  await recordFill(tx, transition)
  await noteReported(context.announce, tx, item, { isIncluded: true, isReverted: false })
  if (request.status !== 'submitted') {
    await setStatus(tx, context.announce, { requestId, status: 'submitted' })
    context.observe({ event: 'submitted', requestId })
  }
  await recheckAfter(tx, requestId, pollMs(context, request))
}

/** Offers the fill to the solver again, because the reported transaction can never pay the order. */
async function offerAgain(
  context: SettlementContext,
  tx: SqlTx,
  { request: { requestId }, item }: FillTransition,
  problem: string,
): Promise<void> {
  const attempts = item.attempts + 1
  const reason = problem === reverted || problem === 'lapsed' ? problem : `does not pay: ${problem}`
  await updateWork(tx, item.id, {
    state: 'open',
    txHash: null,
    validUntilSeconds: null,
    reason,
    attempts,
    // Never undefined here, because `mayTryAgain` was true.
    delayMs: retryDelayMs('fill', attempts) ?? 0,
  })
  await recheckAfter(tx, requestId, idleMs)
  await context.announce(tx, requestId)
  context.observe({ event: 'fill_reopened', requestId, reason })
}

/** Tells operators that a solver reported a transaction which pays something else. */
function reportFalseReport(
  context: SettlementContext,
  { request: { requestId }, item, payment }: FillTransition,
  problem: string,
): void {
  if (payment?.state !== 'included' || item.txHash === undefined) return
  context.observe({ event: 'false_report', requestId, kind: 'fill', problem, txHash: item.txHash })
}

/** Half a block's time, so that a new block is noticed soon. */
function pollMs(context: SettlementContext, { destinationChainId }: SettledRequest): number {
  return paceMs(chainOf(context, destinationChainId).chain.config) / 2
}

async function recordFill(tx: SqlTx, { request, payment }: FillTransition): Promise<void> {
  if (payment?.state !== 'included') return
  const { transactionId: txHash, evidence } = payment.facts
  const { requestId, destinationChainId: chainId } = request
  await recordTransaction(tx, { requestId, role: 'fill', chainId, txHash, blockNumber: evidence.blockNumber })
}

/** Marks a request as filled, so that `attestFills` settles it; a late fill is parked, since nobody attests it. */
async function succeed(
  context: SettlementContext,
  tx: SqlTx,
  transition: FillTransition,
  isLate: boolean,
): Promise<void> {
  const { request, item } = transition
  const { requestId } = request
  await recordFill(tx, transition)
  await updateWork(tx, item.id, { state: 'done' })
  await setStatus(tx, context.announce, { requestId, status: 'success' })
  context.observe({ event: 'success', requestId })
  await setStage(tx, requestId, {
    stage: 'filled',
    ...(item.txHash !== undefined && { fillTx: item.txHash }),
  })
  const { settlement } = request
  const deposit = settlement && (await readDeposit(tx, settlement.depositId))
  // The skew of an unbound deposit is booked once it is back on its chain and bound.
  if (deposit !== undefined && settlement?.isBound === true)
    await bookSkew(tx, { requestId, microUsd: bookedSkew(request, deposit.amount), isFilled: true })
  if (deposit !== undefined) await refundSurplus(context, tx, { request, deposit })
  if (isLate) await parkRequest(context, tx, requestId, 'FILLED_LATE')
}

/** Asks for the refund of a deposit's excess over the quoted input, if it is worth the gas. */
async function refundSurplus(
  context: SettlementContext,
  tx: SqlTx,
  { request, deposit }: { readonly request: SettledRequest; readonly deposit: StoredDeposit },
): Promise<void> {
  const { requestId, orderId, order } = request
  const amount = surplusRefund(deposit.amount, request.feeBasis, refundTermsOf(request))
  if (amount === 0n) return
  const origin = chainOf(context, deposit.chainId).chain
  const deadlineSeconds = nowSeconds(context) + refundSeconds
  const { currency, chainId } = deposit
  const payload = {
    ...refundPayload(order, { orderId, origin, currency, amount, deadlineSeconds }),
    ...proofOf(request, deposit),
  }
  await addWork(tx, { kind: 'refund', requestId, subject: `surplus:${deposit.id}`, chainId, payload })
}

/**
 * Gives up the fill and refunds the deposit, unless the recipient may have the money: if the fill contract
 * recorded a payment of the order, the request is parked. On a chain whose records can be read nothing is
 * given up before they were; a chain without records leaves that check to the solver (P-48).
 */
async function refundDeposit(
  context: SettlementContext,
  tx: SqlTx,
  { request, item, isRecorded }: FillTransition,
  reason: FillFailure,
): Promise<void> {
  const { requestId, settlement } = request
  if (isRecorded === true) return parkRequest(context, tx, requestId, 'FILL_RECORDED')
  // The fill contract was not asked, because the step became a refund only now: the next look asks it.
  if (isRecorded === undefined && chainOf(context, request.destinationChainId).isPaid !== undefined)
    return recheckNow(tx, requestId)
  const deposit = settlement && (await readDeposit(tx, settlement.depositId))
  if (deposit === undefined) throw new Error('a settlement has its deposit')
  if (item.state !== 'failed') await updateWork(tx, item.id, { state: 'cancelled', reason })
  if (deposit.state === 'orphaned') {
    // The deposit left the chain, so there is nothing to refund.
    await context.ledger.void(tx, { requestId, reason: 'DEPOSIT_REORGED' })
    await setStatus(tx, context.announce, { requestId, status: 'failure', failReason: 'DEPOSIT_REORGED' })
    await setStage(tx, requestId, { stage: 'refunded' })
    return
  }
  // The solver must make sure that a fill which it sent is never included after the refund.
  await startRefund(context, tx, { request, deposit, reason, replaces: item.txHash })
}
