import type { Hex, PaymentFacts, SqlDatabase, SqlTx } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import { endAppFeeClaim } from '@causeway/ledger'
import { TransactionNotFinalError } from '@causeway/rpc'
import type { Run } from '../../jobs/runJobs.ts'
import { fillExtraData } from '../../requests/draft/buildOrder.ts'
import { paymentProblem } from '../../requests/settlement/payments/fillCheck.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../../requests/settlement/settlementContext.ts'
import { followWork, versionOfWork } from '../../requests/work/followWork.ts'
import type { ReadApart } from '../../requests/work/readApart.ts'
import { type ClaimPayload, claimPayloadSchema, type WorkItem } from '../../requests/work/workItem.ts'
import { listPendingClaimWork, lockWork, updateWork } from '../../requests/work/workStore.ts'
import { type ClaimFailure, claimStep, type PayoutReading } from './claimStep.ts'

export type ClaimEvent =
  | { readonly event: 'claim_paid'; readonly claimId: Hex; readonly transactionHash: string }
  | { readonly event: 'claim_failed'; readonly claimId: Hex; readonly reason: ClaimFailure }
  | { readonly event: 'claim_stuck'; readonly claimId: Hex; readonly transactionHash: string }

/** Dependencies of the job that follows claims. */
export type ClaimContext = Pick<SettlementContext, 'chains' | 'now'> & {
  readonly database: SqlDatabase
  readonly observe: (event: ClaimEvent) => void
}

/** Claims that are followed at once. */
const atOnce = 8
/** Pause before the next look at a claim that only an operator can end. */
const stuckPauseMs = 300_000
const actor = 'app-fee-claims'

/** Run of the job: ends every claim whose payout is final, or can never happen. */
export async function followClaims(context: ClaimContext, run: Run): Promise<void> {
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listPendingClaimWork(context.database, limit),
    read: async (item, signal, readApart) => ({
      rowVersion: versionOfWork(item),
      facts: await readPayout(context, item, { signal, readApart }),
    }),
    lock: (tx, { id }) => lockWork(tx, id),
    versionOf: versionOfWork,
    step: (tx, item, payout) => takeStep(context, tx, { item, payout }),
  })
}

/** A claim's work, and its payout as the chain shows it. */
type Payout = {
  readonly payload: ClaimPayload
  readonly reading: PayoutReading
  readonly facts?: PaymentFacts
}

/** Reads the payout that the solver reported. `readApart` puts a transaction aside that cannot be read. */
async function readPayout(
  context: ClaimContext,
  { payload: stored, txHash: transactionId }: WorkItem,
  { signal, readApart }: { readonly signal: AbortSignal; readonly readApart: ReadApart },
): Promise<Payout> {
  const payload = claimPayloadSchema.parse(stored)
  if (transactionId === undefined) return { payload, reading: 'none' }
  const chain = chainOf(context, payload.chainId)
  const extraData = fillExtraData(payload.fillContract)
  const question = { transactionId, orderId: payload.claimId, extraData, payments: [payload] }
  try {
    const transactionRef = { chainId: payload.chainId, transactionId }
    const facts = await readApart(transactionRef, () => chain.finalPayment(question, signal))
    if (facts === undefined) return { payload, reading: 'absent' }
    const payment = { ...payload, recordId: payload.claimId }
    const isPaid = paymentProblem(payment, facts, chain.chain.codec) === undefined
    return { payload, reading: isPaid ? 'paid' : 'pays_less', facts }
  } catch (error) {
    if (error instanceof TransactionNotFinalError) return { payload, reading: 'not_final' }
    throw error
  }
}

/**
 * Carries out the step that `claimStep` decides for the locked item and the reading of its payout. `wait` and
 * `call_operator` leave claim and item open, for the next look. `pay` ends both. `fail` ends both too, so
 * that the amount can be claimed again.
 */
async function takeStep(
  context: ClaimContext,
  tx: SqlTx,
  { item, payout }: { readonly item: WorkItem; readonly payout: Payout },
): Promise<void> {
  const { payload, reading, facts } = payout
  const { claimId, deadline: deadlineSeconds } = payload
  const step = claimStep({ work: item.state, reading, nowSeconds: nowSeconds(context), deadlineSeconds })
  switch (step.action) {
    case 'wait': {
      // Two looks per block.
      const delayMs = paceMs(chainOf(context, payload.chainId).chain.config) / 2
      // A block has the payout, though not a final one: that counts as progress.
      const isIncluded = reading === 'not_final'
      await updateWork(tx, item.id, { state: item.state, isIncluded, delayMs })
      return
    }
    case 'pay': {
      if (item.txHash === undefined || facts === undefined) throw new Error('a payout has its transaction')
      const { blockNumber, blockHash } = facts.evidence
      const end = { status: 'paid', transactionHash: item.txHash } as const
      const evidence = { blockNumber: blockNumber?.toString(), blockHash }
      await endAppFeeClaim(tx, { claimId, end, actor, evidence })
      await updateWork(tx, item.id, { state: 'done' })
      context.observe({ event: 'claim_paid', claimId, transactionHash: item.txHash })
      return
    }
    case 'fail': {
      const evidence = { solverSaid: item.reason ?? null, transactionHash: item.txHash ?? null }
      const end = { status: 'failed', reason: step.reason } as const
      await endAppFeeClaim(tx, { claimId, end, actor, evidence })
      // A claim fails with work that is open or has failed, and failed work has ended already.
      if (item.state === 'open') await updateWork(tx, item.id, { state: 'cancelled', reason: step.reason })
      context.observe({ event: 'claim_failed', claimId, reason: step.reason })
      return
    }
    case 'call_operator': {
      if (item.txHash === undefined) throw new Error('a payout has its transaction')
      await updateWork(tx, item.id, { state: item.state, reason: 'does not pay', delayMs: stuckPauseMs })
      context.observe({ event: 'claim_stuck', claimId, transactionHash: item.txHash })
    }
  }
}
