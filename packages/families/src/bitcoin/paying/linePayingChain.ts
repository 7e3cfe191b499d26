import type { Hex, Secret } from '@causeway/core'
import type { DepositAddress, DepositAddressTerms, NetworkFees } from '../../rules/quotingFamily.ts'
import type { FinalMark, PaymentState } from '../../shared/payingChain.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import type { LineTransaction, OwnOutput, SweptOutputs } from '../rules/paying/lineTransaction.ts'
import type { LineMark } from '../rules/paying/paymentTag.ts'
import type { OutPoint } from '../rules/transaction.ts'

/** Purpose of one transaction of a line. */
export type LineWork = {
  /** Mark that the line records; absent for a transaction that only gathers coins or only spends the current place. */
  readonly mark?: { readonly kind: LineMark; readonly id: Hex } | undefined
  /** Order that the payment is attested for; absent if nothing is paid. */
  readonly orderId?: Hex | undefined
  readonly payments: readonly { readonly recipient: string; readonly amount: bigint }[]
  /** Outputs at a deposit address; all of them together make the one payment. */
  readonly swept?: SweptOutputs | undefined
}

/** Inputs of a transaction: the current place of the line first, then the gathered outputs. */
export type LineInputs = { readonly parent: OwnOutput; readonly gathered: readonly OwnOutput[] }

/** A line as enough endpoints have it. */
export type LineView = {
  /** The newest place of the line that a block has. */
  readonly tip: OwnOutput
  /** The newest one that is final; `undefined` before the first one is. */
  readonly finalTip: OutPoint | undefined
  /** Those of the requested transactions that are in a block. */
  readonly mined: ReadonlyMap<string, { readonly isFinal: boolean }>
  /** Unix seconds of the block at the final height. */
  readonly finalSeconds: number
  /** Unix seconds: of the newest block, or of this machine's clock where blocks are late. */
  readonly chainSeconds: number
}

/** The line names the id already, up to the place that a transaction was to spend: nothing was signed. */
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
 * Nothing that names an id is signed on a line that names it already, so of all that is ever signed for one id one at
 * most is mined, whoever signed it and whatever he had forgotten. Keeps what it read, which nobody can forge: ids are
 * hashes. See decision 29.
 */
export interface LinePayingChain {
  /** Address of the fill wallet, in canonical spelling. */
  readonly address: string
  /** The one currency that it pays. */
  readonly currency: string
  /** Amount that always stays in the line, in satoshi. */
  readonly kept: bigint
  /** @throws DomainError where endpoints are silent or contradict each other, or none shows where the line ends */
  look(hashes: readonly string[]): Promise<LineView>
  /** By agreement of endpoints, at a final block. @throws as `look` */
  readFinal(id: Hex): Promise<FinalMark>
  /**
   * State that the line records for an id, up to a place. @throws UpstreamUnavailableError where the line cannot be
   * read as a whole
   */
  stateAt(place: OutPoint, id: Hex): Promise<PaymentState>
  /** Own final outputs beside the line, by agreement. @throws as `look` */
  besideLine(): Promise<readonly OwnOutput[]>
  /** Compressed public key of the fill wallet, `0x` and hex digits: what deposit addresses name as their sweeper. */
  readonly publicKey: Hex
  /** The depository that a sweep pays. */
  readonly depository: string | undefined
  /**
   * A deposit address by its terms, with the 20 bytes that salts of its orders name it by; and the final outputs of one
   * that a sweep takes, by agreement.
   * @throws InvalidAddressError for terms of no address; as `look`
   */
  depositAddress(terms: DepositAddressTerms): Required<DepositAddress> & { readonly name: Hex }
  outputsToSweep(address: string): Promise<readonly OwnOutput[]>
  /** @returns why it must not be sent, or nothing */
  refuse(work: LineWork): string | undefined
  /** Satoshi per 1,000 virtual bytes; `undefined` for fees of another family. */
  priceOf(fees: NetworkFees): bigint | undefined
  /** Virtual bytes at most. */
  sizeOf(work: LineWork, inputs: LineInputs): number
  /** @throws AlreadyMarkedError, UpstreamUnavailableError; Error where less than `kept` would be left */
  sign(work: LineWork, inputs: LineInputs, fee: bigint): Promise<LineTransaction>
  /** Transactions of its own that no node may have. @throws Error for what leads no line of this wallet on */
  learn(raw: readonly Hex[]): void
  /** Sends bytes again and again at no harm. @throws NodeError, DomainError where no endpoint took them */
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
  /** Less time than this is too little to be mined in. */
  readonly landsWithinSeconds: number
}
