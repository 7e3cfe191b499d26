import type { DepositFacts, Hex, InBlock, PaymentFacts, PaymentQuestion } from '@causeway/core'
import type { QuoteChain } from '@causeway/core/config'
import type { ChainClient } from '@causeway/rpc'
import type { Payment } from './addressPayments.ts'
import type { HubEntries } from './hubEntries.ts'
import type { ListedChain } from './listedPayers.ts'
import type { FinalMark } from './payingChain.ts'
import type { RegisteredChain } from './registeredChain.ts'

/** A block by its height. `hash` only serves to see whether two readings found the same block there. */
export type BlockRef = { readonly number: bigint; readonly hash: string }

/** A range of blocks, both ends included. `known`: the height whose hash shows whether blocks below were replaced. */
export type PassRange = { readonly from: bigint; readonly to: bigint; readonly known: bigint }

/** Numbers of blocks by which a chain is scanned. */
export type ScanSteps = {
  /** Most blocks of one scan. */
  readonly rangeBlocks: bigint
  /** Blocks that are scanned again after a reorg. */
  readonly rewindBlocks: bigint
  /** Newest blocks whose logs nodes may list late; 0 if blocks are read whole, or every scan lists the newest again. */
  readonly lateBlocks: bigint
}

/** Result of one scan of a range of blocks for deposits. */
export type SettlingPass = {
  /** Current block at the height where the previous scan ended: another hash shows a reorg. */
  readonly known: BlockRef | undefined
  /** The last block of the range; undefined if endpoints do not have it yet: the range is scanned again. */
  readonly last: BlockRef | undefined
  /**
   * Ids of transactions that may hold deposits, each once, in chain order, as the family's codec spells them.
   * On exchanges also some from before the range.
   */
  readonly transactions: readonly string[]
  /** Swaps that the deposit router logged. Anybody can have it log any request id. Absent if users cannot swap. */
  readonly paidSwaps?: readonly { readonly requestId: Hex; readonly txHash: Hex }[]
  /**
   * True if transactions of the range, of any part of it, are left out for now. Watchers need not care, as
   * later scans of any range add them; who reads a range only once asks for it again.
   */
  readonly isShort?: boolean
}

/**
 * The newest block that a quorum has, with the scan that ends there; `pass` is undefined if endpoints show different
 * ones, as they do while a block spreads.
 */
export type NewestPass = { readonly head: bigint; readonly pass: SettlingPass | undefined }

/** Event of the deposit router about one swap that it paid out. Accounts and currencies in lower case. */
export type PaidSwap = {
  /** Chosen by the sender, so anybody can use any id. */
  readonly requestId: Hex
  readonly recipient: Hex
  readonly tokenIn: Hex
  readonly amountIn: bigint
  readonly tokenOut: Hex
  readonly amountOut: bigint
}

/** A transaction in a block, of any depth. */
export type MinedTransaction = {
  readonly hash: string
  readonly blockNumber: bigint
  readonly succeeded: boolean
  readonly from: Hex
  /** Absent where it creates a contract. */
  readonly to: Hex | undefined
  readonly input: Hex
  readonly valueWei: bigint
  /** Swaps of the transaction that the deposit router logged as paid, whoever sent them. */
  readonly paidSwaps: readonly PaidSwap[]
}

/** An id that a fill contract recorded as paid. */
export type PaidId = { readonly id: Hex; readonly transactionId: string }

/** Current state of a payment's transaction, by quorum, in a block of any depth. */
export type PaymentReading =
  | { readonly state: 'missing' }
  /** Failed in a block; `isFinal`: no reorganization can undo that. */
  | { readonly state: 'reverted'; readonly isFinal: boolean }
  /** `confirmations`: 1 in the newest block. */
  | { readonly state: 'included'; readonly facts: InBlock<PaymentFacts>; readonly confirmations: number }

/** All payments in a range of blocks; the caller picks those to addresses that it watches. */
export type AddressPayments = Pick<SettlingPass, 'known' | 'last'> & {
  readonly payments: readonly Payment[]
  /** Addresses in transactions' calldata, each once: a contract may have paid them, so their balances must be read. */
  readonly named: readonly string[]
}

