import type { OracleAnswer, OracleClient } from '@causeway/chains'
import {
  type FillMessage,
  fillMessageId,
  type Hex,
  type NetworkOf,
  onchainId,
  type SqlTx,
  weightedInputBpsDiff,
} from '@causeway/core'
import { accrueAppFees } from '@causeway/ledger'
import { TransactionNotFinalError } from '@causeway/rpc'
import type { Run } from '../../../jobs/runJobs.ts'
import { findCurrency } from '../../../pricing/registry.ts'
import { countContradictions, recheckAfter, setStage, setUnproven } from '../../status/requestProgress.ts'
import { pinGraceSeconds } from '../../timings.ts'
import { followWork, type Reading } from '../../work/followWork.ts'
import type { Reads } from '../../work/readApart.ts'
import { type Booked, bookedFor } from '../amounts/depositShare.ts'
import { finalitySecondsOf } from '../chain/depth.ts'
import { readDeposit, type StoredDeposit } from '../deposits/depositStore.ts'
import { listDueRequests } from '../dueRequests.ts'
import { parkRequest } from '../parked/parkRequest.ts'
import { fillProblem } from '../payments/fillCheck.ts'
import { signatureOf } from '../payments/fillWork.ts'
import { lockSettledRequest, readSettledRequest, type SettledRequest } from '../settledRequest.ts'
import { chainOf, nowSeconds, type SettlementContext } from '../settlementContext.ts'
import { type OwnReading, settleDecision } from './settleDecision.ts'

export type AttestationContext = SettlementContext & {
  readonly oracles: readonly OracleClient[]
  /** Number of oracles that must sign. */
  readonly threshold: number
  readonly networkOf: NetworkOf
  /** Runs the reading of one request within a span of its trace; absent: without traces. */
  readonly trace?: <T>(
    request: Pick<SettledRequest, 'requestId' | 'orderId'>,
    work: () => Promise<T>,
  ) => Promise<T>
}

const atOnce = 8
const retryFirstMs = 1_000
const retryMaxMs = 60_000

/**
 * Job that settles filled requests. Once the deposit is final, our own endpoints read the fill at a final
 * block (`readOwn`), and every oracle is asked to sign the message that we made of it (`readProof`).
 * `settleDecision` decides by both: only enough signatures beside our own `paid` let `bookSettlement` debit
 * the sponsor and accrue the app fees. A reading is dropped if the request has left the stage `filled`, or
 * has another deposit, by the time it is locked; its fill transaction does not change in this stage.
 */
export async function attestFills(context: AttestationContext, run: Run): Promise<void> {
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listDueRequests(context.database, 'filled', limit),
    read: (requestId, signal, readApart) => readFilled(context, requestId, { signal, readApart }),
    async lock(tx, requestId) {
      const request = await lockSettledRequest(tx, requestId)
      return request?.settlement?.stage === 'filled' ? request : undefined
    },
    versionOf: ({ settlement }) => [settlement?.depositId],
    step: (tx, request, proof) => settleByProof(context, tx, request, proof),
  })
}

/** Our own reading of a fill, and the answers of the oracles. */
type Proof = {
  /** Amount of the deposit, in smallest units. */
  readonly deposited: bigint
  readonly own: OwnReading
  /** Id of the message to sign; undefined before the oracles were asked. */
  readonly messageId: Hex | undefined
  /** One per oracle, in the order of `context.oracles`; empty before they were asked. */
  readonly answers: readonly OracleAnswer[]
}

async function readFilled(
  context: AttestationContext,
  requestId: Hex,
  reads: Reads,
): Promise<Reading<Proof> | undefined> {
  const request = await readSettledRequest(context.database, requestId)
  const depositId = request?.settlement?.depositId
  if (request === undefined || depositId === undefined) return undefined
  const deposit = await readDeposit(context.database, depositId)
  if (deposit === undefined) return undefined
  const { trace = (_request, work) => work() } = context
  return {
    rowVersion: [depositId],
    facts: await trace(request, () => readProof(context, request, deposit, reads)),
  }
}

