import { fillContractOf, type Hex, type PaymentFacts, type PaymentQuestion, type SqlTx } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { Run } from '../../../jobs/runJobs.ts'
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
import { followWork, type NewBlocks, type Reading, versionOfWork } from '../../work/followWork.ts'
import type { ReadApart } from '../../work/readApart.ts'
import { retryDelayMs } from '../../work/solverWork.ts'
import type { WorkItem } from '../../work/workItem.ts'
import { addWork, lockWorkOf, noteReported, readWorkOf, updateWork } from '../../work/workStore.ts'
import { bookedSkew } from '../amounts/depositShare.ts'
import { isPaymentDeep } from '../chain/depth.ts'
import { isFinalMismatch } from '../chain/finalMismatch.ts'
import type { PaymentReading, SettlementChain } from '../chain/settlementChain.ts'
import { surplusRefund } from '../deposits/depositDecision.ts'
import { readDeposit, type StoredDeposit } from '../deposits/depositStore.ts'
import { listDueRequests, listToldFills } from '../dueRequests.ts'
import { parkRequest } from '../parked/parkRequest.ts'
import { fillProblem } from '../payments/fillCheck.ts'
import { proofOf, refundPayload } from '../payments/fillWork.ts'
import { startRefund } from '../refunds/startRefund.ts'
import {
  lockSettledRequest,
  orderValueMicroUsd,
  readSettledRequest,
  refundTermsOf,
  type SettledRequest,
} from '../settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlementContext.ts'
import { type FillFailure, type FillReading, type FillStep, fillStep } from './fillStep.ts'

const atOnce = 16
/** Pause between looks at an item that waits for its solver, whose report makes it due at once. */
const idleMs = 5_000

/** Job that follows requests that wait for their fill: reads each reported transaction and does what `fillStep` decides. */
export async function followFills(context: SettlementContext, run: Run, newBlocks: NewBlocks): Promise<void> {
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listDue(context, newBlocks, limit),
    read: (requestId, signal, readApart) => readFilling(context, requestId, { signal, readApart }),
    lock: lockFilling,
    versionOf: ({ item }) => versionOfWork(item),
    async step(tx, { request, item }, fillFacts) {
      const step = stepOf(context, request, item, fillFacts)
      await carryOutStep(context, tx, { request, item, ...fillFacts, step })
    },
  })
}

async function listDue(
  { database }: SettlementContext,
  newBlocks: NewBlocks,
  limit: number,
): Promise<readonly Hex[]> {
  const due = await listDueRequests(database, 'filling', limit)
  return [...new Set([...due, ...(await listToldFills(database, newBlocks, limit))])]
}

async function readFilling(
  context: SettlementContext,
  requestId: Hex,
  reads: Reads,
): Promise<Reading<FillFacts & Recorded> | undefined> {
  const request = await readSettledRequest(context.database, requestId)
  const item = await readWorkOf(context.database, { kind: 'fill', requestId })
  if (request === undefined || item === undefined) return undefined
  const fillFacts = await readFill(context, request, item, reads)
  const { isPaid } = chainOf(context, request.destinationChainId)
  const isGivenUp = stepOf(context, request, item, fillFacts).action === 'refund'
  const fillContract = fillContractOf(request.order.output.extraData)
  const isRecorded = isGivenUp ? await isPaid?.(request.orderId, reads.signal, fillContract) : undefined
  return { rowVersion: versionOfWork(item), facts: { ...fillFacts, isRecorded } }
}

async function lockFilling(
  tx: SqlTx,
  requestId: Hex,
): Promise<{ readonly request: SettledRequest; readonly item: WorkItem } | undefined> {
  const request = await lockSettledRequest(tx, requestId)
  const item = await lockWorkOf(tx, { kind: 'fill', requestId })
  return request?.settlement?.stage === 'filling' && item !== undefined ? { request, item } : undefined
}

type Reads = { readonly signal: AbortSignal; readonly readApart: ReadApart }

/** Facts of the reported transaction; `isDeep` and `isFinal` as in `FillReading`. */
type FillFacts = {
  /** Undefined where nothing was reported. */
  readonly payment: PaymentReading | undefined
  readonly isDeep: boolean
  readonly isFinal: boolean
  /** True if the reported transaction can have no effect in any future block. */
  readonly isLapsed: boolean
}

/** `isRecorded`: the fill contract has recorded a payment of the order. Read only if the next step would be a refund. */
type Recorded = { readonly isRecorded?: boolean | undefined }

const noFillFacts: FillFacts = { payment: undefined, isDeep: false, isFinal: false, isLapsed: false }

async function readFill(
  context: SettlementContext,
  request: SettledRequest,
  item: WorkItem,
  { signal, readApart }: Reads,
): Promise<FillFacts> {
  const { order, orderId, destinationChainId } = request
  const chain = chainOf(context, destinationChainId)
  if (item.state !== 'reported' || item.txHash === undefined) return noFillFacts
  const { extraData, payments, calls } = order.output
  const question: PaymentQuestion = { transactionId: item.txHash, orderId, extraData, payments, calls }
  // Read before the payment: if the payment is missing afterwards, no block up to this final one has it.
  const isLapsed = await hasLapsed(context, chain, item, signal)
  const isWrong = (facts: PaymentFacts) => fillProblem(request, facts, chain.chain.codec) !== undefined
  return readApart({ chainId: destinationChainId, transactionId: item.txHash }, async () => {
    const payment = await chain.payment(question, signal)
    return {
      payment,
      isDeep: await isPaymentDeep(chain, orderValueMicroUsd(request), payment, signal),
      isFinal: await isFinalMismatch({ chain, question, payment, isWrong }, signal),
      isLapsed,
    }
  })
}

