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

type Look = {
  readonly head: bigint
  /** Hashes that stand at the heights of deposits now. */
  readonly canonical: ReadonlyMap<bigint, string>
  readonly run: Run
}

type Sight = Look & { readonly end: ChainEnd }

const depositsPerPass = 500
/**
 * Acts on every deposit of a chain that is due and deep enough, each in a transaction of its own. One that waits
 * or fails keeps no other one waiting. @throws AggregateError of what failed, after all were tried
 */
export async function takeDeposits(
  context: SettlementContext,
  chain: SettlementChain,
  look: Look,
): Promise<void> {
  const sight = { ...look, end: openChainEnd(chain, look.run.signal) }
  const due = await listDueDeposits(context.database, chain.chain.chainId, depositsPerPass)
  const later: (DepositRecheck & Pick<StoredDeposit, 'id'>)[] = []
  const failures: unknown[] = []
  for (const deposit of due) {
    if (sight.run.signal.aborted) return
    const recheck = await takeDue(context, chain.chain, deposit, sight).catch((error: unknown) => {
      // The database is away: it is for all of them.
      if (error instanceof UpstreamUnavailableError) throw error
      failures.push(error)
      return recheckWhileWaiting(deposit)
    })
    if (recheck !== undefined) later.push({ id: deposit.id, ...recheck })
  }
  if (later.length > 0) {
    await context.database.transaction(async (tx) => {
      await sight.run.fence(tx)
      await recheckDepositsAfter(tx, later)
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
): Promise<DepositRecheck | undefined> {
  const request = await readSettledRequest(context.database, deposit.requestId)
  if (request === undefined) return recheckWhileWaiting(deposit)
  // Most deposits of a pass wait for depth: those need no lock.
  const rule = depthRuleOf(chain, orderValueMicroUsd(request))
  const missing = await readMissingDepth(rule, blockOf(context, deposit, sight), sight.end)
  const seenDeposit = toSeenDeposit(deposit, sight, missing === undefined)
  const { action } = decideDeposit(context, chain, seenDeposit, request)
  // Deep enough, but in a currency whose refund nobody can price now.
  if (action === 'wait' && seenDeposit.isCanonical && seenDeposit.isDeep) return recheckWhileWaiting(deposit)
  if (action === 'wait') return recheckWhileShallow(missing ?? nothingMissing, chain.config)
  const screened = action === 'ignore' ? notScreened : await screen(context, chain, request, deposit, sight)
  if (screened === undefined) return recheckWhileWaiting(deposit)
  const isJudged = action === 'bind' && screened.denied === undefined && request.released !== 'refund'
  const binding = isJudged ? await judge(context, chain, request, deposit) : undefined
  if (binding?.action === 'wait') return recheckWhileWaiting(deposit)
  // Every outcome is work for a solver, who takes only signed orders.
  if (action !== 'ignore') await context.signatures.of(request)
  await context.database.transaction(async (tx) => {
    await sight.run.fence(tx)
    await takeDeposit(context, tx, { chain, deposit, seen: seenDeposit, binding, screened })
  })
  return undefined
}

/** A deposit whose block is not there lacks no depth: its next one may at once be as deep as any. */
const nothingMissing: MissingDepth = { blocks: 0, seconds: 0, isFinalized: false }

/** A row of a block stays when its block comes back, so that a block is first seen once. */
function blockOf(
  { now }: Pick<SettlementContext, 'now'>,
  { blockNumber: number, blockTimeSeconds: seconds, seenAtSeconds }: StoredDeposit,
  { head }: Look,
): SeenBlock {
  return { number, seconds, onTop: Number(head - number), seenSeconds: now() / 1_000 - seenAtSeconds }
}

/** Decision whether a matching deposit is filled as quoted: in time always, later at current prices. */
async function judge(
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
  // Once filled, nothing is decided any more: what fits is the solver's.
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

/** Accounts that brought a deposit, and the request member that names a denied one. */
type Screened = { readonly senders: readonly string[]; readonly denied: string | undefined }

const notScreened: Screened = { senders: [], denied: undefined }

/** @returns undefined while nobody can tell who brought it */
async function screen(
  { screening, chains }: SettlementContext,
  { chainId }: QuotableChain,
  request: SettledRequest,
  deposit: StoredDeposit,
  { run }: Sight,
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

type DepositIntake = {
  readonly chain: QuotableChain
  readonly deposit: StoredDeposit
  readonly seen: SeenDeposit
  readonly binding: LateStep | undefined
  readonly screened: Screened
}

async function takeDeposit(
  context: SettlementContext,
  tx: SqlWriteTx,
  { chain, deposit, seen, binding, screened }: DepositIntake,
): Promise<void> {
  const request = await lockSettledRequest(tx, deposit.requestId)
  const stored = await lockDeposit(tx, deposit.id)
  if (request === undefined || stored?.state !== 'seen') return
  if (seen.isCanonical && (await isPaidAlready(tx, deposit))) return
  const decision = decideDeposit(context, chain, seen, request)
  const { requestId } = request
  if (decision.action === 'wait') return
  if (request.isRecovered) {
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
        await bindDeposit(context, tx, { chain, request, deposit, seen })
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
      // Nothing was judged: another process changed the request just now. The next pass does.
      if (binding === undefined || binding.action === 'wait') return
      await listDeposit(tx, deposit)
      if (binding.action === 'refund' && (await withdrawFill(tx, requestId, 'quote expired'))) {
        const { reason } = binding
        await startRefund(context, tx, { request, deposit, reason, wasFitting: true })
        return
      }
      const gasCharged = binding.action === 'bind' ? binding.gasCharged : undefined
      await bindDeposit(context, tx, { chain, request, deposit, seen, gasCharged })
    }
  }
}

/**
 * A deposit that was paid for and comes back, in whatever block, is the one that was paid for, and no second one.
 * @returns false where nothing was paid for it
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
  const [paid] = rows
  if (paid === undefined) return false
  await setDepositState(tx, id, paid.state)
  await tx.query(
    `update settlement set deposit_id = $2, is_bound = is_bound or stage <> 'refunded', updated_at = clock_timestamp()
     where request_id = $1 and deposit_id = $3`,
    [toBytes(requestId), id, paid.earlier],
  )
  return true
}

/**
 * Leaves a deposit to an operator, who is told by its request. It binds nothing: a stranger who is denied must not stop
 * the order of somebody else, whose own deposit may still come.
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

function toSeenDeposit(deposit: StoredDeposit, { canonical }: Look, isDeep: boolean): SeenDeposit {
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
