import { depthBlocks, type SqlTx } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { MinedTransaction } from '@causeway/families'
import type { Run } from '../../jobs/runJobs.ts'
import { depthRuleOf } from '../settlement/chain/depth.ts'
import { findPaidSwap } from '../settlement/chain/paidSwap.ts'
import type { SettlementChain } from '../settlement/chain/settlementChain.ts'
import { orderValueMicroUsd } from '../settlement/settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlement/settlementContext.ts'
import { recordTransaction, setStatus } from '../status/requestProgress.ts'
import { lateInclusionSeconds } from '../timings.ts'
import { followWork, type NewBlocks, type Reading } from '../work/followWork.ts'
import type { ReadApart } from '../work/readApart.ts'
import { callMatch } from './callMatch.ts'
import {
  decideReported,
  isSpent,
  listDueReported,
  listExecuted,
  lockReported,
  type ReportedTransaction,
  recheckReportedAfter,
} from './reportedTransactions.ts'
import { lockSelfExecuted, type SelfExecutedRequest } from './selfExecutedRequest.ts'

const atOnce = 16
const missingPauseMaxMs = 30_000

/** Looks up on its chain what users say they executed, or a router's event does, and ends their requests by what is found there. */
export async function followReportedTransactions(
  context: SettlementContext,
  run: Run,
  newBlocks: NewBlocks,
): Promise<void> {
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listDueReported(context.database, newBlocks, limit),
    read: (reported, signal, readApart) => readReported(context, reported, { signal, readApart }),
    async lock(tx, reported) {
      const request = await lockSelfExecuted(tx, reported.requestId)
      return request !== undefined && (await lockReported(tx, reported)) ? request : undefined
    },
    // It is locked only while nothing was decided on it, and never changes before.
    versionOf: () => [],
    step: (tx, request, sighting) => judge(context, tx, { ...sighting, request }),
  })
}

async function readReported(
  context: SettlementContext,
  reported: ReportedTransaction,
  { signal, readApart }: { readonly signal: AbortSignal; readonly readApart: ReadApart },
): Promise<Reading<Omit<Sighting, 'request'>>> {
  const chain = chainOf(context, reported.chainId)
  const transactionRef = { chainId: reported.chainId, transactionId: reported.txHash }
  const mined = await readApart(transactionRef, () => chain.transaction(reported.txHash, signal))
  const blocksOnTop = mined === undefined ? 0n : (await chain.head(signal)) - mined.blockNumber
  return { mark: [], seen: { reported, chain, mined, blocksOnTop } }
}

type Sighting = {
  readonly reported: ReportedTransaction
  readonly request: SelfExecutedRequest
  readonly chain: SettlementChain
  readonly mined: MinedTransaction | undefined
  readonly blocksOnTop: bigint
}

async function judge(context: SettlementContext, tx: SqlTx, sighting: Sighting): Promise<void> {
  const { reported, request, chain, mined, blocksOnTop } = sighting
  const pause = paceMs(chain.chain.config)
  if (mined === undefined) {
    const isOver = nowSeconds(context) > request.deadlineSeconds + lateInclusionSeconds
    if (isOver) await decideReported(tx, reported, { state: 'other' })
    else
      await recheckReportedAfter(tx, reported, Math.min(pause * 1.5 ** reported.attempts, missingPauseMaxMs))
    return
  }
  const done = await listExecuted(tx, request.requestId)
  // Inside a batch the outer call differs from the quote, so only the router's event can match it.
  const swap = findPaidSwap(request, mined.paidSwaps)
  const byEvent = swap !== undefined
  const callIndex = byEvent ? 0 : callMatch(request.execution, mined, done)
  const isOpen = request.status === 'waiting' || request.status === 'pending'
  if (callIndex === undefined || !isOpen || (!byEvent && (await isSpent(tx, reported)))) {
    await decideReported(tx, reported, { state: 'other' })
    return
  }
  // Nothing is paid for it: blocks tell, as many as come in the seconds of the rule.
  const rule = depthRuleOf(chain.chain, orderValueMicroUsd(request))
  if (blocksOnTop < depthBlocks(rule, chain.chain.config)) {
    await recheckReportedAfter(tx, reported, pause / 2)
    return
  }
  const isLast = done.size + 1 === request.execution.calls.length
  // A call that is no swap moves what it names.
  const paidAmount = swap?.amountOut ?? (isLast && mined.succeeded ? request.quoted.amountOut : undefined)
  await decideReported(tx, reported, {
    state: mined.succeeded ? 'executed' : 'reverted',
    ...{ callIndex, byEvent, paidAmount },
  })
  await show(context, tx, { sighting, mined, isLast })
}

/** The user's transaction is deposit and fill in one. */
async function show(
  context: SettlementContext,
  tx: SqlTx,
  inclusion: { readonly sighting: Sighting; readonly mined: MinedTransaction; readonly isLast: boolean },
): Promise<void> {
  const { sighting, mined, isLast } = inclusion
  const { requestId } = sighting.request
  const { chainId, txHash } = sighting.reported
  const place = { requestId, chainId, txHash, blockNumber: mined.blockNumber }
  await recordTransaction(tx, { ...place, role: 'deposit' })
  if (!mined.succeeded) {
    const failReason = 'TRANSACTION_REVERTED'
    await setStatus(tx, context.announce, { requestId, status: 'failure', failReason })
    return
  }
  if (!isLast) {
    await setStatus(tx, context.announce, { requestId, status: 'pending' })
    return
  }
  await recordTransaction(tx, { ...place, role: 'fill' })
  await setStatus(tx, context.announce, { requestId, status: 'success' })
  context.observe({ event: 'success', requestId })
}