/** Reads the fill, and asks the oracles for their signatures once deposit and fill are final. */
async function readProof(
  context: AttestationContext,
  request: SettledRequest,
  deposit: StoredDeposit,
  reads: Reads,
): Promise<Proof> {
  const { signal } = reads
  const own = deposit.isFinal ? await readOwn(context, request, reads) : 'not_yet'
  const message = own === 'not_yet' ? undefined : fillMessage(context, request, deposit)
  const { amount: deposited } = deposit
  // Without the message the oracles cannot be asked, so our own reading does not count yet either.
  if (message === undefined) return { own: 'not_yet', deposited, messageId: undefined, answers: [] }
  const messageId = fillMessageId(message, context.networkOf)
  const { order, orderSignature, inputs, fill } = message.data
  const answers = await Promise.all(
    context.oracles.map(async (oracle) => {
      const answer = await oracle.attestFill({ order, orderSignature, inputs, fill }, messageId, signal)
      const code = answer.said === 'signed' ? {} : { code: answer.code }
      const { requestId } = request
      context.observe({ event: 'oracle', requestId, oracle: oracle.name, said: answer.said, ...code })
      return answer
    }),
  )
  return { own, deposited, messageId, answers }
}

/** Reads the fill by our own endpoints at a final block. */
async function readOwn(
  context: SettlementContext,
  request: SettledRequest,
  { signal, readApart }: Reads,
): Promise<OwnReading> {
  const { order, orderId, destinationChainId, settlement } = request
  const transactionId = settlement?.fillTx
  if (transactionId === undefined) return 'not_yet'
  const destination = chainOf(context, destinationChainId)
  const { extraData, payments, calls } = order.output
  try {
    const question = { transactionId, orderId, extraData, payments, calls }
    const named = { chainId: destinationChainId, transactionId }
    const facts = await readApart(named, () => destination.finalPayment(question, signal))
    const isPaid = facts !== undefined && fillProblem(request, facts, destination.chain.codec) === undefined
    return isPaid ? 'paid' : 'not_paid'
  } catch (error) {
    if (error instanceof TransactionNotFinalError) return 'not_yet'
    throw error
  }
}

/**
 * The message that oracles must sign. It is made of our own stored facts only, so that no oracle can choose its content.
 * Undefined where a part is missing.
 * @source rule L-68
 */
export function fillMessage(
  { chains }: Pick<SettlementContext, 'chains'>,
  request: Pick<SettledRequest, 'order' | 'orderId' | 'orderSignature' | 'settlement'>,
  deposit: Pick<StoredDeposit, 'chainId' | 'txHash' | 'onchainIndex' | 'amount'>,
): FillMessage | undefined {
  const { order, orderId, orderSignature, settlement } = request
  const origin = chains.get(deposit.chainId)?.chain
  // The deposit less the order's input, relative to the input.
  const bpsDiff = weightedInputBpsDiff(order, [deposit.amount])
  const transactionId = settlement?.fillTx
  if (origin === undefined || transactionId === undefined || bpsDiff === undefined) return undefined
  const { txHash, onchainIndex } = deposit
  const id = onchainId({ chainId: origin.key, transactionId: txHash, onchainIndex })
  return {
    data: {
      order,
      orderSignature: signatureOf({ orderSignature }),
      inputs: [{ transactionId: txHash, onchainId: id, inputIndex: 0 }],
      fill: { transactionId },
    },
    // Status 1: settled.
    result: { orderId, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiff.toString() },
  }
}

