import { blockedWallet } from '@causeway/chains'
import { bytesToHex, DomainError, type Hex, type SqlDatabase, type SqlTx } from '@causeway/core'
import { createLedger } from '@causeway/ledger'
import { recordAction } from '../../access/adminAction.ts'
import { takeLeftAgain } from '../../requests/depositAddresses/addressStore.ts'
import { insertRelease, type Release } from '../../requests/screening/screenedRequest.ts'
import { readDeposit, takeHeldAgain } from '../../requests/settlement/deposits/depositStore.ts'
import {
  type ParkedFacts,
  possibleResolutions,
  type Resolution,
  retryStage,
} from '../../requests/settlement/parked/parkedRules.ts'
import {
  type RequestRecord,
  readRefundWork,
  readRequestRecord,
} from '../../requests/settlement/parked/requestRecord.ts'
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
import {
  lockSettledRequest,
  readSettledRequest,
  type SettledRequest,
} from '../../requests/settlement/settledRequest.ts'
import { listStanding, readStandingOf, type Standing } from '../../requests/status/readStanding.ts'
import { type SettlementStage, setStage, setStatus } from '../../requests/status/requestProgress.ts'
import { UnknownRequestError } from '../../requests/status/requestStatus.ts'
import { lockFailedRefunds, lockWorkOf, offerWithheld, updateWork } from '../../requests/work/workStore.ts'
import { announceStatus } from '../../webhooks/announceStatus.ts'
import type { AuditNote } from './ledgerAdministration.ts'

/** All that is known about a request, and what an operator can do about it. */
export type RequestExplanation = RequestRecord & {
  readonly requestId: Hex
  readonly orderId: Hex
  readonly status: string
  readonly failReason: string | undefined
  /** Absent before a deposit was acted on. */
  readonly stage: string | undefined
  readonly parked:
    | {
        readonly reason: string
        readonly meaning: string
        readonly endsBy: string
        /** Stage after a retry; absent if the request goes on by itself. */
        readonly retryStage?: string
        readonly resolutions: readonly Resolution[]
      }
    | undefined
}

/** A request that an identifier names. */
export type FoundRequest = {
  readonly requestId: Hex
  /** What the identifier is. */
  readonly by: 'request' | 'order' | 'transaction'
  readonly status: string
  readonly originChainId: number
  readonly destinationChainId: number
  readonly createdAt: Date
}

/**
 * Operations on parked requests: one implementation behind the command line and the admin listener. No operation debits
 * a sponsor: a retry only lets the automatic rules decide again, which demand evidence.
 */
export interface RequestAdministration {
  /**
   * Requests of this request id, order id or hash of a transaction, newest first, at most ten.
   * @param identifier as somebody pasted it; hex in either case
   * @throws UnknownRequestError
   */
  find(identifier: string): Promise<readonly FoundRequest[]>
  /** Requests and claims without progress or waiting for an operator, longest first. */
  parked(page: { limit: number }): Promise<readonly Standing[]>
  /** @throws UnknownRequestError for requests without an order too */
  explain(requestId: Hex): Promise<RequestExplanation>
  /**
   * Lets the automatic rules decide again.
   * @returns the stage that the request is put back to; `looked at` if it keeps its stage
   * @throws UnknownRequestError, RequestNotParkedError, OrderRecoveredError
   */
  retry(requestId: Hex, auditNote: AuditNote): Promise<string>
  /** Ends a parked request as the operator decides. @throws UnknownRequestError, RequestNotParkedError, OrderRecoveredError, ResolutionNotPossibleError */
  resolve(requestId: Hex, resolution: Resolution, auditNote: AuditNote): Promise<void>
}

