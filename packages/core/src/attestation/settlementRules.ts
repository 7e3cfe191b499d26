import type { VmCodec } from '../encodings/vmCodec.ts'
import type { Hex } from '../hex.ts'
import type { Order } from '../order/order.ts'
import { encodeOrderCall } from '../order/orderCall.ts'
import type { ExecutedCallFact, PaymentFacts } from './facts.ts'

/** 100 % in `totalWeightedInputPaymentBpsDiff`. */
export const bpsDiffUnit = 10n ** 18n

/**
 * Weighted difference between the deposited amounts and the order's inputs, relative to the inputs, in units of
 * `bpsDiffUnit`, truncated toward zero; `undefined` when the weighted inputs are zero.
 * @param amounts deposited, one per order input, in the order's sequence; a missing one counts as zero
 * @source rule P-129
 */
export function weightedInputBpsDiff(order: Order, amounts: readonly bigint[]): bigint | undefined {
  let paid = 0n
  let requested = 0n
  for (const [index, { payment }] of order.inputs.entries()) {
    const weight = BigInt(payment.weight)
    paid += (amounts[index] ?? 0n) * weight
    requested += BigInt(payment.amount) * weight
  }
  return requested === 0n ? undefined : ((paid - requested) * bpsDiffUnit) / requested
}

/**
 * Index of the first call of an order that was not executed after the calls before it; executed calls that are none
 * of the order's may stand between. Calls are compared in their ABI encoding. @source rule P-41
 */
export function firstMissingCall(
  calls: readonly Hex[],
  executed: readonly ExecutedCallFact[],
): number | undefined {
  const encoded = encodedCalls(executed)
  let searchFrom = 0
  for (const [index, call] of calls.entries()) {
    const position = encoded.indexOf(`0x${call.slice(2).toLowerCase()}`, searchFrom)
    if (position < 0) return index
    searchFrom = position + 1
  }
  return undefined
}

/** One payment that an order demands, and the facts of the transaction that the caller names for it. */
export type DemandedPayment = {
  readonly codec: VmCodec
  /** The id that a fill contract records for it: the order id of a fill, a refund's own id, a claim's id. */
  readonly recordId: Hex
  readonly recipient: string
  readonly currency: string
  readonly minimumAmount: bigint
  readonly facts: PaymentFacts
}

/** The first payment that is not made, and why. */
export type UnpaidPayment = {
  /** Index among the demanded payments. */
  readonly position: number
  /**
   * `short`: too little was paid. `payer_not_listed`: enough came, but not from the solver's side. `not_recorded`: the
   * fill contract recorded another id, or its record proves nothing. `fill_contract_unknown`: the configuration does
   * not list the order's fill contract, so its payments do not count.
   */
  readonly why: 'short' | 'payer_not_listed' | 'not_recorded' | 'fill_contract_unknown'
  readonly paid: bigint
  /** Sum of all payments up to this one that share its transaction, recipient and currency. */
  readonly demanded: bigint
}

/**
 * Finds the first demanded payment that its transaction did not make. Payments of one transaction to one recipient in
 * one currency share its transfers, so their minimums are added up: no transfer counts for two payments.
 * @source rules P-40 to P-43
 */
export function firstUnpaid(payments: readonly DemandedPayment[]): UnpaidPayment | undefined {
  const demandedByGroup = new Map<string, bigint>()
  for (const [position, payment] of payments.entries()) {
    const group = groupOf(payment)
    const demanded = (demandedByGroup.get(group) ?? 0n) + payment.minimumAmount
    demandedByGroup.set(group, demanded)
    const paidTotals = paidFor(payment)
    const { paid } = paidTotals
    if (paid < demanded)
      return { position, why: whyUnpaid(payment.facts, paidTotals, demanded), paid, demanded }
  }
  return undefined
}

function encodedCalls(executed: readonly ExecutedCallFact[]): readonly Hex[] {
  return executed.map(({ to, data, value }) =>
    // CAST: families that prove calls name their targets by EVM addresses.
    encodeOrderCall({ to: to as Hex, data, value }),
  )
}

function whyUnpaid(
  { unlistedFillContract }: PaymentFacts,
  { paid, fromOthers, isRefutedByRecord }: ReturnType<typeof paidFor>,
  demanded: bigint,
): UnpaidPayment['why'] {
  if (unlistedFillContract !== undefined) return 'fill_contract_unknown'
  if (isRefutedByRecord) return 'not_recorded'
  return paid + fromOthers >= demanded ? 'payer_not_listed' : 'short'
}

function groupOf({ codec, recipient, currency, facts }: DemandedPayment): string {
  const [to, token] = [codec.canonicalAddress(recipient), codec.canonicalAddress(currency)]
  return JSON.stringify([facts.evidence.chainId, facts.transactionId, to, token])
}

/**
 * Sums the transfers of the transaction that can be this payment. None count where a fill contract recorded
 * the id of another payment, or where there is a problem with its record: the record is the proof then.
 */
function paidFor({ codec, recordId, recipient, currency, facts }: DemandedPayment) {
  const [to, token] = [codec.canonicalAddress(recipient), codec.canonicalAddress(currency)]
  const hasOtherId = facts.recordId !== undefined && facts.recordId !== recordId.toLowerCase()
  if (hasOtherId || facts.recordProblem !== undefined) return nothingRecorded
  let [paid, fromOthers] = [0n, 0n]
  for (const transfer of facts.transfers) {
    const isForPayment =
      codec.canonicalAddress(transfer.recipient) === to && codec.canonicalAddress(transfer.currency) === token
    if (!isForPayment) continue
    paid += transfer.amount
    fromOthers += transfer.fromOthers ?? 0n
  }
  return { paid, fromOthers, isRefutedByRecord: false }
}

/** Totals where a record exists that is of another payment, or proves nothing. */
const nothingRecorded = { paid: 0n, fromOthers: 0n, isRefutedByRecord: true }
