import type { Funding, SpendableOutput } from '../../../rules/plannedTransaction.ts'
import type { BitcoinFees } from './bitcoinFees.ts'
import { dustOf, type InputKind, virtualBytesOf } from './virtualSize.ts'

/** Limit of inputs: wallets sign each one by itself, and nodes relay no transaction above 100,000 virtual bytes. */
export const inputsMax = 100

/** Limit of bytes of all transactions that inputs must show (F-96): about as many as a full block has. */
const shownBytesMax = 1_000_000

/** A payment for which outputs of one address are chosen. */
export type FundedPayment = {
  /** Sum of the outputs of `paid`. */
  readonly amount: bigint
  /** Scripts of its outputs without change, in order. */
  readonly paid: readonly Uint8Array[]
  /** The script that gets the change. */
  readonly change: Uint8Array
  /** Spending type of the inputs: all of them belong to one address. */
  readonly inputKind: InputKind
  readonly fees: BitcoinFees
}

/**
 * Chooses the outputs that a payment spends: the largest first, so that it has few inputs, until they pay for the
 * amount and the fee. What is left is change, unless it is dust: then it is part of the fee. The order in which
 * endpoints list outputs does not matter.
 */
export function fundPayment(spendable: readonly SpendableOutput[], payment: FundedPayment): Funding {
  const { amount, fees, inputKind } = payment
  // An output of less than the fee for its own input only makes the payment dearer.
  const inputFee = fees.feeOf(virtualBytesOf({ inputs: [inputKind], outputs: [] })) - emptyFee(fees)
  const useful = spendable.filter(({ value }) => value > inputFee).toSorted(largestFirst)
  const chosen: SpendableOutput[] = []
  let held = 0n
  const signable = signableOf(useful)
  for (const output of signable) {
    chosen.push(output)
    held += output.value
    const settled = settle(held, chosen.length, payment)
    if (settled !== undefined) return { kind: 'chosen', inputs: chosen, ...settled }
  }
  // Without any useful output, the fee is that of a payment with one input.
  const count = Math.max(chosen.length, 1)
  return {
    kind: 'short',
    spendable: held,
    needed: amount + feeOf(count, payment, []),
    isOfTooMany: useful.length > signable.length,
  }
}

/**
 * Outputs, as many as one transaction can spend and show. If one must show too long a transaction, others are
 * taken instead.
 * @param outputs largest first
 */
function signableOf(outputs: readonly SpendableOutput[]): readonly SpendableOutput[] {
  const signable: SpendableOutput[] = []
  let shownBytes = 0
  for (const output of outputs) {
    // Two hex digits are a byte; an input that need not show its transaction has none.
    const bytes = (output.transaction?.length ?? 0) / 2
    if (signable.length === inputsMax || shownBytes + bytes > shownBytesMax) continue
    shownBytes += bytes
    signable.push(output)
  }
  return signable
}

const emptyFee = (fees: BitcoinFees): bigint => fees.feeOf(virtualBytesOf({ inputs: [], outputs: [] }))

/** Fee and change with `count` inputs that hold `held` satoshi; undefined if they do not pay for amount and fee. */
function settle(
  held: bigint,
  count: number,
  payment: FundedPayment,
): { readonly fee: bigint; readonly change: bigint } | undefined {
  const { amount, change } = payment
  const left = held - amount - feeOf(count, payment, [change])
  if (left >= dustOf(change)) return { fee: held - amount - left, change: left }
  // Without a change output all that is left is the fee, if it covers this smaller transaction.
  const fee = held - amount
  return fee >= feeOf(count, payment, []) ? { fee, change: 0n } : undefined
}

function feeOf(
  count: number,
  { inputKind, paid, fees }: FundedPayment,
  changeScripts: readonly Uint8Array[],
): bigint {
  const inputs = Array.from({ length: count }, () => inputKind)
  return fees.feeOf(virtualBytesOf({ inputs, outputs: [...paid, ...changeScripts] }))
}

function largestFirst(one: SpendableOutput, other: SpendableOutput): number {
  if (one.value !== other.value) return one.value > other.value ? -1 : 1
  if (one.txid !== other.txid) return one.txid < other.txid ? -1 : 1
  return one.vout - other.vout
}
