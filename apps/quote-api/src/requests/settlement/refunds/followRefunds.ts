import { type Hex, type PaymentFacts, refundedDeposit, refundId, type SqlTx } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { Run } from '../../../jobs/runJobs.ts'
import {
  recheckAfter,
  recheckNow,
  recordTransaction,
  setStage,
  setStatus,
} from '../../status/requestProgress.ts'
import { reverted } from '../../status/standstill.ts'
import { holdGraceSeconds, lateInclusionSeconds } from '../../timings.ts'
import { followWork, type NewBlocks, type Reading, stepWork, versionOfWork } from '../../work/followWork.ts'
import type { Reads } from '../../work/readApart.ts'
import { retryDelayMs } from '../../work/solverWork.ts'
import { type RefundPayload, refundPayloadSchema, type WorkItem } from '../../work/workItem.ts'
import { listReportedWork, lockWork, lockWorkOf, noteReported, updateWork } from '../../work/workStore.ts'
import { isPaymentDeep } from '../chain/depth.ts'
import { isFinalMismatch } from '../chain/finalMismatch.ts'
import type { PaymentReading, SettlementChain } from '../chain/settlementChain.ts'
import { readDeposit, setDepositState } from '../deposits/depositStore.ts'
import { hasDueRefunds, listDueRequests } from '../dueRequests.ts'
import { parkRequest } from '../parked/parkRequest.ts'
import { type FillProblem, paymentProblem } from '../payments/fillCheck.ts'
import { lockSettledRequest, orderValueMicroUsd, readSettledRequest } from '../settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlementContext.ts'

const atOnce = 16
/** Pause between looks at a request that waits for its refund. */
const idleMs = 5_000

/** Job that reads every reported refund on its chain, offers failed ones again, and ends requests whose money was refunded. */
export async function followRefunds(
  context: SettlementContext,
  run: Run,
  newBlocks: NewBlocks,
): Promise<void> {
  if (!(await hasDueRefunds(context.database, newBlocks))) return
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listReportedWork(context.database, 'refund', limit, newBlocks),
    read: (item, signal, readApart) => readRefund(context, item, { signal, readApart }),
    lock: (tx, { id }) => lockWork(tx, id),
    versionOf: versionOfWork,
    step: (tx, item, refund) => carryOutStep(context, tx, item, refund),
  })
  await stepWork(context.database, run, {
    atOnce,
    list: (limit) => listDueRequests(context.database, 'refunding', limit),
    step: (tx, requestId) => endRefundedRequest(context, tx, requestId),
  })
}

/** A reported refund as its chain shows it. */
type RefundFacts = {
  readonly requestId: Hex
  readonly txHash: string
  readonly deadlineSeconds: number
  readonly payment: PaymentReading
  /** Problem of an included payment. */
  readonly problem: FillProblem | undefined
  /** True if the payment is wrong and no reorganization can change that. */
  readonly isUnpaid: boolean
  /** True if the payment has the depth that the chain requires for the order's worth. */
  readonly isDeep: boolean
  /** Time to the next look: half a block's time, so that a new block is noticed soon. */
  readonly pauseMs: number
}

async function readRefund(
  context: SettlementContext,
  item: WorkItem,
  { signal, readApart }: Reads,
): Promise<Reading<RefundFacts> | undefined> {
  const { requestId, txHash, chainId } = item
  if (requestId === undefined || txHash === undefined) return undefined
  const chain = chainOf(context, chainId)
  const payload = refundPayloadSchema.parse(item.payload)
  const request = await readSettledRequest(context.database, requestId)
  const extraData = request?.order.inputs[0]?.refunds[0]?.extraData
  if (request === undefined || extraData === undefined) return undefined
  const { orderId } = request
  const question = { transactionId: txHash, orderId, extraData, payments: [payload] }
  const { payment, recordId } = await readApart({ chainId, transactionId: txHash }, async () => ({
    payment: await chain.payment(question, signal),
    recordId: await readRecordId(chain, payload, signal),
  }))
  const problemOf = (facts: PaymentFacts) =>
    recordId === undefined
      ? 'not_recorded'
      : paymentProblem({ ...payload, recordId }, facts, chain.chain.codec)
  const isWrong = (facts: PaymentFacts) => problemOf(facts) !== undefined
  // While its deposit is in no block, a refund has no id to compare, so no report is proven false.
  const isUnpaid =
    recordId !== undefined && (await isFinalMismatch({ chain, question, payment, isWrong }, signal))
  const refundFacts = {
    requestId,
    txHash,
    deadlineSeconds: payload.deadline,
    payment,
    isUnpaid,
    problem: payment.state === 'included' ? problemOf(payment.facts) : undefined,
    isDeep: await isPaymentDeep(chain, orderValueMicroUsd(request), payment, signal),
    pauseMs: paceMs(chain.chain.config) / 2,
  }
  return { rowVersion: versionOfWork(item), facts: refundFacts }
}

/** The id that the fill contract records for the refund of a deposit; undefined while the deposit is in no block. */
async function readRecordId(
  { refundChainId: chainId, deposits }: SettlementChain,
  { orderId, deposits: [depositRef] = [] }: RefundPayload,
  signal: AbortSignal,
): Promise<Hex | undefined> {
  // Work items of older releases name no deposit; their refunds are recorded under the order id.
  if (depositRef === undefined) return orderId
  const facts = await deposits(depositRef.transactionId, signal)
  const deposit = facts?.deposits.find(({ onchainIndex }) => onchainIndex === depositRef.onchainIndex)
  if (facts === undefined || deposit === undefined) return undefined
  return refundId(orderId, refundedDeposit(deposit, { ...facts, chainId }))
}