export function createRequestAdministration(database: SqlDatabase): RequestAdministration {
  return {
    find: (identifier) => findRequests(database, identifier),

    parked: async ({ limit }) => (await listStanding(database)).slice(0, limit),

    async explain(requestId) {
      const request = await readSettledRequest(database, requestId)
      if (request === undefined) throw new UnknownRequestError()
      const standing = (await readStandingOf(database, [requestId])).get(requestId)
      const facts = await factsOf(database, request, standing?.reason)
      const { orderId, status, failReason, settlement } = request
      return {
        requestId,
        orderId,
        status,
        failReason,
        stage: settlement?.stage,
        parked:
          standing === undefined
            ? undefined
            : {
                reason: standing.reason,
                meaning: standing.meaning,
                endsBy: standing.endsBy,
                ...(standing.isOperators && { retryStage: stageOnceRetried(request, facts) }),
                resolutions: standing.isOperators ? resolutionsOf(request, facts) : [],
              },
        ...(await readRequestRecord(database, requestId)),
      }
    },

    retry: (requestId, auditNote) =>
      database.transaction(async (tx) => {
        const { request, facts, parkedReason } = await lockParked(tx, requestId)
        if (facts.isBlocked) await recheckStopped(tx, requestId)
        await offerRefundsAgain(tx, requestId)
        const stage = stageOnceRetried(request, facts)
        if (stage !== 'looked at') await setStage(tx, requestId, { stage })
        const details = { parkedReason, stage }
        await record(tx, { requestId, action: 'requests.retry', auditNote, details })
        return stage
      }),

    resolve: (requestId, resolution, auditNote) =>
      database.transaction(async (tx) => {
        const { request, facts, parkedReason } = await lockParked(tx, requestId)
        const resolutions = resolutionsOf(request, facts)
        if (!resolutions.includes(resolution)) {
          const isSwept = resolution === 'recover' && facts.sweepsToFillWallet
          throw new ResolutionNotPossibleError(resolutions, isSwept ? sweptAdvice : undefined)
        }
        if (resolution === 'recover') await giveUp(tx, request)
        else if (resolution === 'unpaid') await endUnpaid(tx, request, auditNote)
        else if (facts.isBlocked) await releaseRequest(tx, request, { resolution, stage: retryStage(facts) })
        else await giveDepositBack(tx, requestId)
        const details = { parkedReason, resolution }
        await record(tx, { requestId, action: 'requests.resolve', auditNote, details })
      }),
  }
}

const foundMax = 10

/** Every branch of the union reads by an index. */
async function findRequests(
  database: Pick<SqlDatabase, 'query'>,
  identifier: string,
): Promise<readonly FoundRequest[]> {
  const id = /^0x[0-9a-f]{64}$/i.test(identifier) ? Buffer.from(identifier.slice(2), 'hex') : null
  const rows = await database.query<FoundRow>(
    `select distinct on (o.created_at, o.request_id) o.request_id, found.by, o.status, o.origin_chain_id,
       o.destination_chain_id, o.created_at
     from (
       select request_id, 'request' as by from orders where request_id = $2
       union all select request_id, 'order' from orders where order_id = $2
       union all (select request_id, 'transaction' from request_transaction
         where lower(tx_hash) = lower($1) and (tx_hash = $1 or tx_hash like '0x%') limit ${foundMax})
     ) found join orders o on o.request_id = found.request_id
     order by o.created_at desc, o.request_id limit ${foundMax}`,
    [identifier, id],
  )
  if (rows.length === 0) throw new UnknownRequestError()
  return rows.map((row) => ({
    requestId: bytesToHex(row.request_id),
    by: row.by,
    status: row.status,
    originChainId: Number(row.origin_chain_id),
    destinationChainId: Number(row.destination_chain_id),
    createdAt: row.created_at,
  }))
}

type FoundRow = {
  readonly request_id: Buffer
  readonly by: FoundRequest['by']
  readonly status: string
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly created_at: Date
}

/** Facts by which it is decided what an operator may do with the request. */
async function factsOf(
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
    isBlocked: parkedReason === blockedWallet,
    isRecorded: parkedReason === 'FILL_RECORDED',
    mayRecover: mayRecover(decision),
    sweepsToFillWallet: decision.sweepsToFillWallet,
  }
}

/** Locks a request that waits for an operator. @throws UnknownRequestError, OrderRecoveredError, RequestNotParkedError */
async function lockParked(tx: SqlTx, requestId: Hex) {
  const request = await lockSettledRequest(tx, requestId)
  if (request === undefined) throw new UnknownRequestError()
  if (request.isRecovered) throw new OrderRecoveredError()
  const standing = (await readStandingOf(tx, [requestId])).get(requestId)
  if (standing?.isOperators !== true) throw new RequestNotParkedError(request.settlement?.stage ?? 'none')
  const parkedReason = standing.reason
  return { request, parkedReason, facts: await factsOf(tx, request, parkedReason) }
}

/** Schedules another look at all that a denied account stopped: work, deposits, and money at deposit addresses. */
async function recheckStopped(tx: SqlTx, requestId: Hex): Promise<void> {
  await offerWithheld(tx, requestId)
  await takeHeldAgain(tx, requestId)
  await takeLeftAgain(tx, requestId)
}

