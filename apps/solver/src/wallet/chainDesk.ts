import type { Hex } from '@causeway/core'
import type { GasBudgets } from '@causeway/core/config'
import type { EmptiedAddress, PaymentTerms, PlannedTransaction } from '@causeway/families'
import type { CostedTransaction, SweptOutputs } from '@causeway/families/rules'
import type { PaidOrder } from '../work/workItems.ts'
import { BudgetSpentError, type Charge, type GasBudget } from './budgets.ts'
import type { Exposure } from './exposure.ts'
import { AlreadyBegunError, StoppedError } from './records.ts'
import type { KeptRecord } from './signedRecord.ts'

/** A new record without its transaction: its item or chore, and what it takes from budgets and limits. */
export type Subject = Pick<KeptRecord, 'id' | 'kind' | 'orderId' | 'deadline' | 'isUnderpaid'> & {
  readonly payments?: KeptRecord['payments']
  readonly deposits?: readonly string[]
  /** Charges beside gas. */
  readonly charges?: readonly Charge[]
  /** Order, or account with code, whose records share an allowance within the gas budget; see `gasCharges`. */
  readonly sharer?: string | undefined
  /** Present for payments alone. */
  readonly exposure?: Exposure | undefined
  /** Records of the order or claim when it was judged: if they have changed since, nothing is signed. */
  readonly past?: readonly KeptRecord[]
}

/** This process may not write for the wallet on this chain now. */
export class NotLeadingError extends Error {
  constructor(chainId: number) {
    super(`another process writes for the fill wallet on chain ${chainId}`)
    this.name = 'NotLeadingError'
  }
}

/** The market knows no gas price that could be bid. */
export class NoGasPriceError extends Error {
  constructor(chainId: number) {
    super(`no gas price of chain ${chainId} is known`)
    this.name = 'NoGasPriceError'
  }
}

/** The fill wallet's own coin does not reach for a transaction and its gas. */
export class GasCoinShortError extends Error {
  constructor(chainId: number) {
    super(`the fill wallet holds too little coin for its gas on chain ${chainId}`)
    this.name = 'GasCoinShortError'
  }
}

/** The previous record must be sent, or mined, before the next one can follow it in the line. */
export class LineBusyError extends Error {
  constructor(chainId: number) {
    super(`what was signed on chain ${chainId} before is not sent yet`)
    this.name = 'LineBusyError'
  }
}

/** @param fees of the network by the market; undefined where it knows none. @throws NoGasPriceError */
export function requireFees<Fees>(fees: Fees | undefined, chainId: number): Fees {
  if (fees === undefined) throw new NoGasPriceError(chainId)
  return fees
}

/** True for an error of beginning a record that may be gone at the next look. */
export const isPassing = (error: unknown): boolean =>
  error instanceof LineBusyError ||
  error instanceof StoppedError ||
  error instanceof AlreadyBegunError ||
  error instanceof BudgetSpentError ||
  error instanceof NoGasPriceError

/** Task of a transaction. `id`: the one that the chain records as paid, or as closed. */
export type DeskWork =
  | {
      readonly kind: 'payment'
      readonly id: Hex
      readonly order: PaidOrder
      readonly bound?: CostBound | undefined
    }
  /** `fillContract`: the contract that would pay the id; absent: the chain's own, or none in families without one. */
  | { readonly kind: 'closing'; readonly id: Hex; readonly fillContract?: Hex | undefined }
  /** Moves what lies at a deposit address to the depository for an order, or without one back to its depositor. */
  | {
      readonly kind: 'sweep'
      readonly recipient: string
      readonly orderId: Hex | undefined
      readonly swept: SweptOutputs
    }
  /** Empties a deposit address of a program. `id`: of all transactions signed for it, at most one has an effect. */
  | { readonly kind: 'emptying'; readonly id: Hex; readonly emptied: EmptiedAddress }
  /** Lets the family's fill contract take a currency. */
  | { readonly kind: 'allowance'; readonly allowance: NonNullable<PaymentTerms['allowance']> }
  /** Sends a ready transaction: a sweep or permit for others, or a chore. Only chains with nonces do. */
  | {
      readonly kind: 'relay'
      readonly transaction: PlannedTransaction
      readonly bound?: CostBound | undefined
    }

/** The most that a transaction may cost when it is signed. Where there is none, only the chain's limits and budgets count. */
export type CostBound = {
  /** The charge for it, and a margin, in smallest units of the native coin. */
  readonly most: bigint
  /** Kind of transaction by which its fees are computed: a chain's fee for data depends on it. */
  readonly transaction: CostedTransaction
}

/** Result of a trial run on enough endpoints: ready to sign, or the reason against it. */
export type Preparation =
  | {
      readonly kind: 'ready'
      /**
       * Signs a record and keeps it; sends nothing. A chore or closing, which the service does not know, is sent by the next
       * `advance`; the record of an item waits for `release`.
       * @throws NotLeadingError, NoGasPriceError, StoppedError, AlreadyBegunError, BudgetSpentError, UnattestedError
       */
      begin(subject: Subject): Promise<KeptRecord>
    }
  | Refusal

