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
   * Fee model of its chains, as the quote file must describe it: gas by block, bids for units, size, energy and bytes
   * at prices set by vote, or a fee per transfer.
   */
  readonly feeModel: 'gas' | 'priority-fee' | 'feerate' | 'energy' | 'flat'
  /** The setting of the quote file that gives its chains deposit addresses; absent: they have none. */
  readonly addressSetting?: AddressSetting
  /**
   * Says what an account is that its network keeps for itself, by its address alone: precompiles, sysvars, native
   * programs. Canonical spelling.
   */
  readonly reserved: (account: string) => string | undefined
  /** Accounts without an owner that clients price for before a wallet is connected, in canonical spelling. */
  readonly burnt: readonly string[]
  /** Spells a configured contract as an account; absent where accounts are not 20 bytes. `hex` is lower case. */
  readonly accountOfHex?: (hex: Hex) => string
  /** Form of `items[].data` of its transaction steps. */
  readonly stepData: z.ZodType<StepData>
  /** One chain of the family, as its configuration describes it. Done once, at start. */
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
  /** Swaps and deposits, or pays out, in one transaction; absent: users swap nothing on the chain. */
  readonly depositRouter?: string | undefined
  /** Makes and empties deposit addresses, in families of contracts. */
  readonly depositAddresses?: DepositAddressContract | undefined
  /** Program that does, in families of programs. */
  readonly depositAddressProgram?: string | undefined
  /** Public key of the fill wallet, which empties deposit addresses in families of scripts. */
  readonly depositAddressKey?: Hex | undefined
  /** Outputs worth less are spent only when a user asks for it, in families without balances; smallest units. */
  readonly leastOutput?: bigint | undefined
}

/** Pricing's view of one chain's family. Pure: the arguments decide everything. */
export interface ChainQuoting {
  /**
   * True for the text that stands for an account which is not chosen yet: pages price before a wallet is
   * connected. It is no account.
   */
  isNobody(address: string): boolean
  /** False for an address that has no key in its family: nobody can sign a transaction of it. */
  canSign(address: string): boolean
  /** The largest amount of a currency that the family's transactions can carry, in smallest units. */
  amountMax(currency: Pick<QuotedCurrency, 'isNative'>): bigint
  /** Smallest units that a transaction can tell apart; absent where it is every one. */
  granularity?(currency: Pick<QuotedCurrency, 'isNative'>): bigint
  /** True if destinations run calls of callers; otherwise no foreign code decides what becomes of a payment. */
  readonly runsCalls: boolean
  /** True if tokens can be paid to accounts with code; otherwise nothing is paid to one. */
  readonly paysTokensToCode: boolean
  /** Present if an account keeps one asset on separate sides: a side pays only from its own funds. */
  readonly keepsSides?: true
  /** Addresses that users pay instead of signing a deposit; absent where the family or the chain has none. */
  readonly depositAddresses?: DepositAddressing | undefined
  /** True if `encode` returns a `call` by which a user's own execution can be recognised. */
  readonly tellsCallsApart: boolean
  /** True if an order's solver, who signs with a 20-byte key, has an account on the hub under this family's chains. */
  readonly namesSolvers: boolean
  /**
   * An account or contract as 20 bytes of hex, which permits, deposit addresses and calls name.
   * @throws Error on a family whose accounts are written otherwise: it has none of these
   */
  hexAddress(address: string): Hex
  /** Account that needs an allowance of `currency`; undefined if none is needed. */
  spenderOf(
    kind: 'deposit' | 'swap-deposit' | 'swap' | 'permit2',
    currency: QuotedCurrency,
  ): string | undefined
  /** Accounts whose balances decide what the user's transactions cost, for any amount of the route. */
  touched(route: TouchingRoute): readonly Holding[]
  /** Transactions that the user sends, in order. An unknown allowance counts as none. */
  plan(route: OriginRoute, state: KnownState): readonly PlannedTransaction[]
  /**
   * A planned transaction as the family's public client takes it.
   * @throws Error for what was planned from another route or by another family
   */
  encode(
    planned: PlannedTransaction,
    route: OriginRoute,
    bound: { readonly identity: StepIdentity; readonly fees: NetworkFees },
  ): EncodedTransaction
  /**
   * Typed data that the user signs before his deposit to name its order; absent on families whose deposits name their
   * orders themselves.
   * @throws Error as `encode`
   */
  readonly authorization?: (
    planned: PlannedTransaction,
    route: OriginRoute,
    identity: StepIdentity,
  ) => Authorization | undefined
  /** The nonce that the user's transfer for an order has, on the same families. */
  readonly transferNonce?: (order: { readonly orderId: Hex; readonly deadlineSeconds: number }) => number
  /**
   * The swap that stands between a deposit address and the depository; undefined where the route has none.
   * @throws Error on a family without deposit addresses
   */
  addressSwap(route: OriginRoute): AddressSwap | undefined
  /** Calldata of the pools' router, which gives the output to the deposit router. @throws Error as `addressSwap` */
  encodeAddressSwap(
    swap: AddressSwap,
    spent: { readonly amountIn: bigint; readonly deadlineSeconds: number },
  ): Hex
}

