import type { Hex, Secret } from '@causeway/core'
import type { DepositAddress, DepositAddressTerms } from '../../rules/depositAddressing.ts'
import type { NetworkFees } from '../../rules/networkFees.ts'
import type { FinalMark, PaymentState } from '../../shared/payingChain.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import type { LineTransaction, OwnOutput, SweptOutputs } from '../rules/paying/lineTransaction.ts'
import type { LineMark } from '../rules/paying/paymentTag.ts'
import type { OutPoint } from '../rules/transaction.ts'

/** Purpose of one transaction of a line. */
export type LineWork = {
  /**
   * Payment id, and whether the line then records it as paid or as closed. Absent for a transaction that
   * only gathers coins or only spends the current place.
   */
  readonly mark?: { readonly kind: LineMark; readonly id: Hex } | undefined
  /** Order that the payment is attested for; absent if nothing is paid. */
  readonly orderId?: Hex | undefined
  readonly payments: readonly { readonly recipient: string; readonly amount: bigint }[]
  /** Outputs at a deposit address; all of them together make the one payment. */
  readonly swept?: SweptOutputs | undefined
}

/** Inputs of a transaction. `parent`: current end of the line, spent first; `gathered`: other outputs of the wallet. */
export type LineInputs = { readonly parent: OwnOutput; readonly gathered: readonly OwnOutput[] }

/**
 * A wallet's line as enough endpoints report it. A place of the line is the first output of one of its transactions, or
 * the output that it begins with.
 */
export type LineView = {
  /** The newest place of the line that a block has, and that no block has spent. */
  readonly tip: OwnOutput
  /** The newest final place; `undefined` before the first one is final. */
  readonly finalTip: OutPoint | undefined
  /** Requested transactions that are in a block, by hash. */
  readonly mined: ReadonlyMap<string, { readonly isFinal: boolean }>
  /** Unix seconds of the block at the final height. */
  readonly finalSeconds: number
  /** Unix seconds: the newest block's time or this machine's, whichever is later. */
  readonly chainSeconds: number
}

/** A transaction was not signed, because the line up to the place that it would spend records its id already. */
export class AlreadyMarkedError extends Error {
  readonly state: PaymentState
  constructor(state: PaymentState) {
    super(`the wallet's line says that it is ${state}`)
    this.name = 'AlreadyMarkedError'
    this.state = state
  }
}

/**
 * A chain on which all transactions of a fill wallet are one line: each spends the place that the one before it left.
 * No transaction for an id is signed on top of one that records the id already. So at most one of all transactions that
 * are ever signed for an id is mined, even if their signer has lost his records. What was read is cached: nobody can
 * forge it, because transaction ids are hashes. See decision 29.
 */
export interface LinePayingChain {
  /** Address of the fill wallet, in canonical spelling. */
  readonly address: string
  /** The one currency that it pays. */
  readonly currency: string
  /** Amount that always stays in the line, in satoshi. */
  readonly keptSatoshi: bigint
  /** Compressed public key of the fill wallet, `0x` and hex digits: deposit addresses name it as their sweeper. */
  readonly publicKey: Hex
  /** The depository that a sweep pays. */
  readonly depository: string | undefined
  /**
   * Reads where the line ends, and which of these transactions are mined.
   * @throws DomainError where endpoints are silent or contradict each other, or none shows where the line ends
   */
  look(hashes: readonly string[]): Promise<LineView>
  /** State of a payment id by agreement of endpoints, at a final block. @throws as `look` */
  readFinal(id: Hex): Promise<FinalMark>
  /**
   * State that the line records for an id, up to a place. @throws UpstreamUnavailableError where the line cannot be
   * read as a whole
   */
  stateAt(place: OutPoint, id: Hex): Promise<PaymentState>
  /** Own final outputs beside the line, by agreement. @throws as `look` */
  readOutputsBesideLine(): Promise<readonly OwnOutput[]>
  /**
   * A deposit address by its terms, with the 20 bytes that salts of its orders name it by.
   * @throws InvalidAddressError for terms of no address
   */
  depositAddress(terms: DepositAddressTerms): Required<DepositAddress> & { readonly name: Hex }
  /** Final outputs of a deposit address that a sweep takes, by agreement. @throws as `look` */
  outputsToSweep(address: string): Promise<readonly OwnOutput[]>
  /** @returns why a transaction for this work must not be sent, or nothing */
  refuse(work: LineWork): string | undefined
  /** Satoshi per 1,000 virtual bytes; `undefined` for fees of another family. */
  satPerKvbOf(fees: NetworkFees): bigint | undefined
  /** Most virtual bytes of the transaction that `sign` makes. */
  virtualBytesOf(work: LineWork, inputs: LineInputs): number
  /** @throws AlreadyMarkedError, UpstreamUnavailableError; Error where less than `keptSatoshi` would be left */
  sign(work: LineWork, inputs: LineInputs, fee: bigint): Promise<LineTransaction>
  /**
   * Remembers own signed transactions, since perhaps no endpoint shows them yet. @throws Error for one that continues
   * no line of the wallet
   */
  learn(raw: readonly Hex[]): void
  /** Sends signed bytes; sending them again does no harm. @throws NodeError, DomainError where no endpoint took them */
  broadcast(raw: Hex): Promise<void>
  close(): Promise<void>
}

export type LinePayingOptions = {
  readonly chain: RegisteredChain
  /** 32 bytes of the fill wallet's key, as `0x` and hex digits. */
  readonly key: Secret
  /** The output of the wallet that the line begins with. */
  readonly firstOutput: OutPoint
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
}

/** Payment access of a family whose chains keep coins in outputs: a member of its entry in `chainFamilies`. */
export type LinePayingFamily = {
  /** The variable that holds the fill wallet's key, or, with `_FILE` behind it, the name of a file that does. */
  readonly keySetting: string
  /** Opens no connection. @throws ConfigurationError */
  readonly open: (options: LinePayingOptions) => LinePayingChain
  /** A payment whose deadline is nearer than this may not be mined in time. */
  readonly landsWithinSeconds: number
}
