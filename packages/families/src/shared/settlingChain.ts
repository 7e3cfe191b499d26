import type { DepositFacts, Hex, InBlock, PaymentFacts, PaymentQuestion } from '@causeway/core'
import type { QuoteChain } from '@causeway/core/config'
import type { ChainClient } from '@causeway/rpc'
import type { Payment } from './addressPayments.ts'
import type { HubEntries } from './hubEntries.ts'
import type { ListedChain } from './listedPayers.ts'
import type { FinalMark } from './payingChain.ts'
import type { RegisteredChain } from './registeredChain.ts'

/** A block by its place. `hash` only tells whether two readings saw the same one there. */
export type BlockMark = { readonly number: bigint; readonly hash: string }

/** One look at a range of blocks. */
export type SettlingPass = {
  /** The last block that was read before, as it stands now. */
  readonly known: BlockMark | undefined
  /** The last block of the range. */
  readonly last: BlockMark | undefined
  /** Transactions that may hold deposits, each once, in chain order, as the family's codec spells them. */
  readonly transactions: readonly string[]
  /** Requests that a router names in events, which anybody can make; absent where no contract swaps for users. */
  readonly paidSwaps?: readonly { readonly requestId: Hex; readonly txHash: Hex }[]
  /** Later looks list the rest of the range. */
  readonly isShort?: boolean
}

/** Event of the deposit router about one swap that it paid out. Accounts and currencies in lower case. */
export type PaidSwap = {
  /** Anybody can name any. */
  readonly requestId: Hex
  readonly recipient: Hex
  readonly tokenIn: Hex
  readonly amountIn: bigint
  readonly tokenOut: Hex
  readonly amountOut: bigint
}

/** A transaction in a block, at whatever depth. */
export type MinedTransaction = {
  readonly hash: string
  readonly blockNumber: bigint
  readonly succeeded: boolean
  readonly from: Hex
  /** Absent where it creates a contract. */
  readonly to: Hex | undefined
  readonly input: Hex
  readonly valueWei: bigint
  /** Swaps that the deposit router reports as paid in it, for any sender. */
  readonly paidSwaps: readonly PaidSwap[]
}

/** An id that a fill contract recorded as paid. */
export type PaidId = { readonly id: Hex; readonly transactionId: string }

/** A payment as the chain shows it now, by quorum and at whatever depth. */
export type PaymentReading =
  | { readonly state: 'missing' }
  /** In a block, and failed; `isFinal`: no reorganization can make a success of it. */
  | { readonly state: 'reverted'; readonly isFinal: boolean }
  /** `confirmations`: 1 in the newest block. */
  | { readonly state: 'included'; readonly facts: InBlock<PaymentFacts>; readonly confirmations: number }

/** Payments of a range of blocks, whichever addresses are watched. */
export type AddressPayments = Pick<SettlingPass, 'known' | 'last'> & {
  readonly payments: readonly Payment[]
  /** Addresses that transactions name without a payment of their own; each once. */
  readonly named: readonly string[]
}

/** `known`: height whose hash tells whether the chain below was reorganized. */
export type PaymentRange = PassRange & {
  /** First block whose transfers of tokens are listed. */
  readonly transfersFrom: bigint
}

/** A currency of the chain, in canonical spelling. */
export type AddressedCurrency = { readonly address: string; readonly tokenProgram?: string | undefined }

/** Candidate deposits at addresses from blocks up to a height, in families that can look back. */
export type AddressQuestion = { readonly currencies: readonly AddressedCurrency[]; readonly height: bigint }

/** `amount` in smallest units. */
export type AddressTransfer = {
  readonly transactionId: string
  readonly amount: bigint
  readonly from: string | undefined
}

/** Readings of deposit addresses in families that make them without contracts, by quorum as all else. */
export interface AddressReading {
  /** Nothing is swept before it is final. */
  readonly needsFinal: boolean
  /** Absent where blocks show no payments, and addresses are looked at in turn. */
  readonly blocks?: {
    /** Blocks of one answer, read again after a reorganization, of the first look, and those listed late. */
    readonly steps: Readonly<Record<'rangeBlocks' | 'rewindBlocks' | 'firstBlocks' | 'lateBlocks', bigint>>
    /** Every payment is one to its address: nobody looks at others in turn. */
    readonly showsAll: boolean
    payments(range: PaymentRange, signal: AbortSignal): Promise<AddressPayments>
  }
  /**
   * Smallest units that can be swept, by currency, in the order of `addresses`; nothing of a currency is left out.
   * Undefined of an address of which nobody answers, where of others somebody does: many outputs at one hide no other.
   */
  held(
    addresses: readonly string[],
    question: AddressQuestion,
    signal: AbortSignal,
  ): Promise<readonly (ReadonlyMap<string, bigint> | undefined)[]>
  /**
   * Accounts that brought it; `reading` where there is more to read than one look may, so that the next one goes on;
   * undefined where nobody can say. Absent where `payments` tells it.
   */
  payers?(
    address: string,
    question: AddressQuestion,
    signal: AbortSignal,
  ): Promise<readonly string[] | 'reading' | undefined>
  /**
   * The transaction that brought most of a currency since the address held none of it, and `from` where one account alone
   * made it; undefined where nobody can say. Absent where `payments` tells it.
   */
  transfer?(
    address: string,
    question: Pick<AddressQuestion, 'height'> & { readonly currency: AddressedCurrency },
    signal: AbortSignal,
  ): Promise<AddressTransfer | undefined>
}

