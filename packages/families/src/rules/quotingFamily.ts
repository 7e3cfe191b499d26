import type { DomainError, Hex } from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'
import type { z } from 'zod'
import type { FeeFunds } from './feeFunds.ts'

/**
 * Pure part of one VM family in quotes: a member of its record in `<family>/rules`. The live part, which reads chains,
 * is `QuotingChain` of `shared/quotingChain.ts`. Pricing, requests and answers see families through these two alone.
 */
export type QuotingFamily = {
  /**
   * Fee model that its chains have in the quote file: `gas` at a price per block, `priority-fee` bid for each unit,
   * `feerate` for each byte, `energy` and bytes at prices set by vote, or a `flat` fee for each transfer.
   */
  readonly feeModel: 'gas' | 'priority-fee' | 'feerate' | 'energy' | 'flat'
  /** The setting of the quote file that gives its chains deposit addresses; absent: they have none. */
  readonly addressSetting?: AddressSetting
  /**
   * Describes an account that belongs to the network itself, such as a precompile, sysvar or native program; undefined
   * for others. Takes the canonical spelling.
   */
  readonly reserved: (account: string) => string | undefined
  /** Addresses of nobody, for which clients ask prices before a wallet is connected, in canonical spelling. */
  readonly burnt: readonly string[]
  /** Spells a configured contract as an account; absent where accounts are not 20 bytes. `hex` is lower case. */
  readonly accountOfHex?: (hex: Hex) => string
  /** Schema of `items[].data` of its transaction steps. */
  readonly stepData: z.ZodType<StepData>
  /** Rules for one chain, from its configuration. Called once, at start. */
  readonly bind: (chain: ChainSettings) => ChainQuoting
}

/** Settings that make deposit addresses, each in the families that can use it. */
export const addressSettings = ['depositAddresses', 'depositAddressProgram', 'depositAddressKey'] as const
export type AddressSetting = (typeof addressSettings)[number]

/** Configuration of a quoted chain. Each family reads the members that it knows. */
export type ChainSettings = {
  readonly chainId: number
  /** As the chains file calls it. */
  readonly chainKey?: string | undefined
  readonly codec: VmCodec
  /** Which network of the family it is, as the chains file names it; absent: the main one. */
  readonly network?: string | undefined
  readonly depository: string
  readonly wrappedNative?: string | undefined
  /** Contract that swaps and then deposits or pays out, in one transaction; absent: users cannot swap on the chain. */
  readonly depositRouter?: string | undefined
  /** Contract that makes and empties deposit addresses, in families with contracts. */
  readonly depositAddresses?: DepositAddressContract | undefined
  /** Program that makes and empties deposit addresses, on Solana. */
  readonly depositAddressProgram?: string | undefined
  /** Public key of the fill wallet, which empties deposit addresses, on Bitcoin. */
  readonly depositAddressKey?: Hex | undefined
  /** Outputs below this value are spent only if a user asks for it, on chains of outputs (Bitcoin); smallest units. */
  readonly leastOutput?: bigint | undefined
}

