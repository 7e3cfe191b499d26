import { blockedWallet } from '@causeway/chains'
import { DomainError, type Hex, type SqlDatabase, type SqlTx } from '@causeway/core'
import { createLedger } from '@causeway/ledger'
import { takeLeftAgain } from '../../requests/depositAddresses/addressStore.ts'
import { insertRelease, type Release } from '../../requests/screening/screenedRequest.ts'
import { readDeposit, takeHeldAgain } from '../../requests/settlement/deposits/depositStore.ts'
import {
  type ParkedFacts,
  possibleResolutions,
  type Resolution,
  retryStage,
} from '../../requests/settlement/parked/parkedRules.ts'
import { readRefundWork } from '../../requests/settlement/parked/requestRecord.ts'
import {
  type DecisionFacts,
  mayRecover,
  recoveredDeposits,
} from '../../requests/settlement/recovery/promiseRule.ts'
import {
  askForRecovery,
  insertRecovery,
  readDecisionFacts,
} from '../../requests/settlement/recovery/recoveryStore.ts'
import { lockSettledRequest, type SettledRequest } from '../../requests/settlement/settledRequest.ts'
import { readStandingOf } from '../../requests/status/readStanding.ts'
import { type SettlementStage, setStage, setStatus } from '../../requests/status/requestProgress.ts'
import { UnknownRequestError } from '../../requests/status/requestStatus.ts'
import { lockFailedRefunds, lockWorkOf, offerWithheld, updateWork } from '../../requests/work/workStore.ts'
import { announceStatus } from '../../webhooks/announceStatus.ts'
import type { AuditNote } from './ledgerAdministration.ts'

/** Facts that decide what an operator may do with a request. @param parkedReason why it stands still */
export async function readParkedFacts(
  database: Pick<SqlDatabase, 'query'>,
  request: SettledRequest,
  parkedReason: string | undefined,
): Promise<ParkedFacts & Pick<DecisionFacts, 'sweepsToFillWallet'>> {
  const { requestId, status, settlement } = request
  const refund = settlement && (await readRefundWork(database, requestId, settlement.depositId))
  const decision = await readDecisionFacts(database, request)
  return {
    isFilled: status === 'success',
    refund: refund?.state,
    // The deny list stopped it.
    isBlocked: parkedReason === blockedWallet,
    // The fill contract recorded a payment of the order.
    isRecorded: parkedReason === 'FILL_RECORDED',
    mayRecover: mayRecover(decision),
    sweepsToFillWallet: decision.sweepsToFillWallet,
  }
}

/** Locks a request that waits for an operator. @throws UnknownRequestError, OrderRecoveredError, RequestNotParkedError */
export async function lockParked(tx: SqlTx, requestId: Hex) {
  const request = await lockSettledRequest(tx, requestId)
  if (request === undefined) throw new UnknownRequestError()
  if (request.isRecovered) throw new OrderRecoveredError()
  const standing = (await readStandingOf(tx, [requestId])).get(requestId)
  // Other standstills end by themselves, without an operator.
  if (standing?.needsOperator !== true) throw new RequestNotParkedError(request.settlement?.stage ?? 'none')
  const parkedReason = standing.reason
  return { request, parkedReason, facts: await readParkedFacts(tx, request, parkedReason) }
}

/**
 * Stage after a retry. A request that is not parked itself, but has leftovers such as a failed refund, keeps its stage;
 * `looked at` tells the operator so.
 */
export const stageOnceRetried = ({ settlement }: SettledRequest, facts: ParkedFacts) =>
  settlement?.stage === 'parked' ? retryStage(facts) : ('looked at' as const)

/**
 * Resolutions that the operator may choose. A request that is parked, or that the deny list stopped, may have
 * any of `possibleResolutions`. In any other only a leftover stands still, such as the failed refund of
 * another deposit, and only that deposit can be recovered.
 */
export function resolutionsOf(
  { settlement, isRecovered }: SettledRequest,
  facts: ParkedFacts,
): readonly Resolution[] {
  if (isRecovered) return []
  const resolutions = possibleResolutions(facts)
  const isParked = settlement?.stage === 'parked' || facts.isBlocked
  return isParked ? resolutions : resolutions.filter((resolution) => resolution === 'recover')
}

/** Schedules another look at all that a denied account stopped: work, deposits, and money at deposit addresses. */
export async function recheckStopped(tx: SqlTx, requestId: Hex): Promise<void> {
  await offerWithheld(tx, requestId)
  await takeHeldAgain(tx, requestId)
  await takeLeftAgain(tx, requestId)
}

/**
 * Offers failed refunds again with all of their attempts: of the request's own deposit and of any other. The
 * transaction of one that came into no block is forgotten here; the solver still has its record, and sends
 * another one only once that transaction can have no effect any more.
 */