/**
 * Acts on a reported refund by its reading. In no block long after its deadline: it fails, and an operator
 * decides. In no block yet, not deep, or reverted but not finally: it is followed on. Paid and deep: it is
 * done. Paid wrongly: it is followed until that is final, and then offered again, as is a final revert.
 */
async function carryOutStep(
  context: SettlementContext,
  tx: SqlTx,
  item: WorkItem,
  refund: RefundFacts,
): Promise<void> {
  const { requestId, txHash, payment, problem, isUnpaid, pauseMs } = refund
  const isTooLate = nowSeconds(context) >= refund.deadlineSeconds + lateInclusionSeconds
  // A transaction in no block might still come, so no other refund is offered beside it: an operator decides.
  if (payment.state === 'missing' && isTooLate) {
    await updateWork(tx, item.id, { state: 'failed', reason: 'not included' })
    await recheckNow(tx, requestId)
    return
  }
  if (mayChange(payment, refund.isDeep)) {
    const isIncluded = payment.state === 'included' && problem === undefined
    const isReverted = payment.state === 'reverted'
    await noteReported(context.announce, tx, item, { isIncluded, isReverted, delayMs: pauseMs })
    return
  }
  if (payment.state === 'included' && problem === undefined) {
    await finishRefund(context, tx, { item, requestId, payment })
    return
  }
  // The payment looks wrong, but not yet in a final block.
  if (payment.state === 'included' && !isUnpaid) {
    await updateWork(tx, item.id, { state: 'reported', delayMs: pauseMs })
    return
  }
  if (isUnpaid) {
    context.observe({ event: 'false_report', requestId, kind: 'refund', problem: 'not_paid', txHash })
  }
  await offerAgain(context, tx, item, isUnpaid ? 'does not pay' : reverted)
}

/** True while a reorganization or a later block may still change the transaction's outcome. */
function mayChange(payment: PaymentReading, isDeep: boolean): boolean {
  switch (payment.state) {
    case 'missing':
      return true
    case 'reverted':
      return !payment.isFinal
    case 'included':
      return !isDeep
  }
}

async function finishRefund(
  context: SettlementContext,
  tx: SqlTx,
  done: {
    readonly item: WorkItem
    readonly requestId: Hex
    readonly payment: Extract<PaymentReading, { state: 'included' }>
  },
): Promise<void> {
  const { item, requestId, payment } = done
  const { transactionId: txHash, evidence } = payment.facts
  const { blockNumber } = evidence
  await updateWork(tx, item.id, { state: 'done' })
  await recordTransaction(tx, { requestId, role: 'refund', chainId: item.chainId, txHash, blockNumber })
  // A refund of the excess alone leaves the deposit with its fill.
  if (!item.subject.startsWith('surplus:')) await endDeposit(context, tx, requestId, BigInt(item.subject))
  await recheckNow(tx, requestId)
}

async function endDeposit(
  context: SettlementContext,
  tx: SqlTx,
  requestId: Hex,
  depositId: bigint,
): Promise<void> {
  await setDepositState(tx, depositId, 'refunded')
  const deposit = await readDeposit(tx, depositId)
  if (deposit !== undefined) context.observe({ event: 'deposit_refunded', requestId, deposit })
}

/** Offers a refund to the solver again, since the money is still owed; after the last attempt an operator decides. */
async function offerAgain(
  { announce }: Pick<SettlementContext, 'announce'>,
  tx: SqlTx,
  item: WorkItem,
  reason: string,
): Promise<void> {
  const attempts = item.attempts + 1
  const delayMs = retryDelayMs('refund', attempts)
  if (delayMs === undefined) await updateWork(tx, item.id, { state: 'failed', reason, attempts })
  else await updateWork(tx, item.id, { state: 'open', txHash: null, reason, attempts, delayMs })
  if (item.requestId === undefined) return
  await recheckNow(tx, item.requestId)
  await announce(tx, item.requestId)
}

/**
 * Ends a request whose refund is done, or parks it if the refund failed. Until either, and for an unfit
 * deposit until no fitting one can follow it any more, the request is looked at again.
 */
async function endRefundedRequest(context: SettlementContext, tx: SqlTx, requestId: Hex): Promise<void> {
  const request = await lockSettledRequest(tx, requestId)
  const { settlement } = request ?? {}
  if (request === undefined || settlement?.stage !== 'refunding') return
  const deposit = await readDeposit(tx, settlement.depositId)
  const subject = String(settlement.depositId)
  const item = await lockWorkOf(tx, { kind: 'refund', requestId, subject })
  if (item?.state === 'failed') {
    const refundFailReason = 'MANUAL_REFUND_REQUIRED'
    await setStatus(tx, context.announce, { requestId, status: 'pending', refundFailReason })
    await parkRequest(context, tx, requestId, 'REFUND_FAILED')
    return
  }
  // Before the quote expires, a fitting deposit may still follow an unfit one that was refunded.
  const mayFollow = !settlement.isBound && nowSeconds(context) < request.expiresAtSeconds + holdGraceSeconds
  if (item?.state !== 'done' || item.txHash === undefined || mayFollow) {
    await recheckAfter(tx, requestId, idleMs)
    return
  }
  const failReason = deposit?.reason
  if (failReason === undefined) throw new Error('a deposit that is given back has its reason')
  await setStatus(tx, context.announce, { requestId, status: 'refund', failReason })
  await setStage(tx, requestId, { stage: 'refunded', refundTx: item.txHash })
  context.observe({ event: 'refund', requestId })
}