/** Pricing's view of one chain's family. Pure: the arguments decide everything. */
export interface ChainQuoting {
  /**
   * True for the text that means "no account chosen yet", as pages that ask a price before a wallet is connected send
   * it.
   */
  isNobody(address: string): boolean
  /** False for an address without a key, such as a program's, whose transactions nobody can sign. */
  canSign(address: string): boolean
  /** The largest amount of a currency that the family's transactions can carry, in smallest units. */
  amountMax(currency: Pick<QuotedCurrency, 'isNative'>): bigint
  /** Step of the amounts that transactions can carry, in smallest units; absent: 1. */
  granularity?(currency: Pick<QuotedCurrency, 'isNative'>): bigint
  /** True if fills can run calls that a request gives (`txs`). */
  readonly runsCalls: boolean
  /** True if tokens can be paid to accounts with code; if false, nothing is paid to such accounts. */
  readonly paysTokensToCode: boolean
  /** Present if an account holds an asset in separate places (Hyperliquid's spot and perps), which pay separately. */
  readonly keepsSides?: true
  /** Deposit addresses, which users pay instead of signing a deposit; absent if the chain has none. */
  readonly depositAddresses?: DepositAddressing | undefined
  /** True if `encode` returns a `call` by which a user's own execution can be recognised. */
  readonly tellsCallsApart: boolean
  /** True if the solver of an order, an EVM address, has an account on the hub under chains of this family. */
  readonly namesSolvers: boolean
  /**
   * An account or contract as 20 bytes of hex, for permits, deposit addresses and calls.
   * @throws Error in a family whose accounts are not 20 bytes, since it has none of these
   */
  hexAddress(address: string): Hex
  /** Account that needs an allowance of `currency`; undefined if none is needed. */
  spenderOf(
    kind: 'deposit' | 'swap-deposit' | 'swap' | 'permit2',
    currency: QuotedCurrency,
  ): string | undefined
  /** Balances on which the cost of the user's transactions depends, whatever the amount; to be read before pricing. */
  touched(route: TouchingRoute): readonly Holding[]
  /** Transactions that the user sends, in order. An unknown allowance counts as none. */
  plan(route: OriginRoute, state: KnownState): readonly PlannedTransaction[]
  /**
   * A planned transaction in the form of a step's data, which the family's public client takes.
   * @throws Error if it was planned from another route or by another family
   */
  encode(
    planned: PlannedTransaction,
    route: OriginRoute,
    bound: { readonly identity: StepIdentity; readonly fees: NetworkFees },
  ): EncodedTransaction
  /**
   * Typed data that the user signs before his deposit, to state its order; absent in families whose deposits name their
   * orders themselves.
   * @throws Error as `encode`
   */
  readonly authorization?: (
    planned: PlannedTransaction,
    route: OriginRoute,
    identity: StepIdentity,
  ) => Authorization | undefined
  /** The nonce that the user's transfer for an order must have; present if `authorization` is. */
  readonly transferNonce?: (order: { readonly orderId: Hex; readonly deadlineSeconds: number }) => number
  /**
   * The swap between a deposit address and the depository; undefined if the route has none.
   * @throws Error in a family without deposit addresses
   */
  addressSwap(route: OriginRoute): AddressSwap | undefined
  /** Calldata for the pools' router that makes this swap and pays the deposit router. @throws Error as `addressSwap` */
  encodeAddressSwap(
    swap: AddressSwap,
    spent: { readonly amountIn: bigint; readonly deadlineSeconds: number },
  ): Hex
}

/** Terms from which a deposit address is derived; another value of any member gives another address. */
export type DepositAddressTerms<Account extends string = string> = {
  /** Signs the orders that the address may pay. */
  readonly orderSigner: Hex
  /** The solver's account, or key, that empties the address. */
  readonly sweeper: Account
  /** Account that may withdraw the address's money; in families with contracts its deposits are credited to it too. */
  readonly depositor: Account
  /** 32 random bytes. */
  readonly nonce: Hex
}

/** An address that is paid instead of the depository. */
export type DepositAddress = {
  /** Canonical. */
  readonly address: string
  readonly terms: DepositAddressTerms
  /** Script that spends from it, on Bitcoin, where the depositor needs it to withdraw. */
  readonly script?: Hex
}

/** The contract that empties deposit addresses, and the hash of the code that it creates at one for the sweep. */
export type DepositAddressContract = { readonly contract: Hex; readonly sweepCodeHash: Hex }

/** Derivation and terms of a chain's deposit addresses. Pure. */
export type DepositAddressing = {
  /**
   * A deposit address that only these parties can empty. `fillWallet` and `depositor` are canonical, `nonce` is 32
   * bytes.
   * @throws InvalidAddressError for a depositor who could not withdraw from it
   */
  make(parties: {
    readonly orderSigner: Hex
    readonly fillWallet: string
    readonly depositor: string
    readonly nonce: Hex
  }): DepositAddress
  /** 20 bytes that identify an address in the salt of the orders that it may pay. */
  nameOf(address: string): Hex
  /** Seconds that a sweep may take after the solver is asked for it. */
  readonly sweepSeconds: number
  /** Seconds before an order's deadline after which it is not paid any more, since sweep and fill need time. */
  readonly leadSeconds: number
  /** True if only the solver can move the money until the sweep, so that the quote's price holds until then. */
  readonly isKeptWhileSwept: boolean
  /** True if a sweep's deposit is credited to the depositor of the terms; false: to the fill wallet. */
  readonly creditsDepositor: boolean
}

