import { fillContractOf, type Hex, type PaymentFacts, type PaymentQuestion, type SqlTx } from '@causeway/core'
import type { Run } from '../../../jobs/runJobs.ts'
import { followWork, type NewBlocks, type Reading, versionOfWork } from '../../work/followWork.ts'
import type { Reads } from '../../work/readApart.ts'
import { retryDelayMs } from '../../work/solverWork.ts'
import type { WorkItem } from '../../work/workItem.ts'
import { lockWorkOf, readWorkOf } from '../../work/workStore.ts'
import { isPaymentDeep } from '../chain/depth.ts'
import { isFinalMismatch } from '../chain/finalMismatch.ts'
import type { PaymentReading, SettlementChain } from '../chain/settlementChain.ts'
import { listDueRequests, listReportedFills } from '../dueRequests.ts'
import { fillProblem } from '../payments/fillCheck.ts'
import {
  lockSettledRequest,
  orderValueMicroUsd,
  readSettledRequest,
  type SettledRequest,
} from '../settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlementContext.ts'
import { carryOutFillStep } from './carryOutFillStep.ts'
import { type FillReading, type FillStep, fillStep } from './fillStep.ts'

const atOnce = 16

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
      await carryOutFillStep(context, tx, { request, item, ...fillFacts, step })
    },
  })
}

/** Requests that are due, and those with a reported fill on a chain that has a new block. */
async function listDue(
  { database }: SettlementContext,
  newBlocks: NewBlocks,
  limit: number,
): Promise<readonly Hex[]> {
  const due = await listDueRequests(database, 'filling', limit)
  return [...new Set([...due, ...(await listReportedFills(database, newBlocks, limit))])]
}

/** Facts of the reported transaction. */
type FillFacts = {
  /** Undefined where nothing was reported. */
  readonly payment: PaymentReading | undefined
  /** True if a block has the payment, with the depth that the chain requires for the order's worth. */
  readonly isDeep: boolean
  /** True if the payment is included in a final block and does not pay the order. */
  readonly isFinal: boolean
  /** True if the reported transaction can have no effect in any future block. */
  readonly isLapsed: boolean
  /** True if the fill contract has recorded a payment of the order. Read only if the next step would be a refund. */
  readonly isRecorded?: boolean | undefined
}

async function readFilling(
  context: SettlementContext,
  requestId: Hex,
  reads: Reads,
): Promise<Reading<FillFacts> | undefined> {
  const request = await readSettledRequest(context.database, requestId)
  const item = await readWorkOf(context.database, { kind: 'fill', requestId })
  if (request === undefined || item === undefined) return undefined
  const fillFacts = await readFill(context, request, item, reads)
  const rowVersion = versionOfWork(item)
  if (stepOf(context, request, item, fillFacts).action !== 'refund') return { rowVersion, facts: fillFacts }
  const { isPaid } = chainOf(context, request.destinationChainId)
  const fillContract = fillContractOf(request.order.output.extraData)
  const isRecorded = await isPaid?.(request.orderId, reads.signal, fillContract)
  return { rowVersion, facts: { ...fillFacts, isRecorded } }
}

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

/** True once a final block is later than the time until which the reported transaction is valid. */
async function hasLapsed(
  context: SettlementContext,
  chain: SettlementChain,
  { validUntilSeconds }: WorkItem,
  signal: AbortSignal,
): Promise<boolean> {
  if (validUntilSeconds === undefined || nowSeconds(context) <= validUntilSeconds) return false
  return (await chain.finalSeconds(signal)) > validUntilSeconds
}

/**
 * The next step by the present state of the work item. Decided before the lock, it tells whether the fill
 * contract has to be asked (`isRecorded`); decided again under the lock, it is carried out. A step that
 * became a refund only then has no `isRecorded`, so `carryOutFillStep` leaves it to the next look.
 */
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
  problemOf: (facts: PaymentFacts) => ReturnType<typeof fillProblem>,
): FillReading {
  if (payment === undefined) return { state: 'none' }
  if (payment.state === 'missing') return { state: 'missing', isLapsed }
  if (payment.state === 'reverted') return payment
  return { state: 'included', isDeep, problem: problemOf(payment.facts), isFinal }
}

async function lockFilling(
  tx: SqlTx,
  requestId: Hex,
): Promise<{ readonly request: SettledRequest; readonly item: WorkItem } | undefined> {
  const request = await lockSettledRequest(tx, requestId)
  const item = await lockWorkOf(tx, { kind: 'fill', requestId })
  return request?.settlement?.stage === 'filling' && item !== undefined ? { request, item } : undefined
}
