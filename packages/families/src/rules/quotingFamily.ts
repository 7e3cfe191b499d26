import type { Hex } from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'
import type { z } from 'zod'
import type { DepositAddressContract, DepositAddressing } from './depositAddressing.ts'
import type { Authorization, EncodedTransaction, StepData, StepIdentity } from './encodedStep.ts'
import type { NetworkFees } from './networkFees.ts'
import type { AddressSwap, OriginRoute, QuotedCurrency, TouchingRoute } from './originRoute.ts'
import type { Holding, KnownState, PlannedTransaction } from './plannedTransaction.ts'

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
  /** Network of the family, as the chains file names it; absent: the main one. */
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
  /** True for the text that pages send before a wallet is connected: no account is chosen yet. */
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
  /**
   * True if `encode` returns a `call` by which a user's own execution can be recognised; if false, routes that users
   * execute alone get a price, but no quote.
   */
  readonly tellsCallsApart: boolean
  /** True if a solver, an EVM address, can own what orders bring it under chains of this family. @source rule F-147 */
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
    context: { readonly identity: StepIdentity; readonly fees: NetworkFees },
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
