import type { FinalBlocks, Hex, Signer, UpstreamUnavailableError } from '@causeway/core'
import type { ChainClient } from '@causeway/rpc'
import type { FinalMark } from '../../shared/payingChain.ts'
import type { GasBid } from '../rules/paying/gasBids.ts'
import type { GasLimits, Trial } from './tryTransaction.ts'

/** A transaction before it has a nonce. */
export type PlannedTransaction = {
  readonly to: Hex
  readonly data: Hex
  readonly valueWei: bigint
  /** EIP-7702; absent: a plain transaction. */
  readonly authorizationList?: readonly Authorization[] | undefined
}

/** Signed permission of an account to run the code of `address`. @source EIP-7702 */
export type Authorization = {
  readonly chainId: number
  readonly address: Hex
  readonly nonce: number
  readonly yParity: number
  readonly r: Hex
  readonly s: Hex
}

/** A planned transaction with all that a signature needs beside its bid. */
export type UnsignedTransaction = PlannedTransaction & { readonly nonce: number; readonly gas: bigint }

/** A signed transaction of one nonce, with the bid that a replacement has to exceed. */
export type SignedTransaction = GasBid & {
  readonly raw: Hex
  readonly hash: string
  /** Milliseconds since the epoch. */
  readonly signedAtMs: number
}

/** Receipt of a transaction of the fill wallet, as enough endpoints show it. */
export type MinedReceipt = {
  readonly hash: Hex
  readonly succeeded: boolean
  readonly isFinal: boolean
  /** Gas used at the price paid, with the data fee where the receipt names one. */
  readonly costWei: bigint
}

/** Progress of a chain and of the fill wallet's nonces, each as enough hosts say. */
export type NonceCounts = {
  /** Nonces below this number are used in the newest block. */
  readonly latestCount: number
  /** Nonces below this number are used in the newest final block: for good. */
  readonly finalCount: number
  /** Number of that final block. */
  readonly finalBlock: bigint
  /** Unix seconds of the newest block. */
  readonly chainTime: number
}

/**
 * The contracts that orders of a chain may be paid through, its own first. Replaced ones count where their code is one
 * that this release knows, because any other might pay twice, or keep no record.
 * @throws DomainError where endpoints are silent or contradict each other about a code
 */
export type FillContracts = () => Promise<readonly [Hex, ...Hex[]]>

/**
 * A chain on which transactions have nonces and a fill contract pays, and records what it paid. It asks, signs and
 * sends as one fill wallet, and keeps nothing.
 */
export interface ContractPayingChain {
  /** As the chain itself numbers it. */
  readonly chainId: number
  /** Address of the fill wallet, in lower case. */
  readonly address: Hex
  readonly fillContracts: FillContracts
  /** @throws DomainError where too few endpoints answer */
  counts(): Promise<NonceCounts>
  /**
   * The mined transaction of one nonce, by agreement of endpoints: one that does its work, or else a
   * cancellation; both are undefined while neither is mined. `signedOnes`: all that were signed for it.
   * @throws DomainError, NodeError, MalformedAnswerError
   */
  minedOf(
    signedOnes: {
      readonly transactions: readonly SignedTransaction[]
      readonly cancellations: readonly SignedTransaction[]
    },
    counts: Pick<NonceCounts, 'finalBlock'>,
  ): Promise<{
    readonly mined: MinedReceipt | undefined
    readonly cancelled: MinedReceipt | undefined
  }>
  /**
   * State of a payment id of this wallet in all fill contracts, at a final block.
   * @throws DomainError where endpoints are silent or contradict each other; MalformedAnswerError, NodeError
   */
  readFinal(id: Hex): Promise<FinalMark>
  /** As `readFinal`, for another wallet. */
  readFinalOf(filler: Hex, id: Hex): Promise<FinalMark>
  /** True if an account has code now, as enough endpoints say; undefined if they do not. Never rejects. */
  hasCode(account: string): Promise<boolean | undefined>
  /** Has nodes run the transaction as it would be signed at this bid. @throws UpstreamUnavailableError */
  tryOut(transaction: PlannedTransaction, bid: GasBid, limits: GasLimits): Promise<Trial>
  sign(transaction: UnsignedTransaction, bid: GasBid): Promise<SignedTransaction>
  /** Signs a transaction that does nothing, so that nothing else is mined with its nonce. `gas`: its limit. */
  signCancellation(
    nonce: number,
    bid: GasBid,
  ): Promise<{ readonly signed: SignedTransaction; readonly gas: bigint }>
  /**
   * Sends the bytes. Sending them again does no harm: a node that has them already counts as having taken them.
   * @throws NeverTakenError where enough nodes refuse them for good, NodeError where all refuse them now,
   * UpstreamUnavailableError
   */
  broadcast(signed: Pick<SignedTransaction, 'raw'>): Promise<void>
  /** As of the newest block that one endpoint knows. If the balance is lower in truth, the trial fails. */
  balanceOf(currency: string): Promise<bigint>
  /** Amount of a token that `spender` may take from the fill wallet. As of the same block as `balanceOf`. */
  allowanceFor(token: string, spender: Hex): Promise<bigint>
  /** Failure of the submit endpoint in its last use. Absent where there is no such endpoint. */
  readonly submitFailure?: () => UpstreamUnavailableError | undefined
}

/** Options by which a chain is opened for one fill wallet. */
export type ContractPayingOptions = {
  /** As the chain itself numbers it. */
  readonly chainId: number
  readonly client: ChainClient
  /** The only receiver of transactions; absent: `client`. All is read from `client`. @source rule P-55 */
  readonly submit?: ChainClient | undefined
  readonly finalBlocks: FinalBlocks
  /** Signs as the fill wallet. */
  readonly signer: Signer
  /** Contract that pays. */
  readonly fillContract: Hex
  /** Fill contracts that the chains file lists, in lower case: `fillContract`, and those that it replaced. */
  readonly listedFillContracts: readonly Hex[]
  /** True for the runtime code of a fill contract of ours. */
  readonly recordsPayments: (code: Hex) => boolean
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
}

/** Payment access of a family whose chains pay by a fill contract: a member of its entry in `chainFamilies`. */
export type ContractPayingFamily = {
  /** Opens no connection. */
  readonly open: (options: ContractPayingOptions) => ContractPayingChain
  /**
   * Asks a submit endpoint which chain it is of.
   * @param chainId of the chain that it is set for; absent: nothing is compared
   * @returns `fits` also where it answers and names no chain: some endpoints can only send
   */
  readonly askSubmit: (
    submit: Pick<ChainClient, 'askEach'>,
    chainId: number | undefined,
  ) => Promise<'fits' | 'silent' | 'of-another-chain'>
}
