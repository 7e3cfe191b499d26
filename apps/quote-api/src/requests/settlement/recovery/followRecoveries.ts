import type { HubReader } from '@causeway/chains'
import type { Hex, SqlTx } from '@causeway/core'
import type { Run } from '../../../jobs/runJobs.ts'
import { setStatus } from '../../status/requestProgress.ts'
import { followWork, stepWork } from '../../work/followWork.ts'
import type { WorkItem } from '../../work/workItem.ts'
import { listReportedWork, lockWork, updateWork } from '../../work/workStore.ts'
import { lockSettledRequest, readSettledRequest, type SettledRequest } from '../settledRequest.ts'
import type { SettlementContext } from '../settlementContext.ts'
import { type Obstacle, promiseObstacle } from './promiseRule.ts'
import { readPromiseFacts } from './readPromiseFacts.ts'
import {
  hasUnfinishedRecovery,
  keepObstacle,
  keepPromise,
  listUnsigned,
  markEntered,
  readRecovery,
} from './recoveryStore.ts'

export type RecoveryContext = Pick<SettlementContext, 'database' | 'chains' | 'announce'> & {
  readonly hub: Pick<HubReader, 'isExecuted'> | undefined
  /** How long promise and deposit stand before oracles release it. */
  readonly delaySeconds: number
  /** Signs with the key of the orders. @throws OrderKeyReplacedError, SignerFailedError */
  readonly signPromise: (request: Pick<SettledRequest, 'requestId' | 'orderId' | 'order'>) => Promise<Hex>
}

const atOnce = 4

/**
 * Signs the promise of every order that was given up, as soon as nothing was paid for it and nothing can be any more, and
 * tells owners of deposits that the hub has.
 */
export async function followRecoveries(context: RecoveryContext, run: Run): Promise<void> {
  const { database } = context
  await followWork(database, run, {
    atOnce,
    list: (limit) => listUnsigned(database, limit),
    read: (requestId, signal) => readObstacle(context, requestId, signal),
    lock: (tx, requestId) => lockUnsigned(tx, requestId),
    versionOf: () => [],
    step: (tx, request, obstacle) => takeStep(context, tx, request, obstacle),
  })
  await stepWork(database, run, {
    atOnce,
    list: (limit) => listReportedWork(database, 'recovery', limit),
    step: (tx, item) => finishItem(context, tx, item),
  })
}

async function readObstacle(context: RecoveryContext, requestId: Hex, signal: AbortSignal) {
  const request = await readSettledRequest(context.database, requestId)
  if (request === undefined) return undefined
  return { mark: [], seen: promiseObstacle(await readPromiseFacts(context, request, signal)) }
}

async function lockUnsigned(tx: SqlTx, requestId: Hex): Promise<SettledRequest | undefined> {
  const request = await lockSettledRequest(tx, requestId)
  const recovery = await readRecovery(tx, requestId, 'for update')
  return recovery === undefined || recovery.promise !== undefined ? undefined : request
}

/** The order's row is locked, so that no deposit is taken meanwhile; the decision was committed before. */
async function takeStep(
  context: RecoveryContext,
  tx: SqlTx,
  request: SettledRequest,
  obstacle: Obstacle | undefined,
): Promise<void> {
  const { requestId } = request
  if (obstacle !== undefined) return keepObstacle(tx, requestId, obstacle)
  await keepPromise(tx, requestId, await context.signPromise(request))
}

async function finishItem(context: RecoveryContext, tx: SqlTx, { id, requestId }: WorkItem): Promise<void> {
  const request = requestId && (await lockSettledRequest(tx, requestId))
  const item = await lockWork(tx, id)
  if (request === undefined || requestId === undefined || item?.state !== 'reported') return
  await updateWork(tx, id, { state: 'done' })
  if (await hasUnfinishedRecovery(tx, requestId)) return
  await markEntered(tx, requestId, context.delaySeconds)
  const reason = 'DEPOSIT_RECOVERABLE'
  await setStatus(tx, context.announce, {
    ...{ requestId, status: 'failure', failReason: reason, refundFailReason: reason },
  })
}
