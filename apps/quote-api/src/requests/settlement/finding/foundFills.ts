import type { OracleClient } from '@causeway/chains'
import {
  bytes32Text,
  fillMessageId,
  type Hex,
  orderId as hashOf,
  hexText,
  type NetworkOf,
  orderSchema,
  type SqlDatabase,
  weightedInputBpsDiff,
} from '@causeway/core'
import { bookFoundFill } from '@causeway/ledger'
import { TransactionNotFinalError } from '@causeway/rpc'
import { z } from 'zod'
import { recordAction } from '../../../access/adminAction.ts'
import type { Booking, BookingNotes } from '../amounts/bookings.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { fillProblem } from '../payments/fillCheck.ts'
import { bookedAction, readKnown } from './unknownPayments.ts'

/**
 * One fill that a solver stored, a line of `solver fills <since>`, by which it is booked if its order was
 * lost. `deposited`: smallest units of the deposit. `booking`: the note that came with the work item, if any.
 */
export const keptFillSchema = z.object({
  chainId: z.int().positive(),
  transactionId: z.string().min(1).max(200),
  order: orderSchema,
  orderSignature: hexText(65),
  inputs: z.array(z.object({ transactionId: z.string(), onchainId: bytes32Text, inputIndex: z.int() })),
  deposited: z
    .string()
    .regex(/^[0-9]{1,78}$/)
    .transform(BigInt),
  booking: z.string().optional(),
})
export type KeptFill = z.output<typeof keptFillSchema>

/**
 * Standing of such a fill, judged in this order. `UNKNOWN_SPONSOR`: its note is missing or not ours.
 * `NOT_PAID`: no final block pays it in full and in time. `NOTHING_OWED`: it has no sponsor. `NOT_ATTESTED`:
 * too few oracles sign it. `BOOKABLE`: an operator may book it. With an operator it is `BOOKED`, or the
 * sponsor's balance is too low (`INSUFFICIENT`) or frozen (`FROZEN`).
 */
export type FillStanding =
  | 'UNKNOWN_SPONSOR'
  | 'NOT_PAID'
  | 'NOT_ATTESTED'
  | 'BOOKABLE'
  | 'NOTHING_OWED'
  | 'BOOKED'
  | 'INSUFFICIENT'
  | 'FROZEN'

/** A fill of an order that is not stored here. */
export type FoundFill = Pick<KeptFill, 'chainId' | 'transactionId' | 'deposited'> & {
  readonly orderId: Hex
  /** The account that was paid. */
  readonly recipient: string
  readonly standing: FillStanding
  /** Sponsor and debit by its note; undefined where the note is missing or not ours. */
  readonly booking: Booking | undefined
}

export type FindingContext = {
  readonly database: SqlDatabase
  readonly notes: Pick<BookingNotes, 'read'>
  readonly networkOf: NetworkOf
  readonly oracles: readonly OracleClient[]
  readonly threshold: number
  /** Chain by its id; undefined for a chain that is not configured. */
  readonly chainOf: (chainId: number) => Promise<Pick<SettlementChain, 'chain' | 'finalPayment'> | undefined>
  readonly signal: AbortSignal
}

/** The operator who books, and the reason; undefined: fills are only judged. */
export type BookingOperator = { readonly actor: string; readonly reason: string } | undefined

/**
 * Judges one fill that a solver stored, and books it if an operator asks for that and nothing is missing.
 * @returns undefined if its order or hold is known here, so that it is booked like any other fill
 */
export async function judgeKeptFill(
  context: FindingContext,
  fill: KeptFill,
  operator: BookingOperator,
): Promise<FoundFill | undefined> {
  const orderId = hashOf(fill.order, context.networkOf)
  const { chainId, transactionId, deposited } = fill
  const recipient = fill.order.output.payments[0]?.recipient ?? ''
  const booking = fill.booking === undefined ? undefined : context.notes.read(orderId, fill.booking)
  if (await isKnown(context, orderId, booking)) return undefined
  const judged = { chainId, transactionId, deposited, recipient, orderId, booking }
  const toFoundFill = (standing: FillStanding): FoundFill => ({ ...judged, standing })
  if (booking === undefined) return toFoundFill('UNKNOWN_SPONSOR')
  if (!(await isPaid(context, fill, orderId))) return toFoundFill('NOT_PAID')
  if (booking.sponsor === undefined) {
    if (operator !== undefined) await bookFill(context, booking, operator, {})
    return toFoundFill('NOTHING_OWED')
  }
  const evidence = await attest(context, fill, orderId)
  if (evidence === undefined) return toFoundFill('NOT_ATTESTED')
  if (operator === undefined) return toFoundFill('BOOKABLE')
  return toFoundFill(await bookFill(context, booking, operator, evidence))
}

