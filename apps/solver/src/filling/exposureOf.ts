import { type Hex, onchainId, weightedInputBpsDiff } from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import { isSameSpelling, type Proof } from '../judge/signedOrder.ts'
import type { SeenDeposit } from '../judge/verdict.ts'
import type { AppFee } from '../wallet/appFees.ts'
import type { AttestationQuestion } from '../wallet/attestationQuestion.ts'
import type { Exposure } from '../wallet/exposure.ts'
import { hasFailed, type KeptRecord } from '../wallet/signedRecord.ts'
import type { PaidOrder } from '../work/workItems.ts'
import type { Payment } from './filling.ts'
import { inputCurrencyOf, worthOf } from './judgeItem.ts'

/**
 * Describes a payment before it is signed, as it counts against the limits of unattested payments.
 * @param past all that was signed for the same order or claim
 * @returns undefined while nobody knows its price
 * @throws DomainError where endpoints are silent or contradict each other
 */
export async function exposureOf(
  payment: Payment,
  deposit: SeenDeposit | undefined,
  past: readonly KeptRecord[],
): Promise<Exposure | undefined> {
  const { order, chain, filling } = payment
  const microUsd = worthOf(order, filling.valuer())
  if (microUsd === undefined) return undefined
  const { kind } = order
  const { chainId, exposure: limits } = chain
  return {
    kind,
    chainId,
    microUsd,
    limits,
    traits: await traitsOf(payment),
    appFees: appFeesOf(order, deposit),
    hasOracles: filling.hasOracles,
    asked: deposit === undefined ? undefined : questionOf(payment, deposit, past),
  }
}

/** App fees by wallet: a fill owes them in the currency of its deposit, a claim takes them in the currency it pays. */
function appFeesOf(
  { kind, chainId, payments: [payment], appFees = [] }: PaidOrder,
  deposit: SeenDeposit | undefined,
): readonly AppFee[] {
  const currencyOfFees = kind === 'claim' ? payment && { chainId, currency: payment.currency } : deposit
  if (currencyOfFees === undefined) return []
  const { chainId: owedOn, currency } = currencyOfFees
  const sums = new Map<Hex, bigint>()
  for (const { wallet, amount } of appFees) sums.set(wallet, (sums.get(wallet) ?? 0n) + amount)
  return [...sums]
    .filter(([, amount]) => amount > 0n)
    .map(([wallet, amount]) => ({ wallet, chainId: owedOn, currency, amount }))
}

/**
 * Kinds of payment to which this one belongs, the most telling first: payments with calls, payments to
 * accounts with code, payments in its currencies. Its final refusal would stop the first kind; a stop of any
 * of them holds it. @source rule L-22
 */
async function traitsOf({ order: { payments, calls }, chain }: Payment): Promise<readonly string[]> {
  if (calls.length > 0) return ['calls']
  const { hasCode } = chain
  const currencies = [...new Set(payments.map(({ currency }) => currency))]
  if (hasCode === undefined) return currencies
  const codes = await Promise.all(payments.map(({ recipient }) => hasCode(recipient)))
  if (codes.includes(true)) return ['code', ...currencies]
  // While code cannot be read, a stop of either kind holds the payment; its own refusal stops its currency.
  return codes.includes(undefined) ? [...currencies, 'code'] : currencies
}

/**
 * Question for oracles about a payment; undefined where no oracle attests it. They attest every fill, but a
 * refund only by one of the order's refund options, of a deposit that could pay the order, and beside no
 * other payment for the order.
 */
function questionOf(
  { order: paid, filling }: Payment,
  deposit: SeenDeposit,
  past: readonly KeptRecord[],
): AttestationQuestion | undefined {
  const { proof } = paid
  const [position] = proof?.deposits ?? []
  const network = filling.networkOf(deposit.chainKey)
  if (proof === undefined || position === undefined || network === undefined) return undefined
  const { order } = proof
  // No share can be computed for inputs that weigh nothing, and oracles attest nothing then.
  if (weightedInputBpsDiff(order, [deposit.amount]) === undefined) return undefined
  const transactionId = codecOf(network).canonicalTransactionId(position.transactionId)
  const id = onchainId({ chainId: deposit.chainKey, transactionId, onchainIndex: position.onchainIndex })
  const refundIndex = paid.kind === 'refund' ? refundOption(paid, proof) : undefined
  const isAttestable =
    paid.kind === 'fill' ||
    (refundIndex !== undefined &&
      couldPayOrder(deposit, proof, inputCurrencyOf(proof, filling.networkOf)) &&
      !hasOtherPayment(past))
  if (!isAttestable) return undefined
  return {
    order,
    // CAST: the order's signer was recovered from it.
    orderSignature: proof.orderSignature as Hex,
    refundIndex,
    // `refuseOrder` accepts orders of one input alone.
    inputs: [{ transactionId, onchainId: id, inputIndex: 0 }],
    deposited: deposit.amount,
    booking: paid.booking,
  }
}

/** Oracles attest a refund only if its deposit could pay the order: on the order's input chain and in its currency. */
const couldPayOrder = (deposit: SeenDeposit, { order }: Proof, inputCurrency: string): boolean =>
  deposit.chainKey === order.inputs[0]?.payment.chainId && deposit.currency === inputCurrency

/** True if an earlier fill or refund has not failed: oracles do not attest a refund beside it. */
const hasOtherPayment = (past: readonly KeptRecord[]): boolean =>
  past.some((record) => record.kind !== 'claim' && !hasFailed(record))

/** Index of the order's refund option that is paid; undefined where no option has this recipient and currency. */
function refundOption({ payments: [payment] }: PaidOrder, { order }: Proof): number | undefined {
  const index = order.inputs[0]?.refunds.findIndex(
    ({ recipient, currency }) =>
      payment !== undefined &&
      isSameSpelling(recipient, payment.recipient) &&
      isSameSpelling(currency, payment.currency),
  )
  return index === -1 ? undefined : index
}
