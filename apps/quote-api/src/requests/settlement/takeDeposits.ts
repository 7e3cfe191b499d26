import { type Hex, type SqlTx, type SqlWriteTx, UpstreamUnavailableError } from '@causeway/core'
import type { Run } from '../../jobs/runJobs.ts'
import { findCurrency, type QuotableChain } from '../../pricing/registry.ts'
import { pinConfirmations } from '../../pricing/timeEstimate.ts'
import { endStatuses, openSettlement, recordTransaction, showStatus } from '../status/requestProgress.ts'
import { addWork, lockWorkOf, updateWork } from '../work/workStore.ts'
import {
  type DepositFate,
  depositFate,
  type LaterLook,
  lookWhileShallow,
  lookWhileWaiting,
} from './depositFate.ts'
import {
  listDueDeposits,
  lockDeposit,
  lookAtDepositsLater,
  type StoredDeposit,
  setDepositState,
} from './depositStore.ts'
import { fillPayload, paidFor, untracedRecipients } from './fillWork.ts'
import { blockGraceSeconds, isLate, type LateStep, lateStep } from './lateDeposit.ts'
import { type DepositTerms, lateReservation, pinDecision, type SeenDeposit } from './pinDecision.ts'
import {
  lockSettledRequest,
  orderValueMicroUsd,
  readSettledRequest,
  refundTermsOf,
  type SettledRequest,
} from './settledRequest.ts'
import type { SettlementChain } from './settlementChain.ts'
import { chainOf, finalitySecondsOf, nowSeconds, type SettlementContext } from './settlementContext.ts'
import { startRefund } from './startRefund.ts'

type Sight = {
  readonly head: bigint
  /** Hashes that stand at the heights of deposits now. */
  readonly canonical: ReadonlyMap<bigint, Hex>
  readonly run: Run
}

const depositsPerPass = 500
/** A fill is not offered before its recipients were looked at, which `followFills` does. */
const unlookedMs = 3_600_000

/**
 * Acts on every deposit of a chain that is due and deep enough, each in a transaction of its own. One that waits
 * or fails keeps no other one waiting. @throws AggregateError of what failed, after all were tried
 */