/** An account and a currency of one chain, in canonical spelling. */
export type Holding = { readonly account: string; readonly currency: string }

/** State of a user's accounts, for planning; members are undefined if they were not read in time. */
export type KnownState = {
  /** Current allowance for the contract that takes the input. */
  readonly allowance: bigint | undefined
  /** Part of the allowance that other open quotes of the user may still use; absent: 0. */
  readonly openSpending?: bigint | undefined
  /** User's balance of the input. */
  readonly balance?: bigint | undefined
  /** Balance of one of the holdings that `touched` named. */
  readonly heldBy?: (holding: Holding) => bigint | undefined
  /** State that the recipient lacks, if the user pays him directly. */
  readonly recipientLack?: AccountLack | undefined
  /** Outputs that the user can spend, on Bitcoin. */
  readonly spendable?: readonly SpendableOutput[] | undefined
  /** Native coin of the account that pays network fees: the user, or `depositFeePayer`. */
  readonly feeFunds?: FeeFunds | undefined
  /** Network fees, on Bitcoin, where they decide which outputs are spent. */
  readonly fees?: NetworkFees | undefined
}

/** A confirmed output that one account can spend. */
export type SpendableOutput = {
  /** Display order, 64 lower-case hex digits. */
  readonly txid: string
  readonly vout: number
  /** Smallest units. */
  readonly value: bigint
  readonly script: Hex
  /** Transaction that made the output, without witnesses; present if a signer needs it. */
  readonly transaction?: Hex
}

/** Outputs that a user lets a transaction spend. */
export type OutputChoice = {
  /** Outputs that must not be spent, as `txid:vout`. */
  readonly excluded: readonly string[]
  /** Outputs of less value are not spent; smallest units; undefined: as the chain's settings say. */
  readonly least?: bigint | undefined
}

/** Inputs that pay for a Bitcoin transaction; amounts in satoshis. */
export type Funding =
  /** `change` is 0 if there is no change output: the rest then is part of the fee. */
  | {
      readonly kind: 'chosen'
      readonly inputs: readonly SpendableOutput[]
      readonly fee: bigint
      readonly change: bigint
    }
  /** All outputs together do not cover amount and fee. `isOfTooMany`: the limit on inputs kept some of them out. */
  | {
      readonly kind: 'short'
      readonly spendable: bigint
      readonly needed: bigint
      readonly isOfTooMany: boolean
    }
  /** The user's outputs were not read in time, or there is no user yet. */
  | { readonly kind: 'unknown' }

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