/** Exempts a request from the deny list. For a refund, a fill that was asked for counts as given up. */
async function releaseRequest(
  tx: SqlTx,
  { requestId, settlement }: SettledRequest,
  { resolution, stage }: { readonly resolution: Release; readonly stage: SettlementStage },
): Promise<void> {
  await insertRelease(tx, requestId, resolution)
  await recheckStopped(tx, requestId)
  if (settlement?.stage !== 'parked') return
  if (resolution === 'refund') await giveDepositBack(tx, requestId)
  else await setStage(tx, requestId, { stage })
}

/** Offers failed refunds again with all of their attempts: of the request's own deposit and of any other. */
async function offerRefundsAgain(tx: SqlTx, requestId: Hex): Promise<void> {
  for (const { id } of await lockFailedRefunds(tx, requestId))
    await updateWork(tx, id, { state: 'open', txHash: null, attempts: 0, delayMs: 0 })
}

type Parked = Pick<SettledRequest, 'settlement'>

/** Stage after a retry. A request that is not parked itself, but has leftovers such as a failed refund, keeps its stage. */
const stageOnceRetried = ({ settlement }: Parked, facts: ParkedFacts) =>
  settlement?.stage === 'parked' ? retryStage(facts) : ('looked at' as const)

/** What the operator may choose. If only the refund of another deposit is stuck, the one choice is to recover that. */
function resolutionsOf(
  { settlement, isRecovered }: SettledRequest,
  facts: ParkedFacts,
): readonly Resolution[] {
  if (isRecovered) return []
  const resolutions = possibleResolutions(facts)
  const isParked = settlement?.stage === 'parked' || facts.isBlocked
  return isParked ? resolutions : resolutions.filter((resolution) => resolution === 'recover')
}

/**
 * Ends a filled request without a debit: the hold goes back to its sponsor.
 * @throws ResolutionNotPossibleError if the hold was posted
 */
async function endUnpaid(
  tx: SqlTx,
  { requestId, hold, status }: SettledRequest,
  auditNote: AuditNote,
): Promise<void> {
  if (hold.state === 'posted') throw new ResolutionNotPossibleError([])
  await createLedger().void(tx, { requestId, reason: 'RESOLVED_UNPAID' })
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
async function giveUp(tx: SqlTx, request: SettledRequest): Promise<void> {
  const { requestId, hold, status } = request
  const facts = await readDecisionFacts(tx, request)
  await insertRecovery(tx, requestId)
  for (const id of recoveredDeposits(facts)) {
    const deposit = await readDeposit(tx, id)
    if (deposit !== undefined) await askForRecovery(tx, request, deposit, undefined)
  }
  if (status === 'success') return
  if (hold.state === 'reserved' || hold.state === 'pinned')
    await createLedger().void(tx, { requestId, reason: 'RESOLVED_RECOVER' })
  await setStatus(tx, announceStatus, {
    requestId,
    status: 'pending',
    refundFailReason: 'DEPOSIT_RECOVERABLE',
  })
}

/** Marks the fill as failed, whatever was sent for it, so that the usual rule refunds the deposit. */
async function giveDepositBack(tx: SqlTx, requestId: Hex): Promise<void> {
  const item = await lockWorkOf(tx, { kind: 'fill', requestId })
  if (item === undefined) throw new ResolutionNotPossibleError([])
  await updateWork(tx, item.id, { state: 'failed', txHash: null, reason: 'resolved by an operator' })
  await setStage(tx, requestId, { stage: 'filling' })
}

/** Adds a change of a request to the audit log. */
async function record(
  tx: SqlTx,
  change: {
    readonly requestId: Hex
    readonly action: string
    readonly auditNote: AuditNote
    readonly details: Readonly<Record<string, string>>
  },
): Promise<void> {
  const { actor, reason } = change.auditNote
  const details = { reason, ...change.details }
  await recordAction(tx, { actor, action: change.action, subject: change.requestId, details })
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

/** Why a swept deposit is not recovered on the hub. @source docs/specification/quotes.md Q-74 */
const sweptAdvice =
  'the fill wallet swept the payment, so the hub would give it to the solver. Use requests retry: the refund pays the account that refundTo named.'

/** A parked request cannot end so. */
class ResolutionNotPossibleError extends DomainError {
  readonly code = 'RESOLUTION_NOT_POSSIBLE'
  readonly kind = 'conflict'

  /** @param possible what is possible instead */
  constructor(possible: readonly string[], advice = 'see what explain says.') {
    super(`The request cannot be resolved so; ${advice}`, {
      data: { possible: possible.join(', ') || 'nothing' },
    })
  }
}