/** Permitted uses of an address, as its family writes them; a change of any member makes another address. */
export type DepositAddressTerms<Account extends string = string> = {
  /** Signs the orders that the address may pay. */
  readonly orderSigner: Hex
  /** The solver's account, or key, that empties the address. */
  readonly sweeper: Account
  /** May take back what lies there; of contracts, is credited with every deposit too. */
  readonly depositor: Account
  /** 32 random bytes. */
  readonly nonce: Hex
}

/** An address that is paid instead of the depository. */
export type DepositAddress = {
  /** Canonical. */
  readonly address: string
  readonly terms: DepositAddressTerms
  /** Script that spends from it, for families in which a withdrawal by the depositor must show it. */
  readonly script?: Hex
}

/** The contract that empties the addresses, and the hash of the code that it puts there for a moment. */
export type DepositAddressContract = { readonly contract: Hex; readonly sweepCodeHash: Hex }

/** Derivation of the addresses that are paid instead of a chain's depository. Pure. */
export type DepositAddressing = {
  /**
   * The address that nobody but the parties can empty. `fillWallet` and `depositor` are canonical, `nonce` is 32 bytes.
   * @throws InvalidAddressError for a depositor who could not take back what lies there
   */
  make(parties: {
    readonly orderSigner: Hex
    readonly fillWallet: string
    readonly depositor: string
    readonly nonce: Hex
  }): DepositAddress
  /** 20 bytes that stand for an address in the salt of the orders that it may pay. */
  nameOf(address: string): Hex
  /** Seconds that emptying an address may take after the solver is asked to. */
  readonly sweepSeconds: number
  /** An order that ends sooner than this is not paid any more: its sweep and its fill take their time. */
  readonly leadSeconds: number
  /** True if only the solver can move the funds until the sweep, so that the price of the quote holds. */
  readonly isKeptWhileSwept: boolean
  /** A sweep deposits for the depositor of the terms; where it does not, the fill wallet is the depositor. */
  readonly creditsDepositor: boolean
}

/** An account and a currency of one chain, in canonical spelling. */
export type Holding = { readonly account: string; readonly currency: string }

/** State read from a chain; undefined if it was not read in time. */
export type KnownState = {
  /** Allowance of the first transaction's spender. */
  readonly allowance: bigint | undefined
  /** The part of it that other open quotes of the user may still take; absent: nothing. */
  readonly openSpending?: bigint | undefined
  /** User's balance of the input. */
  readonly balance?: bigint | undefined
  /** Balance of an account of `touched`. */
  readonly heldBy?: (holding: Holding) => bigint | undefined
  /** State that the recipient of the user's own payment lacks. */
  readonly recipientLack?: AccountLack | undefined
  /** Outputs that the user can spend, in families without balances. */
  readonly spendable?: readonly SpendableOutput[] | undefined
  /** Coin of the account that pays the network: the user, or `depositFeePayer`. */
  readonly feeFunds?: FeeFunds | undefined
  /** Network fees, in families where they decide which outputs are spent. */
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
  /** Transaction that made it, without witnesses, in families in which its spender must show it. */
  readonly transaction?: Hex
}