async function hasLapsed(
  context: SettlementContext,
  chain: SettlementChain,
  { validUntilSeconds }: WorkItem,
  signal: AbortSignal,
): Promise<boolean> {
  if (validUntilSeconds === undefined || nowSeconds(context) <= validUntilSeconds) return false
  return (await chain.finalSeconds(signal)) > validUntilSeconds
}

function stepOf(
  context: SettlementContext,
  request: SettledRequest,
  item: WorkItem,
  fillFacts: FillFacts,
): FillStep {
  const { chain } = chainOf(context, request.destinationChainId)
  return fillStep({
    work: {
      state: item.state,
      reason: item.reason,
      mayTryAgain: retryDelayMs('fill', item.attempts + 1) !== undefined,
    },
    reading: readingOf(fillFacts, (facts) => fillProblem(request, facts, chain.codec)),
    nowSeconds: nowSeconds(context),
    deadlineSeconds: request.deadlineSeconds,
  })
}

function readingOf(
  { payment, isDeep, isFinal, isLapsed }: FillFacts,
  problemOf: (
    facts: Extract<PaymentReading, { state: 'included' }>['facts'],
  ) => ReturnType<typeof fillProblem>,
): FillReading {
  if (payment === undefined) return { state: 'none' }
  if (payment.state === 'missing') return { state: 'missing', isLapsed }
  if (payment.state === 'reverted') return payment
  return { state: 'included', isDeep, problem: problemOf(payment.facts), isFinal }
}

type FillTransition = {
  readonly request: SettledRequest
  readonly item: WorkItem
  readonly payment: PaymentReading | undefined
  readonly step: FillStep
} & Recorded

async function carryOutStep(
  context: SettlementContext,
  tx: SqlTx,
  transition: FillTransition,
): Promise<void> {
  const { request, item, step } = transition
  const { requestId } = request
  switch (step.action) {
    case 'wait':
      if (item.state === 'reported') {
        const isReverted = transition.payment?.state === 'reverted'
        await noteReported(context.announce, tx, item, { isIncluded: false, isReverted })
      }
      await recheckAfter(tx, requestId, item.state === 'reported' ? pollMs(context, request) : idleMs)
      return
    case 'show_submitted':
      await recordFill(tx, transition)
      await noteReported(context.announce, tx, item, { isIncluded: true, isReverted: false })
      if (request.status !== 'submitted') {
        await setStatus(tx, context.announce, { requestId, status: 'submitted' })
        context.observe({ event: 'submitted', requestId })
      }
      await recheckAfter(tx, requestId, pollMs(context, request))
      return
    case 'succeed':
      await succeed(context, tx, transition, step.isLate)
      return
    case 'offer_again': {
      const attempts = item.attempts + 1
      const delayMs = retryDelayMs('fill', attempts) ?? 0
      const reason = reportProblem(step.why)
      reportFalseReport(context, { request, item, payment: transition.payment, problem: step.why })
      await updateWork(tx, item.id, {
        state: 'open',
        txHash: null,
        validUntilSeconds: null,
        reason,
        attempts,
        delayMs,
      })
      await recheckAfter(tx, requestId, idleMs)
      await context.announce(tx, requestId)
      context.observe({ event: 'fill_reopened', requestId, reason })
      return
    }
    case 'refund':
      reportFalseReport(context, { request, item, payment: transition.payment, problem: step.reason })
      await refundDeposit(context, tx, transition, step.reason)
      return
  }
}

function reportProblem(problem: string): string {
  return problem === reverted || problem === 'lapsed' ? problem : `does not pay: ${problem}`
}

/** Tells operators that a solver reported a transaction which pays something else. */
function reportFalseReport(
  context: SettlementContext,
  {
    request: { requestId },
    item,
    payment,
    problem,
  }: Pick<FillTransition, 'request' | 'item' | 'payment'> & { readonly problem: string },
): void {
  if (payment?.state !== 'included' || item.txHash === undefined) return
  context.observe({ event: 'false_report', requestId, kind: 'fill', problem, txHash: item.txHash })
}

function pollMs(context: SettlementContext, { destinationChainId }: SettledRequest): number {
  return paceMs(chainOf(context, destinationChainId).chain.config) / 2
}

async function recordFill(tx: SqlTx, { request, payment }: FillTransition): Promise<void> {
  if (payment?.state !== 'included') return
  const { transactionId: txHash, evidence } = payment.facts
  const { requestId, destinationChainId: chainId } = request
  await recordTransaction(tx, {
    requestId,
    role: 'fill',
    chainId,
    txHash,
    blockNumber: evidence.blockNumber,
  })
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

/** Gives up the fill and refunds the deposit; parks the request if the fill contract recorded a payment. */
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
  await startRefund(context, tx, { request, deposit, reason, replaces: item.txHash })
}
