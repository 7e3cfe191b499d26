/**
 * Network fees of a chain at one moment. Each family has a class of its own, made from readings of the chain; `encode`
 * of the same family takes from it the fees that a signed transaction must state.
 */
export interface NetworkFees {
  /** Expected fee of one transaction, in smallest units of the native currency, rounded up. */
  costOf(transaction: CostedTransaction): bigint
  /** Gas units that a transaction is expected to use, and its limit; undefined in families without limits. */
  gasOf(transaction: CostedTransaction): { readonly expected: bigint; readonly limit: bigint } | undefined
  /** Cost of creating the state that an account lacks, beside the fee; 0 if a family charges none. */
  rentOf(lack: AccountLack): bigint
  /** The least first payment in the native currency that an account can receive; 0 without such a rule. */
  leastPayment(lack: AccountLack): bigint
  /** True if both give the same result for every transaction. */
  equals(other: NetworkFees): boolean
}

/** A transaction as far as its fee depends on it. */
export type CostedTransaction = {
  readonly kind: UserTransactionKind | SolverTransactionKind
  /** True if it moves the native currency. */
  readonly isNative: boolean
  /** Initialised ticks that its swap crosses. */
  readonly ticksCrossed?: number
  /** Accounts that sign it, in families that charge for each; 1 where it is absent. */
  readonly signatures?: number
  /** Pools that its swap goes through; 1 where it is absent. */
  readonly hops?: number
  /** Units of execution that the caller's calls need, as a simulation measured them. */
  readonly callUnits?: bigint
  /** Data of the caller's calls, as `callBytesOf` counts it. */
  readonly callBytes?: bigint
  /** Extra units of a smart account that runs it, as its owner stated, or of its payee's code, as trials measured. */
  readonly overheadUnits?: bigint
  /** State that the payee lacks. */
  readonly lack?: AccountLack
  /** Network fee, if planning has decided it already. */
  readonly networkFee?: bigint
  /** State writes, if known; otherwise the most expensive common form is assumed. */
  readonly writes?: StateWrites
}

/** Transactions that users sign. */
export type UserTransactionKind =
  | 'reset-approval'
  | 'approve'
  | 'deposit'
  /** Plain transfer to the depository with the order id behind it. */
  | 'deposit-transfer'
  /** Plain payment to a deposit address. */
  | 'pay-address'
  | 'swap-deposit'
  | 'swap'
  | 'wrap'
  | 'unwrap'
  | 'send-input'
  | 'send-output'

/** Transactions that a solver sends. */
export type SolverTransactionKind =
  | 'fill'
  /** A fill that swaps before it pays. */
  | 'fill-swap'
  /** Native payment as an addition to a fill. */
  | 'fill-topup'
  | 'refund'
  /** Empties a deposit address into the depository. */
  | 'sweep'
  /** Sweep with a swap before the deposit. */
  | 'sweep-swap'
  /** Submits a deposit that the user signed. */
  | 'permit-eip3009'
  | 'permit-eip2612'
  | 'permit-permit2'
  /** Permit2 deposit with a swap before it. */
  | 'permit-permit2-swap'
  /** Submits calls that a smart account signed and that make its deposit; `execute-swap`: with a swap before it. */
  | 'execute'
  | 'execute-swap'

/** State that a transaction creates and clears, as far as it is known; unknown state counts as created. */
export type StateWrites = {
  /** Balances and allowances that were zero. */
  readonly created: number
  /** Balances and allowances that become zero. */
  readonly cleared: number
  /** Accounts that get their first native coin. */
  readonly accounts: number
  /** True if a contract pays out native coin. */
  readonly paysNative: boolean
}

/** State that is missing before an account can be paid in a currency; an absent member means that nothing is missing. */
export type AccountLack = {
  /** Bytes of state that the payment must create. */
  readonly stateBytes?: number
  /** The account itself does not exist; its first payment creates it. */
  readonly isAbsent?: true
  /** The account holds none of the currency, and a first balance costs more than a later payment. */
  readonly holdsNone?: true
  /** Cost of creating the account beside the payment, in smallest units of the native currency. */
  readonly accountFee?: bigint
  /** Why it cannot receive the currency at all, as the predicate of a sentence about the account. */
  readonly refusal?: string
  /** The account does not exist, and a payment does not create it. */
  readonly isUnpayable?: true
  /** The account's balance is too large to be reported exactly, so that nobody could prove a payment to it. */
  readonly isUncountable?: true
}