/** Outputs that a user lets a transaction spend. */
export type OutputChoice = {
  /** Kept out, as `txid:vout`. */
  readonly excluded: readonly string[]
  /** Smallest units: what is worth less is kept out; undefined: what the chain's settings say. */
  readonly least?: bigint | undefined
}

/** Inputs that pay for a transaction in families without balances. */
export type Funding =
  /** `change` is 0 where there is none: what is left is a part of the fee. */
  | {
      readonly kind: 'chosen'
      readonly inputs: readonly SpendableOutput[]
      readonly fee: bigint
      readonly change: bigint
    }
  /** All that may be spent at once is less than the amount and the fee of spending it. */
  | {
      readonly kind: 'short'
      readonly spendable: bigint
      readonly needed: bigint
      readonly isOfTooMany: boolean
    }
  /** The user's outputs were not read in time, or there is no user yet. */
  | { readonly kind: 'unknown' }

/**
 * Network fees of a chain at one moment, in its family's own terms. The live part makes them from its readings;
 * `encode` of the same family takes from them the fees that a signed transaction must name.
 */
export interface NetworkFees {
  /** Expected fee of one transaction, in smallest units of the native currency, rounded up. */
  costOf(transaction: CostedTransaction): bigint
  /** Units that a transaction is expected to use, and its limit; undefined where a family signs none. */
  gasOf(transaction: CostedTransaction): { readonly expected: bigint; readonly limit: bigint } | undefined
  /** Cost of creating the state that an account lacks, beside the fee; 0 if a family charges none. */
  rentOf(lack: AccountLack): bigint
  /** The least that an account has to be paid in the native currency before it keeps anything; 0 without such a rule. */
  leastPayment(lack: AccountLack): bigint
  /** True if the other fees are equal for every transaction. */
  equals(other: NetworkFees): boolean
}

/** State that an account lacks before it can be paid in a currency; an absent member is not lacking. */
export type AccountLack = {
  /** Bytes of state that the payment has to make. */
  readonly stateBytes?: number
  /** The account itself: its first payment makes it. */
  readonly isAbsent?: true
  /** A balance of the currency, where a first one costs more than a larger one. */
  readonly holdsNone?: true
  /** Cost of creating the account beside the payment, in smallest units of the native currency. */
  readonly accountFee?: bigint
  /** Why it takes none of the currency now, after its name in a sentence; no payment changes that. */
  readonly refusal?: string
  /** There is no such account, and no payment makes it. */
  readonly isUnpayable?: true
  /** A balance that chains tell exactly: it holds so much that nobody can prove what a payment adds. */
  readonly isUncountable?: true
}