/**
 * Settlement's readings of a chain, whatever its family. Every reading is by quorum, because money moves on it. All of
 * them throw UpstreamUnavailableError and UpstreamDisagreementError.
 */
export interface SettlingChain {
  /**
   * Blocks of one look, blocks read again after a reorganization, and newest blocks that may still be listed
   * late: zero where a block is read whole, or every look lists younger ones again. Absent where blocks are
   * small enough for the usual numbers.
   */
  readonly steps?: Readonly<Record<'rangeBlocks' | 'rewindBlocks' | 'lateBlocks', bigint>> | undefined
  /** Newest block that a quorum has. */
  head(signal: AbortSignal): Promise<bigint>
  /** Newest block that no reorganization takes back. */
  finalHeight(signal: AbortSignal): Promise<bigint>
  /** When that block was made, Unix seconds. */
  finalSeconds(signal: AbortSignal): Promise<number>
  /** Unix seconds of the newest block that a quorum has; absent: the newest final one counts. */
  headSeconds?(signal: AbortSignal): Promise<number>
  /** Newest block that the chain itself calls final; absent if `finalHeight` is that block. */
  taggedHeight?(signal: AbortSignal): Promise<bigint>
  /** Changes between two blocks that may hold deposits. `known`: the block that was read last. */
  depositPass(range: PassRange, signal: AbortSignal): Promise<SettlingPass>
  /** All transactions of one block, where `depositPass` can be refused for what stands in it. */
  blockTransactions?(
    height: bigint,
    signal: AbortSignal,
  ): Promise<Pick<SettlingPass, 'last' | 'transactions'>>
  /** Hashes of blocks by height; heights that the chain does not reach are missing. */
  blockHashes(heights: readonly bigint[], signal: AbortSignal): Promise<ReadonlyMap<bigint, string>>
  /**
   * Deposits of one transaction; `undefined` when it left the chain or failed. @throws TransactionTooLargeError,
   * TransactionUnreadableError: what `putAsideReason` tells
   */
  deposits(transactionId: string, signal: AbortSignal): Promise<InBlock<DepositFacts> | undefined>
  /**
   * Accounts that brought the deposits of a transaction, beside the named depositors; `undefined` while it is in no
   * block. Absent where depositors are always the senders.
   */
  senders?(transactionId: string, signal: AbortSignal): Promise<readonly string[] | undefined>
  /** `undefined` while it is in no block. Absent where users execute nothing that is told apart. */
  transaction?(transactionId: string, signal: AbortSignal): Promise<MinedTransaction | undefined>
  payment(question: PaymentQuestion, signal: AbortSignal): Promise<PaymentReading>
  /** Payment under the chain's own rule of finality. @throws TransactionNotFinalError */
  finalPayment(question: PaymentQuestion, signal: AbortSignal): Promise<InBlock<PaymentFacts> | undefined>
  /**
   * True if the record of the solver's fill wallet has an id as paid, as enough endpoints report at their newest block.
   * Absent if nothing records payments, or the wallet is not known.
   * @param fillContract that the order names, because the chain may have replaced it
   */
  isPaid?(id: Hex, signal: AbortSignal, fillContract?: Hex): Promise<boolean>
  /** Payments of the fill wallet in some blocks, as its fill contracts list them; absent where none does. */
  paidIds?(
    range: { readonly from: bigint; readonly to: bigint },
    signal: AbortSignal,
  ): Promise<readonly PaidId[]>
  /** Record of an id by a fill wallet, at a final block. Absent where nothing records payments. */
  finalMark?(payer: FinalPayer, id: Hex, signal: AbortSignal): Promise<FinalMark>
  /**
   * Fee of a final transaction, in smallest units of the native currency, from one endpoint: for statistics.
   * `undefined` while there is no such transaction.
   */
  feePaid(transactionId: string, signal: AbortSignal): Promise<bigint | undefined>
  /** Absent where nobody makes deposit addresses. */
  readonly addresses?: AddressReading
}

/** Called for an endpoint with a malformed answer. */
export type OnMalformed = (alias: string) => void

/** Fill wallet, and its contract, whose record is read. */
export type FinalPayer = { readonly address: string; readonly fillContract?: Hex | undefined }

/** Both ends belong to it. */
export type PassRange = { readonly from: bigint; readonly to: bigint; readonly known: bigint }

/**
 * Opens no connection beside the client's. A member of a family's line in `chainFamilies`.
 * @throws ConfigurationError when the chain has no depository
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
  /** Purposes of transfers as the hub records them, for chains whose transfers name no order. */
  readonly hubEntries?: HubEntries | undefined
  /** The solver's fill wallet there, and what records its payments where a contract does. */
  readonly payer?: FinalPayer | undefined
  /** As of `FamilyLimits`. */
  readonly recordsPayments?: ((code: Hex) => boolean) | undefined
  readonly onMalformed?: OnMalformed | undefined
}) => SettlingChain
