import { bytesToHex, type Hex, type SqlDatabase, type SqlTx } from '@causeway/core'
import { recordAction } from '../../access/adminAction.ts'
import { type Resolution, retryStage } from '../../requests/settlement/parked/parkedRules.ts'
import { type RequestRecord, readRequestRecord } from '../../requests/settlement/parked/requestRecord.ts'
import { readSettledRequest } from '../../requests/settlement/settledRequest.ts'
import { type ListedStandstill, listStanding, readStandingOf } from '../../requests/status/readStanding.ts'
import { setStage } from '../../requests/status/requestProgress.ts'
import { UnknownRequestError } from '../../requests/status/requestStatus.ts'
import type { AuditNote } from './ledgerAdministration.ts'
import {
  endUnpaid,
  giveDepositBack,
  giveUp,
  lockParked,
  offerRefundsAgain,
  ResolutionNotPossibleError,
  readParkedFacts,
  recheckStopped,
  releaseRequest,
  resolutionsOf,
  stageOnceRetried,
} from './parkedRequest.ts'

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
  /** The kind of id that the identifier is. */
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
  parked(page: { limit: number }): Promise<readonly ListedStandstill[]>
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
    explain: (requestId) => explainRequest(database, requestId),
    retry: (requestId, auditNote) => database.transaction((tx) => retryRequest(tx, requestId, auditNote)),
    resolve: (requestId, resolution, auditNote) =>
      database.transaction((tx) => resolveRequest(tx, requestId, resolution, auditNote)),
  }
}

async function explainRequest(
  database: Pick<SqlDatabase, 'query'>,
  requestId: Hex,
): Promise<RequestExplanation> {
  const request = await readSettledRequest(database, requestId)
  if (request === undefined) throw new UnknownRequestError()
  const standing = (await readStandingOf(database, [requestId])).get(requestId)
  const facts = await readParkedFacts(database, request, standing?.reason)
  const { orderId, status, failReason, settlement } = request
  return {
    requestId,
    orderId,
    status,
    failReason,
    stage: settlement?.stage,
    parked: standing && {
      reason: standing.reason,
      meaning: standing.meaning,
      endsBy: standing.endsBy,
      ...(standing.needsOperator && { retryStage: stageOnceRetried(request, facts) }),
      resolutions: standing.needsOperator ? resolutionsOf(request, facts) : [],
    },
    ...(await readRequestRecord(database, requestId)),
  }
}

/** Sets all going that stands still about a request. One that is parked itself returns to a stage of jobs. */
async function retryRequest(tx: SqlTx, requestId: Hex, auditNote: AuditNote): Promise<string> {
  const { request, facts, parkedReason } = await lockParked(tx, requestId)
  if (facts.isBlocked) await recheckStopped(tx, requestId)
  await offerRefundsAgain(tx, requestId)
  const stage = stageOnceRetried(request, facts)
  if (stage !== 'looked at') await setStage(tx, requestId, { stage })
  const details = { parkedReason, stage }
  await recordChange(tx, { requestId, action: 'requests.retry', auditNote, details })
  return stage
}

/**
 * Ends a parked request as the operator decides. `recover` gives the order up for good. `unpaid` settles a
 * filled one without a debit. `release` exempts it from the deny list, and it goes on. `refund` gives the
 * fill up, so that the deposit is refunded; where the deny list stopped the request, that exempts it as well.
 */
async function resolveRequest(
  tx: SqlTx,
  requestId: Hex,
  resolution: Resolution,
  auditNote: AuditNote,
): Promise<void> {
  const { request, facts, parkedReason } = await lockParked(tx, requestId)
  const resolutions = resolutionsOf(request, facts)
  if (!resolutions.includes(resolution)) {
    const isSwept = resolution === 'recover' && facts.sweepsToFillWallet
    throw new ResolutionNotPossibleError(resolutions, isSwept ? sweptAdvice : undefined)
  }
  if (resolution === 'recover') await giveUp(tx, request)
  else if (resolution === 'unpaid') await endUnpaid(tx, request, auditNote)
  // `refund` and `release` remain; the latter is possible only for a request that the deny list stopped.
  else if (facts.isBlocked) await releaseRequest(tx, request, { resolution, stage: retryStage(facts) })
  else await giveDepositBack(tx, requestId)
  const details = { parkedReason, resolution }
  await recordChange(tx, { requestId, action: 'requests.resolve', auditNote, details })
}

/** Tells the operator why a swept deposit is not recovered on the hub. @source rule Q-74 */
const sweptAdvice =
  'the fill wallet swept the payment, so the hub would give it to the solver. Use requests retry: the refund pays the account that refundTo named.'

/** Adds a change of a request to the audit log. */
async function recordChange(
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

const foundMax = 10

/**
 * Reads each kind of identifier in a branch of its own, so that every branch uses an index. The hash of a
 * transaction matches in any case if it is stored with 0x; other spellings, such as Base58, match exactly. A
 * request that several branches find is listed once.
 */
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
