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
import type { Reads } from '../work/readApart.ts'
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

/**
 * Job that follows the permits that a solver relays: it finishes those whose deposit was seen, offers
 * reverted ones again, and fails those that can no longer become a deposit. `followWork` calls `read` without
 * locks, then `lock` and `step` in one transaction, if the row is still of that version.
 */
export async function followPermits(context: SettlementContext, run: Run): Promise<void> {
  // A block may still include a transaction whose deadline is later than this.
  const endedBefore = nowSeconds(context) - lateInclusionSeconds
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listPendingPermitWork(context.database, { limit, endedBefore }),
    read: async (item, signal, readApart) => ({
      rowVersion: versionOfWork(item),
      facts: await readRelay(context, item, { signal, readApart }),
    }),
    lock: (tx, { id }) => lockWork(tx, id),
    versionOf: versionOfWork,
    step: (tx, item, reading) => carryOutStep(context, tx, { item, reading }),
  })
}

/** Reads the reported transaction of a permit. */
async function readRelay(
  context: SettlementContext,
  { state, txHash, chainId }: WorkItem,
  { signal, readApart }: Reads,
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

/**
 * Carries out what `relayStep` decides. `finish`: the request has a deposit, whoever sent the permit.
 * `offer_again`: the transaction failed for good, and attempts and time are left. `fail`: they are not, or
 * the permit has expired.
 */
async function carryOutStep(
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
      // An open item waits for the solver. A deposit noted before, if any, has left the chain by a reorganization.
      if (item.state === 'open') {
        if (item.requestId !== undefined) await markDeposited(tx, item.requestId, false)
        return
      }
      // Half a block's time, so that a new block is noticed soon.
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
        state: 'open',
        txHash: null,
        reason: reverted,
        attempts,
        // Never undefined here, because `mayTryAgain` was true.
        delayMs: delayMs ?? 0,
      })
      if (item.requestId !== undefined) await context.announce(tx, item.requestId)
      return
    case 'fail':
      await failPermit(context, tx, item, step.reason)
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

/**
 * Ends a permit and its unpaid request, and frees the sponsor's hold. If anybody sends the permit later all the same, its
 * deposit is treated like any late deposit.
 */
async function failPermit(
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