/** `isDear`: the transaction would cost more than its bound, or take more gas than one may have. */
export type Refusal = { readonly kind: 'refused'; readonly reason: string; readonly isDear?: true }

/**
 * Signs, sends and follows every transaction of the fill wallet on one chain. `PaymentDesk` is the one
 * implementation. The caller reports an item's transaction between `begin` and `release`, and for each of
 * `replaced` between `beginTelling` and `releaseReplacement`: so nothing of an item is sent before the
 * service's answer. `advance` is called again and again.
 */
export type ChainDesk = {
  readonly chainId: number
  /** Address of the fill wallet, in canonical spelling. */
  readonly address: string
  /** False while another process has the lease of this wallet and chain. */
  leads(): boolean
  /** Unix seconds of the newest block. @throws DomainError where too few endpoints answer */
  chainTime(): Promise<number>
  /** Makes the next move for every record that is not at its end. @returns the records that are still not */
  advance(): Promise<readonly KeptRecord[]>
  /** Time since which the oldest unmined transaction waits, in Unix ms, by the last `advance`. */
  readonly waitingSinceMs?: (() => number | undefined) | undefined
  /**
   * Has a transaction for this work tried on the chain's endpoints; signs nothing.
   * @throws NoGasPriceError, GasCoinShortError, DomainError where too few endpoints answer
   */
  prepare(work: DeskWork): Promise<Preparation>
  /** Keeps the service's answer about the newest transaction, then sends it, or has it never mined. */
  release(record: KeptRecord, release: 'given' | 'refused'): Promise<void>
  /** Sends a record no more, and takes its nonce where the chain has them. It may be mined all the same. */
  cancel(record: KeptRecord): Promise<void>
  /** Keeps that the record's failure was reported to the service. */
  markTold(record: KeptRecord): Promise<void>
  /** Released records of which the service follows another transaction than the newest, or than the one that was mined. */
  replaced(): Promise<readonly Replacement[]>
  /** Keeps that a replacement is about to be reported: if the answer is lost, the service may follow either one. */
  beginTelling(replacement: Replacement): Promise<KeptRecord>
  /** Keeps the service's answer to that report, and sends a transaction that it accepted. */
  releaseReplacement(replacement: Replacement, answer: 'accepted' | 'closed'): Promise<void>
}

/** A transaction of a record that the service is to follow from now on. */
export type Replacement = {
  readonly record: KeptRecord
  readonly hash: string
  /** A mined transaction counts, whatever the service answers. */
  readonly isMined: boolean
}

/** One order, or one account with code, may take at most a tenth of a chain's hourly budget. */
const allowanceParts = 10n

/**
 * Charges of a record's gas: to the budget of its kind, and to the sharer's allowance within it.
 * @param record `sharer`: an order whose refunds keep no gas, or an account with code that signed a permit
 */
export function gasCharges(
  chainId: number,
  record: Pick<KeptRecord, 'kind' | 'isUnderpaid'> & { readonly sharer?: string | undefined },
  amount: bigint,
  budgets: GasBudgets,
): readonly Charge[] {
  const budget = gasBudgetOf(record)
  const perHour = gasPerHourOf(budget, budgets)
  const charge: Charge = { budget: `${budget}:${chainId}`, amount, perHour }
  const { sharer } = record
  if (sharer === undefined || (budget !== 'refund-gas' && budget !== 'permit-gas')) return [charge]
  const share = { amount, perHour: perHour / allowanceParts, isShare: true } as const
  return [charge, { budget: `${budget}:${chainId}:${sharer}`, ...share }]
}

/** Limit of a budget per hour, in smallest units of the native coin. */
export function gasPerHourOf(budget: GasBudget, budgets: GasBudgets): bigint {
  switch (budget) {
    case 'gas':
    case 'paid-refund-gas':
      return budgets.gasPerHourWei
    case 'refund-gas':
      return budgets.refundGasPerHourWei
    case 'sweep-gas':
    case 'permit-gas':
      return budgets.relayGasPerHourWei
  }
}

/** Budgets are apart so that nobody who causes one kind of transaction can stop another. @source rule P-53 */
function gasBudgetOf({ kind, isUnderpaid }: Pick<KeptRecord, 'kind' | 'isUnderpaid'>): GasBudget {
  switch (kind) {
    case 'sweep':
      return 'sweep-gas'
    case 'permit':
      return 'permit-gas'
    case 'close':
      return 'refund-gas'
    case 'refund':
      return isUnderpaid === true ? 'refund-gas' : 'paid-refund-gas'
    case 'fill':
    case 'claim':
    case 'chore':
      return 'gas'
  }
}