/** A range of blocks that is scanned for payments. */
export type PaymentRange = PassRange & {
  /** First block whose token transfers are listed; it may be below `from`, since nodes list logs late. */
  readonly transfersFrom: bigint
}

/** A currency of the chain, in canonical spelling. */
export type AddressedCurrency = { readonly address: string; readonly tokenProgram?: string | undefined }

/** Currencies whose balances at deposit addresses are read, and the height of the state that is read. */
export type AddressQuestion = {
  readonly currencies: readonly AddressedCurrency[]
  /** Without effect in families whose nodes keep no old states. */
  readonly height: bigint
}

/** A transfer to a deposit address; `amount` in smallest units. */
export type AddressTransfer = {
  readonly transactionId: string
  readonly amount: bigint
  readonly from: string | undefined
}

/** Reads payments to deposit addresses, and their balances, by quorum. */
export interface AddressReading {
  /** True if money must be final before it is swept; the caller then asks at a final height. */
  readonly needsFinal: boolean
  /** Absent if payments cannot be found in blocks, so that addresses are only checked in turn by their balances. */
  readonly blocks?: {
    readonly steps: ScanSteps & {
      /** Blocks before the newest with which the first scan of a chain begins. */
      readonly firstBlocks: bigint
    }
    /** True if blocks show every payment, so that balances need not be checked in turn. */
    readonly showsAll: boolean
    payments(range: PaymentRange, signal: AbortSignal): Promise<AddressPayments>
  }
  /**
   * Balances that can be swept, in smallest units by currency, in the order of `addresses`; balances of 0 are left out.
   * Undefined for an address that no endpoint answers for, e.g. because of too many outputs; the others are still read.
   */
  held(
    addresses: readonly string[],
    question: AddressQuestion,
    signal: AbortSignal,
  ): Promise<readonly (ReadonlyMap<string, bigint> | undefined)[]>
  /**
   * Accounts that paid an address. `reading` if there is more history than one call may read, so that the next call
   * continues; undefined if they cannot be known. Absent if `blocks.payments` shows them.
   */
  payers?(
    address: string,
    question: AddressQuestion,
    signal: AbortSignal,
  ): Promise<readonly string[] | 'reading' | undefined>
  /**
   * The largest transfer of a currency to an address since it last held none. `from` is set if a single account made
   * it. Undefined if it cannot be known. Absent if `blocks.payments` shows it.
   */
  transfer?(
    address: string,
    question: Pick<AddressQuestion, 'height'> & { readonly currency: AddressedCurrency },
    signal: AbortSignal,
  ): Promise<AddressTransfer | undefined>
}

/**
 * Readings by which quote-api's settlement follows a chain, whatever its family. Each is by quorum, because money is
 * moved by it. All throw UpstreamUnavailableError and UpstreamDisagreementError.
 */
