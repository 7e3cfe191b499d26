import type { VmType } from '../encodings/codecs.ts'
import type { Hex } from '../hex.ts'

/**
 * Facts are what a chain proves, without judgement: readers produce them, pure rules compare them
 * with a request. Addresses and currencies are in the family's canonical spelling, amounts in the
 * currency's smallest unit.
 */

/** Source of a fact, and why it counts as final. Answers show it, signatures do not cover it. */
export type Evidence = {
  readonly chainId: string
  /** Block of the fact. Hash and number are absent where the family has no blocks that could be replaced. */
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

/** Why a withdrawal stays pending although it looks over: its signed action could still be sent, and would execute. */
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
  /** Depositories whose money the withdrawal pays out; absent where that is `depository` alone. */
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
  /** Received from accounts that are not the solver's side: it counts as no payment. */
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
  /** Id that a fill contract recorded, where its record is the proof: the transaction pays only what has this id. */
  readonly recordId?: Hex
  /** Why the record of a fill contract proves nothing, in one word; absent: nothing is wrong with it. */
  readonly recordProblem?: string
  /** Fill contract that the extra data names and the transaction ran, but no configuration lists: it proves nothing. */
  readonly unlistedFillContract?: string
  readonly evidence: Evidence
}

export type DepositQuestion = { readonly transactionId: string }
/** `withdrawal`: as the family encodes it. `transactionId`: the caller's word for what executed it, to be proven. */
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
  /** Places where a reader may look first, by family. They come from the caller and prove nothing. */
  readonly hints?: Readonly<Record<string, unknown>>
}
/** A withdrawal that an owner asks for, before the allocator issued anything. */
export type WithdrawRequestQuestion = {
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
 * A withdrawal request that the family can execute, spelled as its allocator expects it: members of the
 * `WithdrawRequest` that oracles sign. @source rules P-69, P-89
 */
export type WithdrawRequestFacts = {
  readonly kind: 'withdraw-request'
  readonly depository: string
  readonly currency: string
  readonly recipient: string
  readonly data: Hex
  /** Absent in families that check a request by its text alone and read nothing of the chain. */
  readonly evidence?: Evidence
}

/** A block that nothing may replace any more. */
export type FinalBlock = { readonly number: bigint; readonly hash: string }

/**
 * Reads a chain's final blocks for the oracle's watch, which halts the chain when a block that was final was replaced
 * or is gone. All methods throw a `DomainError` when the quorum is not reached.
 * @source rule P-95
 */
export interface FinalBlocks {
  /** The newest block that the chain's finality rule calls final. */
  readNewest(options: ReadOptions): Promise<FinalBlock>
  /** Hash of the block that stands at `number` now; `undefined` when the chain has none there. */
  readHash(number: bigint, options: ReadOptions): Promise<string | undefined>
  /**
   * Blocks as they stand now, oldest first, from `from` (or the chain's head, if that is lower) up to the newest final
   * one. Few blocks are all read, each checked to be the parent of the next. Of many only the first, the noted ones
   * and the newest are read. Blocks beyond the most that one reading takes wait for the next one. Never empty. Absent
   * where the family's blocks are not read with their parents.
   * @param options.noted heights above `from` that must be read, ascending
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
  /** The last block that was scanned; the next scan begins behind it. */
  readonly through: bigint
  /** False where more final blocks wait. */
  readonly isComplete: boolean
  /** Transactions that touch the depository; `readDeposits` tells what each deposited. */
  readonly deposits: readonly string[]
  /** Transactions in which a payer of orders took part; `readPayment` tells what each paid. */
  readonly payments: readonly string[]
}

/** Scans final blocks for transactions that callers are about to ask for, so that their facts are ready. */
export interface AheadReader {
  scan(start: ScanStart, options: ReadOptions): Promise<FinalBlockScan>
  /** Reads a payment's transaction into the cache: `readPayment` then asks no endpoint, for whichever order. */
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
  /** Absent where a family's blocks cannot be scanned. */
  readonly ahead?: AheadReader
  /** EVM address of the key that signs for an account. Only in families whose accounts do not name their key. */
  readOwnerKey?(account: string, options: ReadOptions): Promise<Hex>
  /**
   * Evidence that the code of an account accepted a signature (ERC-1271); `undefined` where it did not, or
   * there is no code. Absent in families whose accounts have no code that signs.
   */
  readCodeSignature?(question: CodeSignatureQuestion, options: ReadOptions): Promise<Evidence | undefined>
}
