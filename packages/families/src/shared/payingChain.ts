import type { Hex, Secret } from '@causeway/core'
import type { ChainClient } from '@causeway/rpc'
import type { DepositAddressTerms } from '../rules/depositAddressing.ts'
import type { NetworkFees } from '../rules/networkFees.ts'
import type { SignedOrderWords } from '../rules/signedOrderWords.ts'
import type { NonceMappings } from './nonceMappings.ts'

/** State of one payment id of one fill wallet, as recorded on chain. */
export type PaymentState = 'open' | 'paid' | 'closed'

/** Final state of a payment id, by agreement of the chain's endpoints; no reorg can undo it. */
export type FinalMark = {
  readonly state: PaymentState
  /** Unix seconds of the final block at which the state was read. */
  readonly timestampSeconds: number
}

/** Height and time of a chain that enough of its endpoints have reached. */
export type PayingHead = {
  /** Height of the newest final block. */
  readonly finalHeight: bigint
  /** Unix seconds of the newest block. */
  readonly timeSeconds: number
}

/** One payment that a transaction of the fill wallet makes. */
export type PlannedPayment = {
  readonly recipient: string
  readonly currency: string
  /** Smallest units. */
  readonly amount: bigint
  /** Program that keeps the token; absent for the native coin. */
  readonly token?: { readonly program: string; readonly decimals: number } | undefined
}

/** A deposit address that a program empties, into the depository for an order, or back to its depositor. */
export type EmptiedAddress = {
  readonly address: string
  readonly terms: DepositAddressTerms
  /** Currency whose whole balance leaves; other currencies at the address stay. */
  readonly currency: string
  readonly token?: PlannedPayment['token']
  /** Order that the deposit is for; absent: the money goes back. */
  readonly signed?: SignedOrderWords | undefined
}

/** Intended effects of a transaction. It may be signed several times, but the chain lets at most one of these act. */
export type PaymentTerms = {
  /** Id that the chain records as paid or closed. */
  readonly id: Hex
  /** `allowed` only sets an allowance: the chain records no id, and repeating it is harmless. */
  readonly mark: 'paid' | 'closed' | 'allowed'
  /** Amount that the family's contract may take from then on; `allowed` only. */
  readonly allowance?: { readonly currency: string; readonly amount: bigint } | undefined
  /** Unix seconds after which it pays nothing, on chains that can check the time. */
  readonly deadlineSeconds?: number | undefined
  /** Order that the payment is attested for; absent if nothing is paid. */
  readonly orderId?: Hex | undefined
  /**
   * True if the transaction must create no state, because nobody was charged for it and the recipient could keep its
   * rent: it fails if state is missing.
   */
  readonly makesNoState?: boolean | undefined
  readonly payments: readonly PlannedPayment[]
  /** Emptying of a deposit address instead of `payments`: only its own funds move, and the wallet pays the fee. */
  readonly emptied?: EmptiedAddress | undefined
}

/** A planned transaction: its effects, and the units that it may use. */
export type PaymentPlan = {
  readonly terms: PaymentTerms
  /** Units of execution. */
  readonly units: bigint
  /** Rent of the state that it creates, never returned, in smallest units of the native coin. */
  readonly rent: bigint
}

/** Part of a plan that is signed. */
export type SignedPlan = Pick<PaymentPlan, 'terms' | 'units'>

/** A signed transaction that can have no effect once a final block is higher than `lastValidHeight`. */
export type ExpiringTransaction = {
  readonly raw: Hex
  readonly hash: string
  readonly lastValidHeight: bigint
  /** Smallest units of the native coin, charged where it fails too. */
  readonly fee: bigint
}

/** A signed transaction whose outcome is asked for. */
export type SentTransaction = Pick<ExpiringTransaction, 'hash' | 'raw' | 'lastValidHeight'>

/** Result of several transactions of which at most one has an effect. */
export type Landing =
  | { readonly kind: 'landed'; readonly hash: string; readonly succeeded: boolean; readonly isFinal: boolean }
  /** None of them had landed at the final block of this height (or of the value that stands for a height). */
  | { readonly kind: 'none'; readonly finalHeight: bigint }
  /** Endpoints disagree so far. */
  | { readonly kind: 'unknown' }

/** Current network fees, and the highest price that a transaction may bid, in the family's unit. */
export type PayingFees = { readonly fees: NetworkFees; readonly ceiling: bigint }

/**
 * Why nothing is signed where the network sets the fee and takes no bids: the fee is above the operator's ceiling. In
 * every family the setting `maxFeePerGasWei` holds it.
 * @param what is charged for, with its verb, such as `a transfer takes`
 */