/** A currency as far as transactions depend on it. */
export type QuotedCurrency = {
  /** Canonical. */
  readonly address: string
  readonly isNative: boolean
  /** An allowance must be reset before it changes. */
  readonly resetsAllowance: boolean
  /** The program that a token belongs to, in families where several keep tokens; its own default is left out. */
  readonly tokenProgram?: string | undefined
  /** As people and some transactions call it. */
  readonly symbol?: string | undefined
  /** Decimals of the amounts that transactions write as decimal text. */
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

export type SolverTransactionKind =
  | 'fill'
  /** A fill that swaps what it pays. */
  | 'fill-swap'
  /** Native payment as an addition to a fill. */
  | 'fill-topup'
  | 'refund'
  /** Empties a deposit address into the depository. */
  | 'sweep'
  /** Sweep with a swap before the deposit. */
  | 'sweep-swap'
  /** Makes a deposit of what the user signed. */
  | 'permit-eip3009'
  | 'permit-eip2612'
  | 'permit-permit2'
  /** Permit2 deposit with a swap before it. */
  | 'permit-permit2-swap'
  /** Submits calls that a smart account signed, which make its deposit, and a swap before it. */
  | 'execute'
  | 'execute-swap'

/** A transaction as far as its fee depends on it. */
export type CostedTransaction = {
  readonly kind: UserTransactionKind | SolverTransactionKind
  /** It moves the native currency. */
  readonly isNative: boolean
  /** Price steps that its swap crosses. */
  readonly ticksCrossed?: number
  /** Accounts that sign it, in families that charge for each; 1 where it is absent. */
  readonly signatures?: number
  /** Pools that its swap goes through; 1 where it is absent. */
  readonly hops?: number
  /** Units of execution that the caller's calls need, as the live part measured them. */
  readonly callUnits?: bigint
  /** Data of the caller's calls, as `callBytesOf` counts it. */
  readonly callBytes?: bigint
  /** Extra units of the account that runs it, as its owner said, or of its payee, as trials measured. */
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
  /** Native coin leaves through a contract. */
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
  /** Reason for which the transaction cannot be sent now, though it has a price: it is no step. */
  readonly refusal?: DomainError | undefined
}

/** A route as far as it is known before it is priced. */
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
    /** Without a call: see `deposit-transfer`. */
    | 'deposit-transfer'
    | 'pay-address'
    /** The user signs and the solver sends: nothing is planned. */
    | 'signature'
    /** Signature through Permit2, which needs the user's allowance of the token. */
    | 'permit2'
    /** The user executes all of it; no solver. */
    | 'send'
    | 'swap'
    | 'wrap'
    | 'unwrap'
  /** Pays the fee of the deposit, and for the accounts that it makes, in the user's place. */
  readonly depositFeePayer?: string | undefined
  /** Hex, as the caller wrote it, where an address does not name its key. */
  readonly userPublicKey?: string | undefined
  /** In families without balances. */
  readonly outputChoice?: OutputChoice | undefined
  readonly currencyIn: QuotedCurrency
  readonly currencyOut: QuotedCurrency
  /** Expected input, and the most that is taken. */
  readonly amountIn: bigint
  readonly amountInMax: bigint
  /** Expected output, and the least that is accepted. */
  readonly amountOut: bigint
  readonly amountOutMin: bigint
  /** Swap on the origin: what the user does alone, or what stands before the deposit. */
  readonly swap:
    | {
        readonly trade: 'exactInput' | 'exactOutput'
        readonly from: QuotedCurrency
        /** The pools that it goes through, in order: what each gives, and what it takes for it. At least one. */
        readonly hops: readonly { readonly to: QuotedCurrency; readonly feePips: number }[]
        readonly ticksCrossed: number
      }
    | undefined
  /** Least amount that the depository receives of a swap; undefined where the user executes alone. */
  readonly deposited: { readonly currency: QuotedCurrency; readonly amount: bigint } | undefined
}

/**
 * At what price at least something is swapped at a deposit address before its deposit; amounts in smallest units, the
 * zero address is native coin.
 */
export type AddressSwap = {
  readonly tokenIn: Hex
  readonly amountIn: bigint
  readonly tokenOut: Hex
  /** For `amountIn`; for any other amount its share. */
  readonly amountOutMin: bigint
  /** The pools that it goes through: what each gives, and its fee. */
  readonly hops: readonly { readonly tokenOut: Hex; readonly feePips: number }[]
}

/** Identity of a quote, once it has its order. */
export type StepIdentity = {
  readonly requestId: Hex
  /** Undefined where the user executes alone and no order exists. */
  readonly orderId: Hex | undefined
  /** Unix seconds: last moment at which a swap may still execute. */
  readonly deadlineSeconds: number
  /** Address that is paid instead of the depository. */
  readonly depositAddress: string | undefined
  /** Script that spends from the deposit address, for families in which a withdrawal by the depositor must show it. */
  readonly depositScript?: Hex | undefined
  /** Terms that the depositor names to withdraw from the deposit address, in families without such a script. */
  readonly depositTerms?: DepositAddressTerms | undefined
}

/** Typed data that a wallet signs, and what is posted with the signature. @source quote-api.md 2.5; families.md 2.4 */
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

export type EncodedTransaction = {
  readonly data: StepData
  /** Call that identifies the transaction when a user executes it alone; undefined if nothing identifies it. */
  readonly call: { readonly to: Hex; readonly data: Hex; readonly value: bigint } | undefined
}