/** Decides by the proof, and settles the request, parks it, or schedules the next look. */
async function settleByProof(
  context: AttestationContext,
  tx: SqlTx,
  request: SettledRequest,
  proof: Proof,
): Promise<void> {
  const { own, answers } = proof
  const { requestId, deadlineSeconds, settlement } = request
  const origin = chainOf(context, request.originChainId).chain
  // The pin of the sponsor's hold ends then by itself, so nothing could be debited later.
  const pinEndSeconds = deadlineSeconds + finalitySecondsOf(origin) + pinGraceSeconds
  const decision = settleDecision({
    own,
    // Oracles that were not asked yet count as silent.
    said: context.oracles.map((_oracle, index) => answers[index]?.said ?? 'nothing'),
    threshold: context.threshold,
    contradictions: settlement?.contradictions ?? 0,
    nowSeconds: nowSeconds(context),
    endSeconds: pinEndSeconds,
  })
  switch (decision.action) {
    case 'wait': {
      const attempts = settlement?.attempts ?? 0
      // Only contradictions in a row count.
      await countContradictions(tx, requestId, 0)
      await setUnproven(tx, requestId, unproven[own])
      await recheckAfter(tx, requestId, Math.min(retryFirstMs * 1.5 ** attempts, retryMaxMs))
      return
    }
    case 'ask_again':
      await countContradictions(tx, requestId, (settlement?.contradictions ?? 0) + 1)
      await recheckAfter(tx, requestId, decision.delayMs)
      return
    case 'park':
      await parkRequest(context, tx, requestId, decision.reason)
      return
    case 'post':
      await bookSettlement(context, tx, request, proof)
  }
}

/** Reason that is shown while a fill waits for its proof, by our own reading. */
const unproven = { paid: 'ATTESTATION_MISSING', not_paid: 'FILL_NOT_SEEN', not_yet: undefined } as const

/** Reason with which a request is parked whose debit the ledger refused. */
const holdReasons = {
  already_voided: 'HOLD_ALREADY_VOIDED',
  expired: 'HOLD_EXPIRED',
  exceeds_hold: 'HOLD_EXCEEDS_HOLD',
  unknown_hold: 'HOLD_UNKNOWN_HOLD',
} as const

/** Debits the sponsor, accrues app fees and ends the request, all in the caller's transaction. @source rules L-11, L-69 */
async function bookSettlement(
  context: AttestationContext,
  tx: SqlTx,
  request: SettledRequest,
  { messageId, answers, deposited }: Pick<Proof, 'messageId' | 'answers' | 'deposited'>,
): Promise<void> {
  const { requestId, settlement } = request
  const { input, appFees, debitMicroUsd: amountMicroUsd } = bookedFor(request, deposited)
  const evidence = {
    kind: 'solver-fill',
    messageId,
    fillTx: settlement?.fillTx,
    threshold: context.threshold,
    // Lets `compareAttested` check the booked amounts against the deposit.
    bookedInput: input.toString(),
    signatures: answers.flatMap((answer) =>
      answer.said === 'signed' ? [{ signer: answer.signer, signature: answer.signature }] : [],
    ),
  }
  if (amountMicroUsd > 0n) {
    const { status } = await context.ledger.post(tx, { requestId, amountMicroUsd, evidence })
    if (status !== 'resolved' && status !== 'already_posted') {
      await parkRequest(context, tx, requestId, holdReasons[status])
      return
    }
  }
  await accrue(context, tx, request, appFees)
  await setStage(tx, requestId, { stage: 'settled', evidence })
  context.observe({ event: 'settled', requestId, originChainId: request.originChainId, amountMicroUsd })
}

/** Accrues the app fees of the request to their recipients. */
async function accrue(
  context: SettlementContext,
  tx: SqlTx,
  request: SettledRequest,
  fees: Booked['appFees'],
): Promise<void> {
  const { requestId, quoted, originChainId } = request
  if (fees.length === 0) return
  const origin = chainOf(context, originChainId).chain
  const currency = findCurrency(origin, quoted.feeCurrency)
  if (currency === undefined) throw new Error('the fee currency of an order left the configuration')
  const { chainId, address, symbol, name, decimals } = currency
  const asset = { chainId, address, symbol, name, decimals }
  await accrueAppFees(tx, { requestId, asset, fees })
}