export async function takeDeposits(
  context: SettlementContext,
  chain: SettlementChain,
  sight: Sight,
): Promise<void> {
  const due = await listDueDeposits(context.database, chain.chain.chainId, depositsPerPass)
  const later: (LaterLook & Pick<StoredDeposit, 'id'>)[] = []
  const failures: unknown[] = []
  for (const deposit of due) {
    if (sight.run.signal.aborted) return
    const look = await takeDue(context, chain.chain, deposit, sight).catch((error: unknown) => {
      // The database is away: it is for all of them.
      if (error instanceof UpstreamUnavailableError) throw error
      failures.push(error)
      return lookWhileWaiting(deposit)
    })
    if (look !== undefined) later.push({ id: deposit.id, ...look })
  }
  if (later.length > 0) {
    await context.database.transaction(async (tx) => {
      await sight.run.fence(tx)
      await lookAtDepositsLater(tx, later)
    })
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} deposits could not be taken`)
}

/** @returns when to look again, where nothing was decided */
async function takeDue(
  context: SettlementContext,
  chain: QuotableChain,
  deposit: StoredDeposit,
  sight: Sight,
): Promise<LaterLook | undefined> {
  const seen = seenAs(deposit, sight)
  // Most deposits of a pass wait for depth: those need no lock.
  const request = await readSettledRequest(context.database, deposit.requestId)
  if (request === undefined) return lookWhileWaiting(deposit)
  const { action } = fateOf(context, chain, seen, request)
  if (action === 'wait') return lookWhileShallow(seen, depositTermsOf(request, chain), chain.config)
  const binding = action === 'bind' ? await judge(context, chain, request, deposit) : undefined
  if (binding?.action === 'wait') return lookWhileWaiting(deposit)
  await context.database.transaction(async (tx) => {
    await sight.run.fence(tx)
    await takeDeposit(context, tx, { chain, deposit, seen, binding })
  })
  return undefined
}

/** Whether a fitting deposit is filled as quoted: in time always, later by the prices of now. */
async function judge(
  context: SettlementContext,
  chain: QuotableChain,
  request: SettledRequest,
  deposit: StoredDeposit,
): Promise<LateStep> {
  const { toleranceBps, marketWaitSeconds, price } = context.lateDeposits
  const { blockTimeMs } = chain.config
  const { blockTimeSeconds, minedAfterSeconds, seenAtSeconds } = deposit
  const { expiresAtSeconds, settlement } = request
  const graceSeconds = blockGraceSeconds(chain.config)
  const isInTime = !isLate({ blockTimeSeconds, minedAfterSeconds, expiresAtSeconds, graceSeconds })
  // Once filled, nothing is decided any more: what fits is the solver's.
  if (isInTime || settlement?.stage === 'filled') return { action: 'bind' }
  const { pinConfirmations: blocks } = depositTermsOf(request, chain)
  const deepAtSeconds = seenAtSeconds + Math.ceil((blocks * blockTimeMs) / 1_000)
  return lateStep({
    promised: promisedFor(request, deposit),
    price: await price(request, deposit),
    toleranceBps,
    nowSeconds: nowSeconds(context),
    waitsUntilSeconds: deepAtSeconds + marketWaitSeconds,
  })
}

/** The quoted output, less what is not paid for a deposit that slipped. */
function promisedFor(
  { order, quoted, feeBasis: quotedInput }: SettledRequest,
  { amount }: StoredDeposit,
): bigint {
  return order.output.payments.reduce(
    (promised, payment) =>
      promised - BigInt(payment.expectedAmount) + paidFor(payment, order, { amount, quotedInput }),
    quoted.amountOut,
  )
}

async function takeDeposit(
  context: SettlementContext,
  tx: SqlWriteTx,
  {
    chain,
    deposit,
    seen,
    binding,
  }: { chain: QuotableChain; deposit: StoredDeposit; seen: SeenDeposit; binding: LateStep | undefined },
): Promise<void> {
  const request = await lockSettledRequest(tx, deposit.requestId)
  const stored = await lockDeposit(tx, deposit.id)
  if (request === undefined || stored?.state !== 'seen') return
  const fate = fateOf(context, chain, seen, request)
  const { requestId } = request
  switch (fate.action) {
    case 'wait':
      return
    case 'ignore':
      await setDepositState(tx, deposit.id, 'ignored', fate.reason)
      context.observe({ event: 'deposit_ignored', requestId, reason: fate.reason })
      return
    case 'refund':
      await listDeposit(tx, deposit)
      if (fate.reason === 'PROTOCOL_DEADLINE_EXPIRED' && !(await withdrawFill(tx, requestId, 'deadline'))) {
        await bind(context, tx, { chain, request, deposit, seen })
        return
      }
      await startRefund(context, tx, { request, deposit, reason: fate.reason, amount: fate.amount })
      return
    case 'bind':
      // Nothing was judged: another process changed the request just now. The next pass does.
      if (binding === undefined || binding.action === 'wait') return
      await listDeposit(tx, deposit)
      if (binding.action === 'refund' && (await withdrawFill(tx, requestId, 'quote expired'))) {
        const { reason } = binding
        await startRefund(context, tx, { request, deposit, reason, wasFitting: true })
        return
      }
      await bind(context, tx, { chain, request, deposit, seen })
  }
}

/**
 * Of a deposit that came back in a later block: the fill that was asked for is not begun any more.
 * @returns false where the solver has begun it: then the deposit is its, until its transaction is refuted
 */
async function withdrawFill(tx: SqlTx, requestId: Hex, reason: string): Promise<boolean> {
  const fill = await lockWorkOf(tx, { kind: 'fill', requestId })
  if (fill?.state === 'reported' || fill?.state === 'done') return false
  if (fill?.state === 'open') await updateWork(tx, fill.id, { state: 'cancelled', reason })
  return true
}

function listDeposit(tx: SqlTx, { requestId, chainId, txHash, blockNumber }: StoredDeposit): Promise<void> {
  return recordTransaction(tx, { requestId, role: 'deposit', chainId, txHash, blockNumber })
}

type Binding = {
  readonly chain: QuotableChain
  readonly request: SettledRequest
  readonly deposit: StoredDeposit
  readonly seen: SeenDeposit
}

/**
 * Ties hold and request to the deposit and asks for the fill, or refunds what no sponsor pays for any more. What
 * the solver has begun by then is not the sponsor's to stop: an operator looks where it cannot be debited.
 */
async function bind(context: SettlementContext, tx: SqlWriteTx, binding: Binding): Promise<void> {
  const { request, deposit } = binding
  const { requestId } = request
  if (!(await bindHold(context, tx, binding)) && (await withdrawFill(tx, requestId, 'no sponsor'))) {
    const reason = 'SPONSOR_BALANCE_TOO_LOW'
    await startRefund(context, tx, { request, deposit, reason, wasFitting: true })
    return
  }
  await setDepositState(tx, deposit.id, 'taken')
  context.observe({ event: 'deposit_bound', requestId })
  const stage = request.settlement?.stage === 'filled' ? 'filled' : 'filling'
  await openSettlement(tx, { requestId, depositId: deposit.id, stage, isBound: true })
  if (stage === 'filled') return
  await showStatus(tx, context.announce, { requestId, status: 'pending' })
  await askForFill(context, tx, request, deposit)
}

/** @returns false when the sponsor cannot pay any more */
async function bindHold(
  { ledger, ...context }: SettlementContext,
  tx: SqlWriteTx,
  { chain, request, seen }: Binding,
): Promise<boolean> {
  if (request.debitMicroUsd === 0n) return true
  const { requestId } = request
  const terms = depositTermsOf(request, chain)
  const decision = pinDecision({ deposit: seen, terms, hold: request.hold, nowSeconds: nowSeconds(context) })
  if (decision.action !== 'pin' && decision.action !== 'reserve_again') return false
  const until = new Date(decision.untilSeconds * 1_000)
  if (decision.action === 'pin') {
    const { status } = await ledger.pin(tx, { requestId, until })
    if (status === 'resolved') return true
  }
  const late = lateReservation(await ledger.reserveAgain(tx, { requestId, until }))
  return late.action === 'pin'
}

async function askForFill(
  context: SettlementContext,
  tx: SqlTx,
  request: SettledRequest,
  { amount }: StoredDeposit,
): Promise<void> {
  const { requestId, order, orderId, destinationChainId, feeBasis: quotedInput } = request
  const destination = chainOf(context, destinationChainId).chain
  const payload = fillPayload(order, { amount, quotedInput }, { orderId, destination })
  const isUnlooked = untracedRecipients(order, destination).length > 0
  const isNew = await addWork(tx, { kind: 'fill', requestId, chainId: destinationChainId, payload })
  if (isNew && !isUnlooked) return
  // The deposit came back in another block, or one was given back that was too late.
  const item = await lockWorkOf(tx, { kind: 'fill', requestId })
  const isUnbegun = item?.state === 'open' || (item?.state === 'cancelled' && item.txHash === undefined)
  if (!isUnbegun) return
  const delayMs = isUnlooked && item.attempts === 0 ? unlookedMs : 0
  await updateWork(tx, item.id, { state: 'open', delayMs, payload })
}

function fateOf(
  context: SettlementContext,
  chain: QuotableChain,
  seen: SeenDeposit,
  request: SettledRequest,
): DepositFate {
  const { settlement } = request
  return depositFate({
    deposit: seen,
    terms: depositTermsOf(request, chain),
    refund: refundTermsOf(request),
    request: {
      isOver: isOver(request),
      isBound: settlement?.isBound === true,
      isFilled: settlement?.stage === 'filled',
    },
    isListed: findCurrency(chain, seen.currency) !== undefined,
    nowSeconds: nowSeconds(context),
  })
}

function isOver({ settlement, status }: SettledRequest): boolean {
  if (settlement === undefined) return endStatuses.has(status)
  return settlement.stage === 'settled' || settlement.stage === 'refunded' || settlement.stage === 'parked'
}

/** What the order asks of its deposit. */
export function depositTermsOf(request: SettledRequest, origin: QuotableChain): DepositTerms {
  const payment = request.order.inputs[0]?.payment
  if (payment === undefined) throw new Error('an order has one input')
  return {
    chainId: request.originChainId,
    currency: origin.codec.canonicalAddress(payment.currency),
    amountMin: BigInt(payment.amount),
    deadlineSeconds: request.deadlineSeconds,
    finalitySeconds: finalitySecondsOf(origin),
    pinConfirmations: pinConfirmations(origin, orderValueMicroUsd(request)),
  }
}

function seenAs(deposit: StoredDeposit, { head, canonical }: Sight): SeenDeposit {
  const { id, chainId, currency, amount, blockNumber, blockHash, isFinal } = deposit
  return {
    id: String(id),
    chainId,
    currency,
    amount,
    confirmations: Number(head - blockNumber) + 1,
    isCanonical: isFinal || canonical.get(blockNumber) === blockHash,
  }
}
