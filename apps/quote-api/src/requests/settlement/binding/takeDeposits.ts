import { blockedWallet } from '@causeway/chains'
import { type MissingDepth, type SqlTx, type SqlWriteTx, UpstreamUnavailableError } from '@causeway/core'
import { isSameDeposit } from '../../../jobs/bookedDeposits.ts'
import type { Run } from '../../../jobs/runJobs.ts'
import type { QuotableChain } from '../../../pricing/registry.ts'
import { pinWaitMs } from '../../../pricing/timeEstimate.ts'
import { toBytes } from '../../orders/orderColumns.ts'
import { endStatuses, recordTransaction, setStatus } from '../../status/requestProgress.ts'
import { paidFor } from '../amounts/depositShare.ts'
import {
  blockGraceSeconds,
  isLate,
  type LateStep,
  lateStep,
  sweptGraceSeconds,
} from '../amounts/lateDeposit.ts'
import { type ChainEnd, depthRuleOf, openChainEnd, readMissingDepth, type SeenBlock } from '../chain/depth.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import {
  type DepositDecision,
  type DepositRecheck,
  depositDecision,
  recheckWhileShallow,
  recheckWhileWaiting,
} from '../deposits/depositDecision.ts'
import {
  listDueDeposits,
  lockDeposit,
  recheckDepositsAfter,
  type StoredDeposit,
  setDepositState,
  setSenders,
} from '../deposits/depositStore.ts'
import type { SeenDeposit } from '../deposits/pinDecision.ts'
import { askForRecovery, readRecovery } from '../recovery/recoveryStore.ts'
import { startRefund } from '../refunds/startRefund.ts'
import {
  depositTermsOf,
  lockSettledRequest,
  orderValueMicroUsd,
  readSettledRequest,
  refundTermsOf,
  type SettledRequest,
} from '../settledRequest.ts'
import { nowSeconds, type SettlementContext } from '../settlementContext.ts'
import { bindDeposit, withdrawFill } from './bindDeposit.ts'

/** The chain as the present pass sees it. */
type PassView = {
  /** Height of the newest block. */
  readonly head: bigint
  /** Present block hashes at the heights of the due deposits. */
  readonly canonical: ReadonlyMap<bigint, string>
  readonly run: Run
}

type OpenPassView = PassView & { readonly end: ChainEnd }

const depositsPerPass = 500

/**
 * Decides on every deposit of a chain that is due: binds its request to it, refunds, ignores or holds it, or schedules the
 * next look. Each has its own transaction, so that one that waits or fails does not stop the others. @throws AggregateError of what failed, after all were tried
 */
