import type { Funding, SpendableOutput } from '../../../rules/quotingFamily.ts'
import type { BitcoinFees } from './bitcoinFees.ts'
import { dustOf, type InputKind, virtualBytesOf } from './virtualSize.ts'

/** Wallets sign each input by itself, some of them by hand; and nodes relay nothing above 100,000 virtual bytes. */
export const inputsMax = 100

/** Bytes of all transactions that inputs show (F-96): as much as one of the largest that a block can hold. */
const shownBytesMax = 1_000_000

export type FundedPayment = {
  /** Sum of the outputs of `paid`. */
  readonly amount: bigint
  /** Scripts, in order. */
  readonly paid: readonly Uint8Array[]
  /** The script that gets the change. */
  readonly change: Uint8Array
  /** Spending type of the inputs: all of them belong to one address. */
  readonly inputKind: InputKind
  readonly fees: BitcoinFees
}

/**
 * Chooses what a payment spends: the largest outputs first, so that it has the fewest inputs, and as many of them as
 * pay for the amount and the fee. What is left goes back, unless it is dust: then it is a part of the fee. The same
 * outputs give the same choice, in whatever order endpoints name them.
 */
export function fundPayment(spendable: readonly SpendableOutput[], payment: FundedPayment): Funding {
  const { amount, fees, inputKind } = payment
  // An output that is worth less than the bytes that spend it only makes the payment dearer.
  const worth = fees.feeOf(virtualBytesOf({ inputs: [inputKind], outputs: [] })) - emptyFee(fees)
  const useful = spendable.filter(({ value }) => value > worth).toSorted(largestFirst)
  const chosen: SpendableOutput[] = []
  let held = 0n
  const signable = signableOf(useful)
  for (const output of signable) {
    chosen.push(output)
    held += output.value
    const settled = settle(held, chosen.length, payment)
    if (settled !== undefined) return { kind: 'chosen', inputs: chosen, ...settled }
  }
  const count = Math.max(chosen.length, 1)
  return {
    kind: 'short',
    spendable: held,
    needed: amount + feeOf(count, payment, []),
    isOfTooMany: useful.length > signable.length,
  }
}

/** The largest that one transaction can spend and show. */
function signableOf(outputs: readonly SpendableOutput[]): readonly SpendableOutput[] {
  const signable: SpendableOutput[] = []
  let shownBytes = 0
  for (const output of outputs) {
    const bytes = (output.transaction?.length ?? 0) / 2
    if (signable.length === inputsMax || shownBytes + bytes > shownBytesMax) continue
    shownBytes += bytes
    signable.push(output)
  }
  return signable
}

const emptyFee = (fees: BitcoinFees): bigint => fees.feeOf(virtualBytesOf({ inputs: [], outputs: [] }))

/** Fee and change of so many inputs; undefined where they do not pay for it. */
function settle(
  held: bigint,
  count: number,
  payment: FundedPayment,
): { readonly fee: bigint; readonly change: bigint } | undefined {
  const { amount, change } = payment
  const left = held - amount - feeOf(count, payment, [change])
  if (left >= dustOf(change)) return { fee: held - amount - left, change: left }
  const fee = held - amount
  return fee >= feeOf(count, payment, []) ? { fee, change: 0n } : undefined
}

function feeOf(count: number, { inputKind, paid, fees }: FundedPayment, more: readonly Uint8Array[]): bigint {
  const inputs = Array.from({ length: count }, () => inputKind)
  return fees.feeOf(virtualBytesOf({ inputs, outputs: [...paid, ...more] }))
}

function largestFirst(one: SpendableOutput, other: SpendableOutput): number {
  if (one.value !== other.value) return one.value > other.value ? -1 : 1
  if (one.txid !== other.txid) return one.txid < other.txid ? -1 : 1
  return one.vout - other.vout
}
