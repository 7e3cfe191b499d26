import type { SqlDatabase, SqlTx } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { Run } from '../../jobs/runJobs.ts'
import { toBytes } from '../orders/orderColumns.ts'
import { lockSettledRequest } from '../settlement/settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlement/settlementContext.ts'
import { setStatus } from '../status/requestProgress.ts'
import { reverted } from '../status/standstill.ts'
import { lateInclusionSeconds } from '../timings.ts'
import { followWork, versionOfWork } from '../work/followWork.ts'
import type { ReadApart } from '../work/readApart.ts'
import { retryDelayMs } from '../work/solverWork.ts'
import { relayDeadlineSchema, type WorkItem } from '../work/workItem.ts'
import {
  listPendingPermitWork,
  lockWork,
  markDeposited,
  noteReported,
  updateWork,
} from '../work/workStore.ts'
import { type RelayFailure, type RelayReading, relayStep } from './relayStep.ts'

const atOnce = 16

/** Ends every permit that became a deposit, or that can become none. */
export async function followPermits(context: SettlementContext, run: Run): Promise<void> {
  const endedBefore = nowSeconds(context) - lateInclusionSeconds
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listPendingPermitWork(context.database, { limit, endedBefore }),
    read: async (item, signal, readApart) => ({
      mark: versionOfWork(item),
      seen: await readRelay(context, item, { signal, readApart }),
    }),
    lock: (tx, { id }) => lockWork(tx, id),
    versionOf: versionOfWork,
    step: (tx, item, reading) => takeStep(context, tx, { item, reading }),
  })
}

async function readRelay(
  context: SettlementContext,
  { state, txHash, chainId }: WorkItem,
  { signal, readApart }: { readonly signal: AbortSignal; readonly readApart: ReadApart },
): Promise<RelayReading> {
  if (state !== 'reported' || txHash === undefined) return 'none'
  const chain = chainOf(context, chainId)
  const transactionRef = { chainId, transactionId: txHash }
  const mined = await readApart(transactionRef, () => chain.transaction(txHash, signal))
  if (mined === undefined) return 'missing'
  const isFinal = mined.blockNumber <= (await chain.finalHeight(signal))
  if (mined.succeeded) return isFinal ? 'final' : 'included'
  // A reorganization may still make a success of it.
  return isFinal ? 'reverted' : 'reverting'
}

async function takeStep(
  context: SettlementContext,
  tx: SqlTx,
  { item, reading }: { readonly item: WorkItem; readonly reading: RelayReading },
): Promise<void> {
  const { deadline: deadlineSeconds } = relayDeadlineSchema.parse(item.payload)
  const attempts = item.attempts + 1
  const delayMs = retryDelayMs('permit', attempts)
  const step = relayStep({
    work: { state: item.state, mayTryAgain: delayMs !== undefined },
    isDeposited: await hasDeposit(tx, item),
    reading,
    nowSeconds: nowSeconds(context),
    deadlineSeconds,
  })
  switch (step.action) {
    case 'wait': {
      // An open item is the solver's until it says something.
      if (item.state === 'open') {
        if (item.requestId !== undefined) await markDeposited(tx, item.requestId, false)
        return
      }
      const pauseMs = paceMs(chainOf(context, item.chainId).chain.config) / 2
      const isIncluded = reading === 'included' || reading === 'final'
      const inclusion = { isIncluded, isReverted: reading === 'reverting', delayMs: pauseMs }
      await noteReported(context.announce, tx, item, inclusion)
      return
    }
    case 'finish':
      await updateWork(tx, item.id, { state: 'done' })
      return
    case 'offer_again':
      await updateWork(tx, item.id, {
        ...{ state: 'open', txHash: null, reason: reverted, attempts },
        delayMs: delayMs ?? 0,
      })
      if (item.requestId !== undefined) await context.announce(tx, item.requestId)
      return
    case 'fail':
      await fail(context, tx, item, step.reason)
  }
}

async function hasDeposit(database: Pick<SqlDatabase, 'query'>, { requestId }: WorkItem): Promise<boolean> {
  if (requestId === undefined) return false
  const rows = await database.query(
    `select 1 from deposit_seen where request_id = $1 and state <> 'orphaned' limit 1`,
    [toBytes(requestId)],
  )
  return rows.length > 0
}

/** Its hold ends at once. Whoever sends the permit after all makes a deposit like any other. */
async function fail(
  context: SettlementContext,
  tx: SqlTx,
  { id, requestId }: WorkItem,
  reason: RelayFailure,
): Promise<void> {
  await updateWork(tx, id, { state: 'cancelled', reason })
  const request = requestId === undefined ? undefined : await lockSettledRequest(tx, requestId)
  if (request === undefined || request.status !== 'waiting') return
  if (request.debitMicroUsd > 0n) await context.ledger.void(tx, { requestId: request.requestId, reason })
  await setStatus(tx, context.announce, {
    requestId: request.requestId,
    status: 'failure',
    failReason: reason,
  })
}
