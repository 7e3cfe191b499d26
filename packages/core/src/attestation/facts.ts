import type { VmType } from '../encodings/codecs.ts'
import type { Hex } from '../hex.ts'
import type { Order } from '../order/order.ts'

/**
 * Facts are what a chain proves, without judgement: readers produce them, pure rules compare them
 * with a request. Addresses and currencies are in the family's canonical spelling, amounts in the
 * currency's smallest unit.
 */

/** Source of a fact, and the reason why it counts as final. Not part of the signed data. @source design.md 7.9 */
export type Evidence = {
  readonly chainId: string
  /** Absent, like the number, where the family has no blocks that could be replaced. */
  readonly blockHash?: string
  readonly blockNumber?: bigint
  readonly finalityRule: string
  /** Public aliases (never URLs) of the endpoints that gave the same answer. */
  readonly agreeingEndpoints: readonly string[]
}

/** Facts of a family that has blocks. */
export type InBlock<Facts extends { readonly evidence: Evidence }> = Facts & {
  readonly evidence: Required<Evidence>
}

/** One deposit seen in a final transaction. */
export type DepositFact = {
  /** Position that tells deposits of one transaction apart, per family. @source rule P-127 */
  readonly onchainIndex: string
  readonly depository: string
  /** 32 bytes; all zero when the deposit names no order. */
  readonly depositId: Hex
  readonly depositor: string
  readonly currency: string
  readonly amount: bigint
}

export type DepositFacts = {
  readonly kind: 'deposits'
  readonly transactionId: string
  readonly blockTimestampSeconds: bigint
  /** In on-chain order; empty when the final transaction holds no deposit. */
  readonly deposits: readonly DepositFact[]
  readonly evidence: Evidence
}

export const withdrawalStatuses = ['pending', 'executed', 'expired'] as const
export type WithdrawalStatus = (typeof withdrawalStatuses)[number]

/**
 * Why a withdrawal is pending although it looks over: the venue would still take the action, signed as it is.
 */
export const pendingReasons = ['ACTION_CAN_BE_SENT_AGAIN'] as const
export type PendingReason = (typeof pendingReasons)[number]

export type WithdrawalFacts = {
  readonly kind: 'withdrawal'
  readonly withdrawalId: Hex
  readonly depository: string
  readonly status: WithdrawalStatus
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
  /** Depositories that the withdrawal takes from, where that may be others than `depository`. */
  readonly payingDepositories?: readonly string[]
  /** The transaction proven to execute the withdrawal; absent unless `executed` and named or found. */
  readonly executingTransactionId?: string
  readonly pendingReason?: PendingReason
  readonly evidence: Evidence
}

/** Payment of a final transaction to one recipient in one currency. @source rules P-41 to P-43 */
export type TransferFact = {
  readonly recipient: string
  readonly currency: string
  /** Paid to the recipient by the solver's side, as far as it is proven. */
  readonly amount: bigint
  /** Amount that others moved to the recipient, which pays nothing. */
  readonly fromOthers?: bigint
}

/** One call that the fill contract proves to have executed. */
export type ExecutedCallFact = { readonly to: string; readonly data: Hex; readonly value: bigint }

/** Payments of one final transaction, read once however many payments the order has. */
export type PaymentFacts = {
  readonly kind: 'payment'
  readonly transactionId: string
  readonly blockTimestampSeconds: bigint
  /** True when the transaction carries the order id in the way its family demands, and no other one. */
  readonly referencesOrder: boolean
  readonly transfers: readonly TransferFact[]
  /** In on-chain order; `undefined` where the family cannot prove calls. */
  readonly calls?: readonly ExecutedCallFact[]
  /** The id that a fill contract recorded, where its record is the proof: it pays what has this id and nothing else. */
  readonly recordId?: Hex
  /** Why the record of a fill contract proves nothing, in one word. */
  readonly recordProblem?: string
  /** The fill contract that the extra data names and the transaction ran, where no list holds it: it proves nothing. */
  readonly unlistedFillContract?: string
  readonly evidence: Evidence
}

export type DepositQuestion = { readonly transactionId: string }
export type WithdrawalQuestion = { readonly withdrawal: Hex; readonly transactionId?: string }
export type PaymentQuestion = {
  readonly transactionId: string
  readonly orderId: Hex
  /** The order's (or refund's) extra data: names the fill contract where the family has one. */
  readonly extraData: Hex
  /** Calls of the order, as the order encodes them; none of a refund or a claim. */
  readonly calls?: readonly Hex[]
  /** All payments of the order, refund or claim on the chain; the answer sums transfers per (recipient, currency). */
  readonly payments: readonly { readonly recipient: string; readonly currency: string }[]
  readonly hints?: Readonly<Record<string, unknown>>
}
export type WithdrawRequestQuestion = {
  readonly order?: Order
  readonly depository: string
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
  readonly nonce: string
  readonly additionalData?: Readonly<Record<string, unknown>>
}