export async function offerRefundsAgain(tx: SqlTx, requestId: Hex): Promise<void> {
  for (const { id } of await lockFailedRefunds(tx, requestId))
    await updateWork(tx, id, { state: 'open', txHash: null, attempts: 0, delayMs: 0 })
}

/**
 * Exempts a request that the deny list stopped from the list. If it is parked, it then continues at `stage`;
 * for a refund, its fill is given up instead.
 */
export async function releaseRequest(
  tx: SqlTx,
  { requestId, settlement }: SettledRequest,
  { resolution, stage }: { readonly resolution: Release; readonly stage: SettlementStage },
): Promise<void> {
  await insertRelease(tx, requestId, resolution)
  await recheckStopped(tx, requestId)
  // If it is not parked, only parts of it were stopped, and `recheckStopped` has set them going.
  if (settlement?.stage !== 'parked') return
  if (resolution === 'refund') await giveDepositBack(tx, requestId)
  else await setStage(tx, requestId, { stage })
}

/**
 * Ends a filled request without a debit: the hold goes back to its sponsor.
 * @throws ResolutionNotPossibleError if the hold was posted
 */
export async function endUnpaid(
  tx: SqlTx,
  { requestId, hold, status }: SettledRequest,
  auditNote: AuditNote,
): Promise<void> {
  if (hold.state === 'posted') throw new ResolutionNotPossibleError([])
  // Changes nothing where no hold is open.
  await createLedger().void(tx, { requestId, reason: 'RESOLVED_UNPAID' })
  // A fill of which only the fill contract knows (`isRecorded`) has not made the request a success yet.
  if (status !== 'success') await setStatus(tx, announceStatus, { requestId, status: 'success' })
  await setStage(tx, requestId, {
    stage: 'settled',
    evidence: { kind: 'operator', resolution: 'unpaid', ...auditNote },
  })
}

/**
 * Gives the order up, so that its depositor recovers the deposit. Nothing more is paid for it; a job signs the promise
 * once chains show that no payment can come any more.
 */
export async function giveUp(tx: SqlTx, request: SettledRequest): Promise<void> {
  const { requestId, hold, status } = request
  const facts = await readDecisionFacts(tx, request)
  await insertRecovery(tx, requestId)
  for (const id of recoveredDeposits(facts)) {
    const deposit = await readDeposit(tx, id)
    // `undefined`: the promise is not signed yet.
    if (deposit !== undefined) await askForRecovery(tx, request, deposit, undefined)
  }
  // A filled request keeps its status and its debit: only deposits whose refund failed are recovered.
  if (status === 'success') return
  if (hold.state === 'reserved' || hold.state === 'pinned')
    await createLedger().void(tx, { requestId, reason: 'RESOLVED_RECOVER' })
  await setStatus(tx, announceStatus, {
    requestId,
    status: 'pending',
    refundFailReason: 'DEPOSIT_RECOVERABLE',
  })
}

/**
 * Marks the fill as failed, so that the job of the stage `filling` refunds the deposit. What was sent for the
 * fill is no longer followed: the operator has made sure that nothing was paid. Before it refunds, the job
 * asks the fill contract, where there is one, once more.
 */
export async function giveDepositBack(tx: SqlTx, requestId: Hex): Promise<void> {
  const item = await lockWorkOf(tx, { kind: 'fill', requestId })
  if (item === undefined) throw new ResolutionNotPossibleError([])
  await updateWork(tx, item.id, { state: 'failed', txHash: null, reason: 'resolved by an operator' })
  await setStage(tx, requestId, { stage: 'filling' })
}

/** Nothing is filled or refunded for the order any more; its depositors recover their deposits on the hub. */
class OrderRecoveredError extends DomainError {
  readonly code = 'ORDER_RECOVERED'
  readonly kind = 'conflict'

  constructor() {
    super(
      'The order was given up: its depositor recovers the deposit on the hub, and nothing else is paid for it.',
    )
  }
}

/** The request moves by itself, or has ended. */
class RequestNotParkedError extends DomainError {
  readonly code = 'REQUEST_NOT_PARKED'
  readonly kind = 'conflict'

  constructor(stage: string) {
    super('The request is not parked.', { data: { stage } })
  }
}

/** The operator chose a resolution that the request does not allow. */
export class ResolutionNotPossibleError extends DomainError {
  readonly code = 'RESOLUTION_NOT_POSSIBLE'
  readonly kind = 'conflict'

  /** @param possible what is possible instead */
  constructor(possible: readonly string[], advice = 'see what explain says.') {
    super(`The request cannot be resolved so; ${advice}`, {
      data: { possible: possible.join(', ') || 'nothing' },
    })
  }
}