export async function takeDeposits(
  context: SettlementContext,
  chain: SettlementChain,
  view: PassView,
): Promise<void> {
  const openView = { ...view, end: openChainEnd(chain, view.run.signal) }
  const due = await listDueDeposits(context.database, chain.chain.chainId, depositsPerPass)
  const rechecks: (DepositRecheck & Pick<StoredDeposit, 'id'>)[] = []
  const failures: unknown[] = []
  for (const deposit of due) {
    if (view.run.signal.aborted) return
    const recheck = await decideDue(context, chain.chain, deposit, openView).catch((error: unknown) => {
      // Without the database no other deposit can be decided either.
      if (error instanceof UpstreamUnavailableError) throw error
      failures.push(error)
      return recheckWhileWaiting(deposit)
    })
    if (recheck !== undefined) rechecks.push({ id: deposit.id, ...recheck })
  }
  if (rechecks.length > 0) {
    await context.database.transaction(async (tx) => {
      await view.run.fence(tx)
      await recheckDepositsAfter(tx, rechecks)
    })
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} deposits could not be taken`)
}

/**
 * Decides on one deposit. First nothing is locked, because most deposits of a pass only wait for depth; then
 * `applyDecision` decides again under locks. @returns when to look again; undefined once it was decided
 */
async function decideDue(
  context: SettlementContext,
  chain: QuotableChain,
  deposit: StoredDeposit,
  view: OpenPassView,
): Promise<DepositRecheck | undefined> {
  const request = await readSettledRequest(context.database, deposit.requestId)
  if (request === undefined) return recheckWhileWaiting(deposit)
  const rule = depthRuleOf(chain, orderValueMicroUsd(request))
  const missing = await readMissingDepth(rule, blockOf(context, deposit, view), view.end)
  const seenDeposit = toSeenDeposit(deposit, view, missing === undefined)
  const { action } = decideDeposit(context, chain, seenDeposit, request)
  // A deep deposit waits only for the price of a refund in another currency.
  if (action === 'wait' && seenDeposit.isCanonical && seenDeposit.isDeep) return recheckWhileWaiting(deposit)
  if (action === 'wait') return recheckWhileShallow(missing ?? nothingMissing, chain.config)
  const screened = action === 'ignore' ? notScreened : await screen(context, chain, request, deposit, view)
  if (screened === undefined) return recheckWhileWaiting(deposit)
  const fits = action === 'bind' && screened.denied === undefined && request.released !== 'refund'
  const timeStep = fits ? await decideOnTime(context, chain, request, deposit) : undefined
  if (timeStep?.action === 'wait') return recheckWhileWaiting(deposit)
  // Every outcome but `ignore` is work for a solver, which accepts only signed orders.
  if (action !== 'ignore') await context.signatures.of(request)
  await context.database.transaction(async (tx) => {
    await view.run.fence(tx)
    await applyDecision(context, tx, { chain, deposit, seenDeposit, timeStep, screened })
  })
  return undefined
}

/** Missing depth of a deposit whose block is not on the chain: its next block may be deep enough at once. */
const nothingMissing: MissingDepth = { blocks: 0, seconds: 0, isFinalized: false }

/** The block of a deposit. Its first sight is stored, so that it survives a reorganization that brings the block back. */
function blockOf(
  { now }: Pick<SettlementContext, 'now'>,
  { blockNumber: number, blockTimeSeconds: seconds, seenAtSeconds }: StoredDeposit,
  { head }: PassView,
): SeenBlock {
  return { number, seconds, onTop: Number(head - number), seenSeconds: now() / 1_000 - seenAtSeconds }
}

/** Decides whether a fitting deposit is filled as quoted: always if it is in time, else by current prices. */
async function decideOnTime(
  context: SettlementContext,
  chain: QuotableChain,
  request: SettledRequest,
  deposit: StoredDeposit,
): Promise<LateStep> {
  const { toleranceBps, marketWaitSeconds, price } = context.lateDeposits
  const { blockTimeSeconds, minedAfterSeconds, seenAtSeconds } = deposit
  const { expiresAtSeconds, sweepAskedAtSeconds, settlement } = request
  const addresses = request.relayedBy === 'deposit_address' ? chain.quoting.depositAddresses : undefined
  const sweepGraceSeconds = sweptGraceSeconds({ expiresAtSeconds, sweepAskedAtSeconds, addresses })
  const graceSeconds = Math.max(blockGraceSeconds(chain.config), sweepGraceSeconds)
  const isInTime = !isLate({ blockTimeSeconds, minedAfterSeconds, expiresAtSeconds, graceSeconds })
  // After the fill, any fitting deposit belongs to the solver, however late.
  if (isInTime || settlement?.stage === 'filled') return { action: 'bind' }
  const deepAtSeconds = seenAtSeconds + Math.ceil(pinWaitMs(chain, orderValueMicroUsd(request)) / 1_000)
  return lateStep({
    promised: promisedFor(request, deposit),
    price: await price(request, deposit),
    toleranceBps,
    hadReward: request.quoted.reward !== undefined,
    nowSeconds: nowSeconds(context),
    waitsUntilSeconds: deepAtSeconds + marketWaitSeconds,
  })
}

/** The quoted output, less what the order does not pay for a deposit below the quoted input. */
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

/** Accounts that made a deposit, and the field of the request that names a denied account; undefined if none is. */
type Screened = { readonly senders: readonly string[]; readonly denied: string | undefined }

const notScreened: Screened = { senders: [], denied: undefined }

/** Compares a deposit's accounts with the deny list. @returns undefined while its senders cannot be read */
async function screen(
  { screening, chains }: SettlementContext,
  { chainId }: QuotableChain,
  request: SettledRequest,
  deposit: StoredDeposit,
  { run }: OpenPassView,
): Promise<Screened | undefined> {
  if (screening === undefined) return notScreened
  const senders = await chains
    .get(chainId)
    ?.senders(deposit.txHash, run.signal)
    .catch((error: unknown) => {
      if (error instanceof UpstreamUnavailableError) return undefined
      throw error
    })
  if (senders === undefined) return undefined
  const accounts = { ...request, appFees: request.quoted.appFees }
  return { senders, denied: screening.deniedIn(accounts, [deposit.depositor, ...senders]) }
}

/** A deposit with all that was read and decided about it without locks. */
type DepositIntake = {
  readonly chain: QuotableChain
  readonly deposit: StoredDeposit
  readonly seenDeposit: SeenDeposit
  /** Undefined where the request changed since it was read, so that nothing was decided. */
  readonly timeStep: LateStep | undefined
  readonly screened: Screened
}

/**
 * Locks request and deposit, decides again, and carries the decision out. A refund needs that no solver has begun the fill;
 * otherwise the deposit is bound, since the fill will be paid.
 */
async function applyDecision(
  context: SettlementContext,
  tx: SqlWriteTx,
  { chain, deposit, seenDeposit, timeStep, screened }: DepositIntake,
): Promise<void> {
  const request = await lockSettledRequest(tx, deposit.requestId)
  const stored = await lockDeposit(tx, deposit.id)
  if (request === undefined || stored?.state !== 'seen') return
  if (seenDeposit.isCanonical && (await isPaidAlready(tx, deposit))) return
  const decision = decideDeposit(context, chain, seenDeposit, request)
  const { requestId } = request
  if (decision.action === 'wait') return
  if (request.isRecovered) {
    // The solver has promised not to pay this order any more, so its depositor recovers the deposit from the hub.
    await listDeposit(tx, deposit)
    await askForRecovery(tx, request, deposit, (await readRecovery(tx, requestId))?.promise)
    return
  }
  if (screened.senders.length > 0) await setSenders(tx, deposit.id, screened.senders)
  if (screened.denied !== undefined && decision.action !== 'ignore') {
    await holdDeposit(context, tx, { request, deposit, isFitting: decision.action === 'bind' })
    return
  }
  switch (decision.action) {
    case 'ignore':
      await setDepositState(tx, deposit.id, 'ignored', decision.reason)
      context.observe({ event: 'deposit_ignored', requestId, reason: decision.reason })
      return
    case 'refund':
      await listDeposit(tx, deposit)
      if (
        decision.reason === 'PROTOCOL_DEADLINE_EXPIRED' &&
        !(await withdrawFill(tx, requestId, 'deadline'))
      ) {
        await bindDeposit(context, tx, { chain, request, deposit, seenDeposit })
        return
      }
      await startRefund(context, tx, { request, deposit, reason: decision.reason, amount: decision.amount })
      return
    case 'bind': {
      if (request.released === 'refund' && (await withdrawFill(tx, requestId, 'an operator gives it back'))) {
        await listDeposit(tx, deposit)
        await startRefund(context, tx, { request, deposit, reason: blockedWallet, wasFitting: true })
        return
      }
      // The request has changed since it was read without a lock, so the next pass decides.
      if (timeStep === undefined || timeStep.action === 'wait') return
      await listDeposit(tx, deposit)
      if (timeStep.action === 'refund' && (await withdrawFill(tx, requestId, 'quote expired'))) {
        const { reason } = timeStep
        await startRefund(context, tx, { request, deposit, reason, wasFitting: true })
        return
      }
      const gasCharged = timeStep.action === 'bind' ? timeStep.gasCharged : undefined
      await bindDeposit(context, tx, { chain, request, deposit, seenDeposit, gasCharged })
    }
  }
}

/**
 * Recognizes a deposit that returned to the chain, in any block, after it was filled or refunded. It takes the place of the
 * earlier row, so that it is not paid for twice. @returns false if nothing was paid for it
 * @source rule L-27
 */
async function isPaidAlready(tx: SqlTx, { id, requestId }: StoredDeposit): Promise<boolean> {
  const rows = await tx.query<{ state: 'refunded' | 'taken'; earlier: bigint }>(
    `select case when w.kind = 'refund' then 'refunded' else 'taken' end as state, t.id as earlier
     from deposit_seen d join deposit_seen t on t.request_id = d.request_id
       and (t.id = d.id or ${isSameDeposit} and t.state = 'orphaned')
     join work_item w on w.request_id = d.request_id and w.state = 'done'
     left join settlement s on s.request_id = d.request_id
     where d.id = $1 and (w.kind = 'refund' and w.subject = t.id::text
       or w.kind = 'fill' and s.deposit_id = t.id and s.stage in ('settled', 'parked'))`,
    [id],
  )
  const [paidDeposit] = rows
  if (paidDeposit === undefined) return false
  await setDepositState(tx, id, paidDeposit.state)
  await tx.query(
    `update settlement set deposit_id = $2, is_bound = is_bound or stage <> 'refunded', updated_at = clock_timestamp()
     where request_id = $1 and deposit_id = $3`,
    [toBytes(requestId), id, paidDeposit.earlier],
  )
  return true
}

/**
 * Holds the deposit of a denied account for an operator. The request is not bound to it, because a denied stranger must not
 * block an order whose own deposit may still come.
 */
async function holdDeposit(
  context: SettlementContext,
  tx: SqlTx,
  {
    request: { requestId, settlement },
    deposit,
    isFitting,
  }: { readonly request: SettledRequest; readonly deposit: StoredDeposit; readonly isFitting: boolean },
): Promise<void> {
  await setDepositState(tx, deposit.id, 'held', blockedWallet)
  if (isFitting && settlement === undefined) {
    await listDeposit(tx, deposit)
    await setStatus(tx, context.announce, { requestId, status: 'pending' })
  }
  context.observe({ event: 'parked', requestId, reason: blockedWallet })
}

/** Shows the deposit's transaction with its request. */
function listDeposit(tx: SqlTx, { requestId, chainId, txHash, blockNumber }: StoredDeposit): Promise<void> {
  return recordTransaction(tx, { requestId, role: 'deposit', chainId, txHash, blockNumber })
}

function decideDeposit(
  context: SettlementContext,
  chain: QuotableChain,
  seenDeposit: SeenDeposit,
  request: SettledRequest,
): DepositDecision {
  const { settlement } = request
  return depositDecision({
    deposit: seenDeposit,
    terms: depositTermsOf(request, chain),
    refund: refundTermsOf(request),
    request: {
      isOver: isOver(request),
      isBound: settlement?.isBound === true,
      isFilled: settlement?.stage === 'filled',
    },
    otherRefund: context.otherRefund(chain, seenDeposit.currency, request.relayedBy),
    nowSeconds: nowSeconds(context),
  })
}

function isOver({ settlement, status }: SettledRequest): boolean {
  if (settlement === undefined) return endStatuses.has(status)
  return settlement.stage === 'settled' || settlement.stage === 'refunded' || settlement.stage === 'parked'
}

function toSeenDeposit(deposit: StoredDeposit, { canonical }: PassView, isDeep: boolean): SeenDeposit {
  const { id, chainId, currency, amount, blockNumber, blockHash, isFinal } = deposit
  return {
    id: String(id),
    chainId,
    currency,
    amount,
    isDeep,
    isCanonical: isFinal || canonical.get(blockNumber) === blockHash,
  }
}