export function refuseAboveCeiling(
  what: string,
  fee: bigint,
  { ceiling }: Pick<PayingFees, 'ceiling'>,
): string | undefined {
  return fee > ceiling ? `${what} more than maxFeePerGasWei` : undefined
}

/** Why a transaction is not made. `isDear`: it would cost more than it may. */
export type PlanRefusal = { readonly refusal: string; readonly isDear?: true }

/**
 * A chain on which each payment leaves a mark of its id, so that none is made twice, and whose transactions expire by
 * themselves. Reads, signs and sends for one fill wallet, and stores nothing: the solver's desk keeps the records.
 *
 * For one id the desk calls `plan`, then `sign` and `broadcast`, and asks `landingOf` about all that it
 * signed. Once `none` has landed at a final height above each `lastValidHeight`, it reads `readFinal`, and
 * only if the id is still open it signs anew. An implementation must make sure that two signed transactions
 * of one id never both act, whatever one endpoint says; a mistake about landing or expiry may then cost a
 * fee, but pays nothing twice.
 */
export interface PayingChain {
  /** Address of the fill wallet, in canonical spelling. */
  readonly address: string
  /** @throws DomainError where too few endpoints answer */
  head(): Promise<PayingHead>
  /**
   * State of an id; one of an allowance stays open.
   * @param terms of the payment, as far as they are known: some chains record the payment but not its id
   * @throws DomainError if endpoints are silent or contradict each other
   */
  readFinal(id: Hex, terms?: Partial<PaymentTerms>): Promise<FinalMark>
  /** @throws DomainError where too few endpoints answer */
  landingOf(transactions: readonly SentTransaction[]): Promise<Landing>
  /**
   * Checks recipients and currencies, and has nodes simulate the transaction.
   * @param most highest cost if code of the recipient runs, in smallest units of the native coin; absent: no such bound
   * @returns the plan, or why the transaction must not be sent
   */
  plan(terms: PaymentTerms, bid: PayingFees, most?: bigint): Promise<PaymentPlan | PlanRefusal>
  /** @throws DomainError where no recent block is known */
  sign(plan: SignedPlan, bid: PayingFees): Promise<ExpiringTransaction>
  /** Sends the bytes; repeating it is harmless. @throws NodeError, DomainError if no endpoint took them */
  broadcast(transaction: Pick<ExpiringTransaction, 'raw'>): Promise<void>
  /** As of the newest block that one endpoint knows. */
  balanceOf(currency: string): Promise<bigint>
  /**
   * Allowance that must be set before the amount of a currency can be paid; `undefined` if none is needed. Absent in
   * families without allowances. @throws as `readFinal`
   */
  missingAllowance?(currency: string, amount: bigint): Promise<PaymentTerms['allowance']>
}

/** Options by which a paying chain is opened for one fill wallet. */
export type PayingChainOptions = {
  readonly client: ChainClient
  /** Network of the family, as the chains file names it; absent: the main one. */
  readonly network?: string | undefined
  /** 32 bytes of the fill wallet's key, as `0x` and hex digits. */
  readonly key: Secret
  /** Contract that pays, in families that have one. */
  readonly fillContract: Hex | undefined
  /**
   * Program that empties deposit addresses, and the depository it pays, in families of programs; in canonical spelling.
   */
  readonly addressProgram?: { readonly program: string; readonly depository: string } | undefined
  /** On exchanges whose accounts have numbers. */
  readonly account?: NamedAccount
  /** Depositories, in canonical spelling: a payment to one that names its order would count as a deposit. */
  readonly depositories?: readonly string[]
  /** Statements of the wallet's nonces on the hub, for chains whose transfers name no order. */
  readonly mappings?: NonceMappings | undefined
}

/** An account that is not a key itself, and the API key that signs for it beside its owner's key. */
export type NamedAccount = {
  /** As the quote file calls it. */
  readonly name?: string | undefined
  readonly apiKey?: Secret | undefined
  readonly apiKeyIndex?: number | undefined
  /** First relevant nonce of that key: earlier transactions are ignored. */
  readonly firstNonce?: bigint | undefined
}

/** Payment access of a family whose transactions expire by themselves: a member of its entry in `chainFamilies`. */
export type PayingChainFamily = {
  /** The variable that holds the fill wallet's key, or, with `_FILE` behind it, the name of a file that does. */
  readonly keySetting: string
  /** Variable of a second key, in the exchange's own form. Absent if there is none. */
  readonly apiKeySetting?: string
  /** True if the wallet must record the purpose of its transfers: requires `mappings` in the options. */
  readonly needsMappings?: true
  /** Opens no connection. @throws ConfigurationError for what is missing */
  readonly open: (options: PayingChainOptions) => PayingChain
  /** Seconds after which a signed transaction has landed or has expired, at the chain's usual pace. */
  readonly landsWithinSeconds: number
}