/** Signature and digest that an account's code is asked to accept. */
export type CodeSignatureQuestion = {
  readonly account: string
  /** 32 bytes. */
  readonly digest: Uint8Array
  readonly signature: Hex
}

/**
 * A withdrawal request that the family finds executable, spelled as its allocator expects it: the
 * members of the payload parameters. @source oracle-protocol.md 3.5
 */
export type WithdrawRequestFacts = {
  readonly kind: 'withdraw-request'
  readonly depository: string
  readonly currency: string
  readonly recipient: string
  readonly data: Hex
  readonly evidence?: Evidence
}

/** A block that nothing may replace any more. */
export type FinalBlock = { readonly number: bigint; readonly hash: string }

/**
 * Watch over a chain's final blocks: one that was final and is another block now, or is gone, halts the chain. Both
 * methods throw a `DomainError` when the quorum is not reached.
 * @source rule P-95
 */
export interface FinalBlocks {
  /** The newest block that the chain's finality rule calls final. */
  readNewest(options: ReadOptions): Promise<FinalBlock>
  /** Hash of the block that stands at `number` now; `undefined` when the chain has none there. */
  readHash(number: bigint, options: ReadOptions): Promise<string | undefined>
  /**
   * Blocks as they stand now, oldest first: from `from`, or where the chain ends when that is lower, up to the newest
   * final one, or as many as one reading may hold. Of few each is the parent of the next; of many only the noted ones
   * and the newest are read, and after them the first. Never empty. Absent where blocks are not read with their parents.
   * @param options.noted heights above `from` that none may hide, ascending
   */
  readLinks?(
    from: bigint,
    options: ReadOptions & { readonly noted: readonly bigint[] },
  ): Promise<readonly FinalBlock[]>
}

export type ReadOptions = { readonly signal: AbortSignal }

/** Start of a scan through final blocks: behind a block, or this many minutes before the newest of them. */
export type ScanStart = { readonly after: bigint } | { readonly minutes: number }

/** Settlement data of final blocks. Ids are canonical, in the order of the chain, each once in its list. */
export type FinalBlockScan = {
  /** The last block that was looked through; the next look goes on behind it. */
  readonly through: bigint
  /** False where more final blocks wait. */
  readonly isComplete: boolean
  /** Transactions with something for the depository. What each holds is for `readDeposits` to say. */
  readonly deposits: readonly string[]
  /** Transactions in which something that pays orders took part. What each paid is for `readPayment` to say. */
  readonly payments: readonly string[]
}

/** Finds what will be asked for before it is. */
export interface AheadReader {
  scan(start: ScanStart, options: ReadOptions): Promise<FinalBlockScan>
  /** Reads a transaction as a payment, so that `readPayment` asks nobody whatever order it is asked for. */
  rememberPayment(transactionId: string, options: ReadOptions): Promise<void>
}

/**
 * Read-only view of one configured chain, one implementation per VM family; adding a family adds
 * two folders and one registry line and changes no caller.
 *
 * Implementations return only what the configured quorum of endpoints proves at one height, honour
 * `signal`, throw a `DomainError` for every expected failure (transaction missing, reverted, not
 * final; endpoints silent or contradicting), and never log or return an endpoint URL.
 */
export interface FactsReader {
  /** String id of the chain in the configuration, e.g. `base`. */
  readonly chainId: string
  readonly vmType: VmType
  /** Absent where the family has no blocks that could be replaced. */
  readonly finalBlocks?: FinalBlocks
  readDeposits(question: DepositQuestion, options: ReadOptions): Promise<DepositFacts>
  readWithdrawal(question: WithdrawalQuestion, options: ReadOptions): Promise<WithdrawalFacts>
  /** Fills and refunds alike: both are payments that reference an order. */
  readPayment(question: PaymentQuestion, options: ReadOptions): Promise<PaymentFacts>
  readWithdrawRequest(question: WithdrawRequestQuestion, options: ReadOptions): Promise<WithdrawRequestFacts>
  /** Absent where a family's blocks cannot be looked through at once. */
  readonly ahead?: AheadReader
  /**
   * EVM address of the key that signs for an account. Only families have it whose accounts do not name
   * their key.
   */
  readOwnerKey?(account: string, options: ReadOptions): Promise<Hex>
  /**
   * Evidence that the code of an account accepted a signature (ERC-1271); `undefined` where it did not, or
   * there is no code. Absent in families whose accounts have no code that signs.
   */
  readCodeSignature?(question: CodeSignatureQuestion, options: ReadOptions): Promise<Evidence | undefined>
}
