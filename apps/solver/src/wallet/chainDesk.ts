import type { Hex } from '@causeway/core'
import type { GasBudgets } from '@causeway/core/config'
import type { EmptiedAddress, PaymentTerms, PlannedTransaction } from '@causeway/families'
import type { CostedTransaction, SweptOutputs } from '@causeway/families/rules'
import type { PaidOrder } from '../work/workItems.ts'
import { BudgetSpentError, type Charge, type GasBudget } from './budgets.ts'
import type { Exposure } from './exposure.ts'
import { AlreadyBegunError, StoppedError } from './records.ts'
import type { KeptRecord } from './signedRecord.ts'

/** Subject of a new record. */
export type Subject = Pick<KeptRecord, 'id' | 'kind' | 'orderId' | 'deadline' | 'isUnderpaid'> & {
  readonly payments?: KeptRecord['payments']
  readonly deposits?: readonly string[]
  /** Beside gas. */
  readonly charges?: readonly Charge[]
  /** Shares an allowance within the budget of gas with others of the same. */
  readonly sharer?: string | undefined
  /** Present for payments alone. */
  readonly exposure?: Exposure | undefined
  /** Records signed for the order when it was judged: if there are more by now, nothing is signed. */
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

/** @param fees as the market says what the network charges now. @throws NoGasPriceError */
export function requireFees<Fees>(fees: Fees | undefined, chainId: number): Fees {
  if (fees === undefined) throw new NoGasPriceError(chainId)
  return fees
}

/** True for an error that may be gone at the next look. */
export const isPassing = (error: unknown): boolean =>
  error instanceof LineBusyError ||
  error instanceof StoppedError ||
  error instanceof AlreadyBegunError ||
  error instanceof BudgetSpentError ||
  error instanceof NoGasPriceError

/** Work of a transaction. `id`: the one that the chain records as paid, or as closed. */
export type DeskWork =
  | {
      readonly kind: 'payment'
      readonly id: Hex
      readonly order: PaidOrder
      readonly bound?: CostBound | undefined
    }
  /** `fillContract`: through which it would be paid; absent where that is the chain's own, or there is none. */
  | { readonly kind: 'closing'; readonly id: Hex; readonly fillContract?: Hex | undefined }
  /** Moves what lies at a deposit address to the depository for an order, or without one back to its depositor. */
  | {
      readonly kind: 'sweep'
      readonly recipient: string
      readonly orderId: Hex | undefined
      readonly swept: SweptOutputs
    }
  /** Empties an address that a program derived. `id`: at most one of all transactions signed for it has an effect. */
  | { readonly kind: 'emptying'; readonly id: Hex; readonly emptied: EmptiedAddress }
  /** Lets the family's contract take a currency; of chains that pay through one. */
  | { readonly kind: 'allowance'; readonly allowance: NonNullable<PaymentTerms['allowance']> }
  | {
      readonly kind: 'relay'
      readonly transaction: PlannedTransaction
      readonly bound?: CostBound | undefined
    }

/** Bound of a transaction's cost when it is signed. Absent: only the chain's limits and the hour's budgets bound it. */
export type CostBound = {
  /** The charge for it, and a margin, in smallest units of the native coin. */
  readonly most: bigint
  /** As fees are reckoned: what is taken beside the gas depends on it. */
  readonly transaction: CostedTransaction
}

/** Result of a trial run on enough endpoints: ready to sign, or the reason against it. */
export type Preparation =
  | {
      readonly kind: 'ready'
      /**
       * Signs and keeps. What the service knows nothing of is released at once, and sent by the next `advance`.
       * @throws NotLeadingError, NoGasPriceError, StoppedError, AlreadyBegunError, BudgetSpentError, UnattestedError
       */
      begin(subject: Subject): Promise<KeptRecord>
    }
  | Refusal

/** `isDear`: it would cost more than its bound, or take more than a transaction may have. */
export type Refusal = { readonly kind: 'refused'; readonly reason: string; readonly isDear?: true }

/** One chain's part of the solver: every transaction of the fill wallet there goes through it. */
export type ChainDesk = {
  readonly chainId: number
  /** Address of the fill wallet, in canonical spelling. */
  readonly address: string
  /** False while another process has the lease of this wallet and chain. */
  leads(): boolean
  /** Unix seconds of the newest block. @throws DomainError where too few endpoints answer */
  chainTime(): Promise<number>
  /** Looks at every record that is not at its end and does what is next. @returns those that are not yet */
  advance(): Promise<readonly KeptRecord[]>
  /** Time since which the oldest unmined transaction waits, in Unix ms, by the last `advance`. */
  readonly waitingSinceMs?: (() => number | undefined) | undefined
  /** @throws NoGasPriceError, GasCoinShortError, DomainError where too few endpoints answer */
  prepare(work: DeskWork): Promise<Preparation>
  /** Keeps what the service said of the newest transaction, then sends it or sees that it never lands. */
  release(record: KeptRecord, release: 'given' | 'refused'): Promise<void>
  /** Sends it no more. Whether it lands all the same shows later. */
  cancel(record: KeptRecord): Promise<void>
  /** Keeps that the service was told of a failure. */
  markTold(record: KeptRecord): Promise<void>
  /** Released ones whose newest transaction, or the one that landed, the service has not been told. */
  replaced(): Promise<readonly Replacement[]>
  /** Keeps that it is about to be told: an answer that is lost leaves open which one the service follows. */
  beginTelling(replacement: Replacement): Promise<KeptRecord>
  /** Keeps what the service said; an accepted one that is not mined is sent. */
  releaseReplacement(replacement: Replacement, answer: 'accepted' | 'closed'): Promise<void>
}

export type Replacement = {
  readonly record: KeptRecord
  readonly hash: string
  /** A mined one counts, whatever the service says of it. */
  readonly isMined: boolean
}

/** One order or one account with code may take one of so many parts of a chain's budget of an hour. */
const allowanceParts = 10n

/**
 * The budgets that gas of a record is taken from: that of its kind, and the allowance of whoever shares one.
 * @param sharer an order whose refunds are not paid for, or an account with code that signed a permit
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

/** Each kind has a budget that whoever causes the others cannot reach. @source docs/specification/protocol.md P-53 */
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