/** A currency as far as transactions depend on it. */
export type QuotedCurrency = {
  /** Canonical. */
  readonly address: string
  readonly isNative: boolean
  /** True if an allowance must be reset to 0 before it is changed. */
  readonly resetsAllowance: boolean
  /** Program that keeps the token, on Solana; absent for the usual one. */
  readonly tokenProgram?: string | undefined
  /** Symbol for people, which some exchanges' transactions contain as well. */
  readonly symbol?: string | undefined
  /** Decimals, in families whose transactions state amounts as decimal text. */
  readonly decimals?: number | undefined
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
  /** Units of execution that the caller's calls need, as the live part measured them. */
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

/** One transaction that the user signs on the origin, before it is encoded. */
export type PlannedTransaction = CostedTransaction & {
  readonly kind: UserTransactionKind
  /** Account that an approval allows. */
  readonly spender?: string
  /** The allowance that an approval sets, in smallest units. */
  readonly allowed?: bigint
  readonly funding?: Funding
  /** Why the transaction cannot be sent now; it then has a price, but is not offered as a step. */
  readonly refusal?: DomainError | undefined
}

/** A route as far as it is known before it is priced, to find the balances that matter. */
export type TouchingRoute = Pick<OriginRoute, 'user' | 'recipient' | 'by' | 'currencyOut'> & {
  /** Currencies that the depository may receive. */
  readonly deposited: readonly QuotedCurrency[]
}

/** A priced route as far as the origin's transactions depend on it; amounts in smallest units. */
export type OriginRoute = {
  /** As the caller wrote them. */
  readonly user: string
  readonly recipient: string
  /** Way in which the input leaves the user. */
  readonly by:
    | 'deposit'
    /** A plain transfer of the token to the depository, see `UserTransactionKind`. */
    | 'deposit-transfer'
    | 'pay-address'
    /** The user signs and the solver sends, so the user sends no transaction. */
    | 'signature'
    /** Signature through Permit2, which needs the user's allowance of the token. */
    | 'permit2'
    /** From here on the user executes everything, without a solver. */
    | 'send'
    | 'swap'
    | 'wrap'
    | 'unwrap'
  /** Account that pays the deposit's network fee and rent in place of the user. */
  readonly depositFeePayer?: string | undefined
  /** Hex, as the caller wrote it, for addresses that do not contain their key (Bitcoin). */
  readonly userPublicKey?: string | undefined
  /** On Bitcoin. */
  readonly outputChoice?: OutputChoice | undefined
  readonly currencyIn: QuotedCurrency
  readonly currencyOut: QuotedCurrency
  /** Expected input, and the most that is taken. */
  readonly amountIn: bigint
  readonly amountInMax: bigint
  /** Expected output, and the least that is accepted. */
  readonly amountOut: bigint
  readonly amountOutMin: bigint
  /** Swap on the origin: the whole route of a user without a solver, or the leg before the deposit. */
  readonly swap:
    | {
        readonly trade: 'exactInput' | 'exactOutput'
        readonly from: QuotedCurrency
        /** The pools that it goes through, in order, at least one: the currency that each yields, and its fee. */
        readonly hops: readonly { readonly to: QuotedCurrency; readonly feePips: number }[]
        readonly ticksCrossed: number
      }
    | undefined
  /** Least amount that the depository receives, after a swap too; undefined if the user executes alone. */
  readonly deposited: { readonly currency: QuotedCurrency; readonly amount: bigint } | undefined
}

/**
 * A swap at a deposit address before the deposit, and its least price. Amounts are in smallest units; the zero address
 * means native coin.
 */
export type AddressSwap = {
  readonly tokenIn: Hex
  readonly amountIn: bigint
  readonly tokenOut: Hex
  /** Least output for `amountIn`; for another input it is scaled in proportion. */
  readonly amountOutMin: bigint
  /** The pools that it goes through, in order: the token that each yields, and its fee. */
  readonly hops: readonly { readonly tokenOut: Hex; readonly feePips: number }[]
}

/** Ids and addresses of a quote, with which its transactions are encoded. */
export type StepIdentity = {
  readonly requestId: Hex
  /** Undefined if the user executes alone, without an order. */
  readonly orderId: Hex | undefined
  /** Unix seconds: last moment at which a swap may still execute. */
  readonly deadlineSeconds: number
  /** Address that is paid instead of the depository. */
  readonly depositAddress: string | undefined
  /** Script that spends from the deposit address, on Bitcoin, where the depositor needs it to withdraw. */
  readonly depositScript?: Hex | undefined
  /** Terms that the depositor needs to withdraw from the deposit address, in families without such a script. */
  readonly depositTerms?: DepositAddressTerms | undefined
}

/** Typed data to sign, and the request that takes the signature. @source quote-api.md 2.5; families.md 2.4 */
export type Authorization = {
  readonly sign: {
    readonly signatureKind: 'eip712'
    readonly domain: {
      readonly name: string
      readonly version: string
      readonly chainId: number
      readonly verifyingContract: Hex
    }
    readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
    readonly primaryType: string
    readonly value: Readonly<Record<string, string | number>>
  }
  readonly post: {
    readonly endpoint: '/authorize'
    readonly method: 'POST'
    readonly body: Readonly<Record<string, string | number>>
  }
}

/** `items[].data` of a step. @source quote-api.md 2.4, 2.6 */
export type StepData = Readonly<Record<string, unknown>>

/** A transaction in the form of a step. */
export type EncodedTransaction = {
  readonly data: StepData
  /** Call by which the transaction is recognised on chain if a user executes alone; undefined if it cannot be. */
  readonly call: { readonly to: Hex; readonly data: Hex; readonly value: bigint } | undefined
}