export interface SettlingChain {
  /** Absent: the caller's usual numbers. */
  readonly steps?: ScanSteps | undefined
  /** Newest block that a quorum has. */
  head(signal: AbortSignal): Promise<bigint>
  /** Newest block that no reorganization takes back. */
  finalHeight(signal: AbortSignal): Promise<bigint>
  /** Timestamp of the block at `finalHeight`, Unix seconds. */
  finalSeconds(signal: AbortSignal): Promise<number>
  /** Unix seconds of the newest block that a quorum has; absent: `finalSeconds` is used. */
  headSeconds?(signal: AbortSignal): Promise<number>
  /** Newest block that the chain itself calls final; absent if `finalHeight` is that block. */
  taggedHeight?(signal: AbortSignal): Promise<bigint>
  /** Scans a range of blocks for deposits. `known`: the last block of the previous scan. */
  depositPass(range: PassRange, signal: AbortSignal): Promise<SettlingPass>
  /**
   * `head` and a scan up to it in one round of requests, for watchers that have read up to the head before. Absent where
   * the two are asked one after the other.
   */
  newestPass?(range: Pick<PassRange, 'from' | 'known'>, signal: AbortSignal): Promise<NewestPass>
  /** All transactions of one block; present if nodes may refuse `depositPass` because a block has too many logs. */
  blockTransactions?(
    height: bigint,
    signal: AbortSignal,
  ): Promise<Pick<SettlingPass, 'last' | 'transactions'>>
  /** Hashes of blocks by height; heights that the chain does not reach are missing. */
  blockHashes(heights: readonly bigint[], signal: AbortSignal): Promise<ReadonlyMap<bigint, string>>
  /**
   * Deposits of one transaction; `undefined` if it left the chain or failed. @throws TransactionTooLargeError,
   * TransactionUnreadableError (see `putAsideReason`)
   */
  deposits(transactionId: string, signal: AbortSignal): Promise<InBlock<DepositFacts> | undefined>
  /**
   * Accounts that the deposits' money came from, who may differ from the named depositors; `undefined` while the
   * transaction is in no block. Absent if depositors always are the senders.
   */
  senders?(transactionId: string, signal: AbortSignal): Promise<readonly string[] | undefined>
  /** A user's own transaction; `undefined` while it is in no block. Absent if such transactions cannot be recognised. */
  transaction?(transactionId: string, signal: AbortSignal): Promise<MinedTransaction | undefined>
  /** Payment in a block of any depth. */
  payment(question: PaymentQuestion, signal: AbortSignal): Promise<PaymentReading>
  /**
   * Payment under the chain's own rule of finality; `undefined` if the transaction left the chain, failed, or
   * cannot be read or attributed. @throws TransactionNotFinalError
   */
  finalPayment(question: PaymentQuestion, signal: AbortSignal): Promise<InBlock<PaymentFacts> | undefined>
  /**
   * True if the fill contract has recorded an id as paid by the solver's fill wallet, in the newest block of enough
   * endpoints. Absent if no contract records payments, or the wallet is not known.
   * @param fillContract the one that the order names; the chain's own may be a newer one
   */
  isPaid?(id: Hex, signal: AbortSignal, fillContract?: Hex): Promise<boolean>
  /** Payments of the fill wallet that fill contracts logged in a range of blocks; absent if there are none. */
  paidIds?(
    range: { readonly from: bigint; readonly to: bigint },
    signal: AbortSignal,
  ): Promise<readonly PaidId[]>
  /** State of a fill wallet's payment id at a final block. Absent if nothing on the chain records payments. */
  finalMark?(payer: FinalPayer, id: Hex, signal: AbortSignal): Promise<FinalMark>
  /**
   * Fee of a final transaction, in smallest units of the native currency, from one endpoint: for statistics.
   * `undefined` while there is no such transaction.
   */
  feePaid(transactionId: string, signal: AbortSignal): Promise<bigint | undefined>
  /** Absent if the chain has no deposit addresses. */
  readonly addresses?: AddressReading
}

/** Called for an endpoint with a malformed answer. */
export type OnMalformed = (alias: string) => void

/** A fill wallet, and the contract that records its payments, in families with one. */
export type FinalPayer = { readonly address: string; readonly fillContract?: Hex | undefined }

/**
 * Makes a chain's readings for settlement, over the client's connections. A member of a family's line in
 * `chainFamilies`.
 * @throws ConfigurationError if the chain has no depository
 */
export type SettlingChainFamily = (options: {
  readonly chain: ListedChain &
    Partial<Pick<RegisteredChain, 'additionalData' | 'finality' | 'network' | 'rpcThreshold'>>
  readonly client: ChainClient
  /** The chain in the quote file; currencies in canonical spelling. */
  readonly quoted: {
    readonly config: Pick<QuoteChain, 'blockTimeMs' | 'depositRouter' | 'fillContract' | 'multicall3'>
    readonly currencies: readonly AddressedCurrency[]
  }
  /** Reader of the hub's statements about transfers, for chains whose transfers name no order. */
  readonly hubEntries?: HubEntries | undefined
  /** The solver's fill wallet on the chain. */
  readonly payer?: FinalPayer | undefined
  /** True for the runtime code of a fill contract of ours: only its records prove payments. */
  readonly recordsPayments?: ((code: Hex) => boolean) | undefined
  readonly onMalformed?: OnMalformed | undefined
}) => SettlingChain