/** True if the order is stored, or was deleted by retention but has its hold in the ledger. */
async function isKnown(
  { database }: FindingContext,
  orderId: Hex,
  booking: Booking | undefined,
): Promise<boolean> {
  if ((await readKnown(database, [orderId])).has(orderId)) return true
  if (booking === undefined) return false
  const held = await database.query('select from hold where request_id = $1 limit 1', [
    Buffer.from(booking.requestId.slice(2), 'hex'),
  ])
  return held.length > 0
}

/** True if a final block pays the order in full. */
async function isPaid({ chainOf, signal }: FindingContext, fill: KeptFill, orderId: Hex): Promise<boolean> {
  const { order, chainId, transactionId } = fill
  const chain = await chainOf(chainId)
  if (chain === undefined || chain.chain.key !== order.output.chainId) return false
  const { extraData, payments, calls } = order.output
  try {
    const facts = await chain.finalPayment({ transactionId, orderId, extraData, payments, calls }, signal)
    return facts !== undefined && fillProblem({ order, orderId }, facts, chain.chain.codec) === undefined
  } catch (error) {
    if (error instanceof TransactionNotFinalError) return false
    throw error
  }
}

/** Has the oracles attest the fill. @returns the evidence; undefined if too few sign */
async function attest(context: FindingContext, fill: KeptFill, orderId: Hex) {
  const { oracles, threshold, networkOf, signal } = context
  const { order, orderSignature, inputs, transactionId, deposited } = fill
  const bpsDiff = weightedInputBpsDiff(order, [deposited])
  // The deposit less the input, relative to it; undefined only for an input of zero, which no oracle attests.
  if (bpsDiff === undefined) return undefined
  const data = { order, orderSignature, inputs, fill: { transactionId } }
  // Status 1: settled.
  const result = { orderId, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiff.toString() }
  const messageId = fillMessageId({ data, result }, networkOf)
  const answers = await Promise.all(oracles.map((oracle) => oracle.attestFill(data, messageId, signal)))
  const signatures = answers.flatMap((answer) =>
    answer.said === 'signed' ? [{ signer: answer.signer, signature: answer.signature }] : [],
  )
  if (signatures.length < threshold) return undefined
  return { kind: 'solver-fill', messageId, fillTx: transactionId, threshold, signatures }
}

/** Books the fill, if a sponsor owes for it, and records the operator's action, in one commit. */
async function bookFill(
  { database }: FindingContext,
  { orderId, requestId, sponsor, debitMicroUsd }: Booking,
  { actor, reason }: NonNullable<BookingOperator>,
  evidence: Readonly<Record<string, unknown>>,
): Promise<'BOOKED' | 'INSUFFICIENT' | 'FROZEN'> {
  return database.transaction(async (tx) => {
    const debit = { amountMicroUsd: debitMicroUsd, actor, evidence }
    const outcome =
      sponsor === undefined ? 'done' : await bookFoundFill(tx, { orderId, requestId, sponsor, ...debit })
    // The booking's id is derived from the order, so a conflict means two different notes for one fill.
    if (outcome === 'conflict') throw new Error(`${orderId} was booked otherwise`)
    const isBooked = outcome === 'done' || outcome === 'exists'
    const details = { reason, requestId, sponsor: sponsor ?? null, microUsd: debitMicroUsd.toString() }
    const logged = isBooked ? 'done' : outcome
    await recordAction(tx, { actor, action: bookedAction, subject: orderId, details, outcome: logged })
    if (isBooked) return 'BOOKED'
    return outcome === 'frozen' ? 'FROZEN' : 'INSUFFICIENT'
  })
}
