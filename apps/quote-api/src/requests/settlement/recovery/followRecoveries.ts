import {
  depositsExecutionKey,
  type Hex,
  noFillOrRefundData,
  noFillOrRefundEntryKey,
  type SqlTx,
} from '@causeway/core'
import type { HubEntries, HubReader } from '@causeway/families'
import type { Run } from '../../../jobs/runJobs.ts'
import { setStatus } from '../../status/requestProgress.ts'
import { followWork, type Reading, versionOfWork } from '../../work/followWork.ts'
import type { WorkItem } from '../../work/workItem.ts'
import { listReportedWork, lockWork, updateWork } from '../../work/workStore.ts'
import { readDeposit } from '../deposits/depositStore.ts'
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
  /** Undefined where no hub is configured: then the solver's report is believed. */
  readonly hub: (Pick<HubReader, 'isExecuted'> & { readonly entries: HubEntries }) | undefined
  /** Time between promise and deposit on the hub and the moment when oracles release the deposit. */
  readonly delaySeconds: number
  /** Signs the promise with the order signer. @throws OrderKeyReplacedError, SignerFailedError */
  readonly signPromise: (request: Pick<SettledRequest, 'requestId' | 'orderId' | 'order'>) => Promise<Hex>
}

const atOnce = 4
const lookAgainMs = 5_000

/**
 * Job for orders that an operator gave up. First it signs the promise of each once no fill or refund was paid
 * or can come; `keepPromise` adds it to the order's recovery items, by which the solver writes promise and
 * deposits to the hub. Then it checks reported items against the hub, and tells the depositor when the hub
 * has the promise and all deposits.
 */
export async function followRecoveries(context: RecoveryContext, run: Run): Promise<void> {
  const { database } = context
  await followWork(database, run, {
    atOnce,
    list: (limit) => listUnsigned(database, limit),
    read: (requestId, signal) => readObstacle(context, requestId, signal),
    lock: (tx, requestId) => lockUnsigned(tx, requestId),
    // `lock` finds an order only until its promise is signed, and until then no column of it matters.
    versionOf: () => [],
    step: (tx, request, obstacle) => signOrNoteObstacle(context, tx, request, obstacle),
  })
  await followWork(database, run, {
    atOnce,
    list: (limit) => listReportedWork(database, 'recovery', limit),
    read: (item, signal) => readEntered(context, item, signal),
    lock: (tx, { id }) => lockWork(tx, id),
    versionOf: versionOfWork,
    step: (tx, item, isEntered) => finishItem(context, tx, item, isEntered),
  })
}

async function readObstacle(context: RecoveryContext, requestId: Hex, signal: AbortSignal) {
  const request = await readSettledRequest(context.database, requestId)
  if (request === undefined) return undefined
  return { rowVersion: [], facts: promiseObstacle(await readPromiseFacts(context, request, signal)) }
}

async function lockUnsigned(tx: SqlTx, requestId: Hex): Promise<SettledRequest | undefined> {
  const request = await lockSettledRequest(tx, requestId)
  const recovery = await readRecovery(tx, requestId, 'for update')
  return recovery === undefined || recovery.promise !== undefined ? undefined : request
}

/**
 * Signs by an obstacle that was read before the lock. It cannot have arisen since: the decision to give the
 * order up was committed before, so no job adds a fill or refund of it any more, and the lock keeps others
 * from binding a deposit now.
 */
async function signOrNoteObstacle(
  context: RecoveryContext,
  tx: SqlTx,
  request: SettledRequest,
  obstacle: Obstacle | undefined,
): Promise<void> {
  const { requestId } = request
  if (obstacle !== undefined) return keepObstacle(tx, requestId, obstacle)
  await keepPromise(tx, requestId, await context.signPromise(request))
}

/** Reads whether the hub has the deposit of an item and the promise of its order. */
async function readEntered(
  { database, chains, hub }: RecoveryContext,
  item: WorkItem,
  signal: AbortSignal,
): Promise<Reading<boolean> | undefined> {
  const { requestId, subject } = item
  const request = requestId && (await readSettledRequest(database, requestId))
  const deposit = await readDeposit(database, BigInt(subject))
  const chain = deposit && chains.get(deposit.chainId)?.chain
  if (!request || deposit === undefined || chain === undefined) return undefined
  const rowVersion = versionOfWork(item)
  if (hub === undefined) return { rowVersion, facts: true }
  const { solverChainId, solver } = request.order
  // CAST: an order's signer is an EVM account.
  const promise = { solverChainId, solver: solver as Hex, orderId: request.orderId }
  const { user, id } = noFillOrRefundEntryKey(promise)
  const key = depositsExecutionKey({ chainId: chain.key, transactionId: deposit.txHash })
  const [entry, hasDeposit] = await Promise.all([
    hub.entries.read(user, id, { signal }),
    hub.isExecuted(key, { signal }),
  ])
  return { rowVersion, facts: hasDeposit && entry.data === noFillOrRefundData }
}

/** Ends a reported item if the hub confirms it, and with the last item the request; else offers it again. */
async function finishItem(
  { announce, delaySeconds }: RecoveryContext,
  tx: SqlTx,
  { id, requestId, state }: WorkItem,
  isEntered: boolean,
): Promise<void> {
  if (requestId === undefined || state !== 'reported') return
  if (!isEntered) {
    const reason = 'the hub does not show the deposit and the promise'
    return updateWork(tx, id, { state: 'open', txHash: null, reason, delayMs: lookAgainMs })
  }
  await updateWork(tx, id, { state: 'done' })
  if (await hasUnfinishedRecovery(tx, requestId)) return
  await markEntered(tx, requestId, delaySeconds)
  const reason = 'DEPOSIT_RECOVERABLE'
  await setStatus(tx, announce, {
    requestId,
    status: 'failure',
    failReason: reason,
    refundFailReason: reason,
  })
}
