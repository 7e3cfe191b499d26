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
import type { Reads } from '../work/readApart.ts'
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
/** Longest pause between looks for a transaction that is in no block. */
const missingPauseMaxMs = 30_000

/**
 * Job for requests that users execute alone: reads every reported transaction on its chain, compares it with
 * the quoted calls, and ends the request accordingly. Reports come from callers or from a router's event, and
 * prove nothing. `followWork` calls `read` without locks, then `lock` and `step` in one transaction, if the
 * row is still of that version.
 */
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
    // `lock` finds a report only while it is undecided, and until then no column of it matters.
    versionOf: () => [],
    step: (tx, request, sighting) => decideTransaction(context, tx, { ...sighting, request }),
  })
}

async function readReported(
  context: SettlementContext,
  reported: ReportedTransaction,
  { signal, readApart }: Reads,
): Promise<Reading<Omit<Sighting, 'request'>>> {
  const chain = chainOf(context, reported.chainId)
  const transactionRef = { chainId: reported.chainId, transactionId: reported.txHash }
  const mined = await readApart(transactionRef, () => chain.transaction(reported.txHash, signal))
  const blocksOnTop = mined === undefined ? 0n : (await chain.head(signal)) - mined.blockNumber
  return { rowVersion: [], facts: { reported, chain, mined, blocksOnTop } }
}

/** A report with its request and what the chain shows of it; `mined` is undefined while it is in no block. */
type Sighting = {
  readonly reported: ReportedTransaction
  readonly request: SelfExecutedRequest
  readonly chain: SettlementChain
  readonly mined: MinedTransaction | undefined
  readonly blocksOnTop: bigint
}

async function decideTransaction(context: SettlementContext, tx: SqlTx, sighting: Sighting): Promise<void> {
  const { reported, request, chain, mined, blocksOnTop } = sighting
  const blockMs = paceMs(chain.chain.config)
  if (mined === undefined) {
    const isGivenUp = nowSeconds(context) > request.deadlineSeconds + lateInclusionSeconds
    const pauseMs = Math.min(blockMs * 1.5 ** reported.attempts, missingPauseMaxMs)
    if (isGivenUp) await decideReported(tx, reported, { state: 'other' })
    else await recheckReportedAfter(tx, reported, pauseMs)
    return
  }
  const executedIndexes = await listExecuted(tx, request.requestId)
  // Inside a batch the outer call differs from the quote, so only the router's event can match it.
  const swap = findPaidSwap(request, mined.paidSwaps)
  const byEvent = swap !== undefined
  // A swap is quoted as a single call, which has index 0.
  const callIndex = byEvent ? 0 : callMatch(request.execution, mined, executedIndexes)
  const isOpen = request.status === 'waiting' || request.status === 'pending'
  // It carries nothing out: no open call matches, the request has ended, or the transaction counts elsewhere.
  if (callIndex === undefined || !isOpen || (!byEvent && (await isSpent(tx, reported)))) {
    await decideReported(tx, reported, { state: 'other' })
    return
  }
  // Nothing is paid for it, so a depth in blocks is enough: the rule's seconds are converted, finality is not awaited.
  const rule = depthRuleOf(chain.chain, orderValueMicroUsd(request))
  if (blocksOnTop < depthBlocks(rule, chain.chain.config)) {
    await recheckReportedAfter(tx, reported, blockMs / 2)
    return
  }
  const isLast = executedIndexes.size + 1 === request.execution.calls.length
  // Without a swap event, the last call pays exactly the quoted output.
  const paidAmount = swap?.amountOut ?? (isLast && mined.succeeded ? request.quoted.amountOut : undefined)
  await decideReported(tx, reported, {
    state: mined.succeeded ? 'executed' : 'reverted',
    callIndex,
    byEvent,
    paidAmount,
  })
  await recordInclusion(context, tx, { sighting, mined, isLast })
}

/** Records the user's transaction as deposit and, for the last call, as fill too; sets the request's status. */
async function recordInclusion(
  context: SettlementContext,
  tx: SqlTx,
  inclusion: { readonly sighting: Sighting; readonly mined: MinedTransaction; readonly isLast: boolean },
): Promise<void> {
  const { sighting, mined, isLast } = inclusion
  const { requestId } = sighting.request
  const { chainId, txHash } = sighting.reported
  const transaction = { requestId, chainId, txHash, blockNumber: mined.blockNumber }
  await recordTransaction(tx, { ...transaction, role: 'deposit' })
  if (!mined.succeeded) {
    const failReason = 'TRANSACTION_REVERTED'
    await setStatus(tx, context.announce, { requestId, status: 'failure', failReason })
    return
  }
  if (!isLast) {
    await setStatus(tx, context.announce, { requestId, status: 'pending' })
    return
  }
  await recordTransaction(tx, { ...transaction, role: 'fill' })
  await setStatus(tx, context.announce, { requestId, status: 'success' })
  context.observe({ event: 'success', requestId })
}
