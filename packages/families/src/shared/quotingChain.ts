import type { DomainError, Hex } from '@causeway/core'
import { type ChainClient, createJsonRpcClient, type JsonRpcClientOptions } from '@causeway/rpc'
import type { DearerState } from '../ethereum/rules/quoting/dearerState.ts'
import type { FeeFunds } from '../rules/feeFunds.ts'
import type { InputLock } from '../rules/inputLock.ts'
import type { AccountLack, Holding, SpendableOutput } from '../rules/quotingFamily.ts'
import type { ChainFinding } from './chainFinding.ts'
import type { NetworkFacts, NetworkQuestion } from './networkFacts.ts'
import type { NetworkReader, NetworkReaderOptions } from './networkReader.ts'
import type { RegisteredChain } from './registeredChain.ts'
import type { SignedDepositsFamily } from './signedDeposits.ts'

/** Facts of a user on a chain, in smallest units; members are missing if they were not read in time. */
export type UserFacts = {
  readonly balance?: bigint
  readonly allowance?: bigint
  /** In the order of `touched`. */
  readonly held?: readonly (bigint | undefined)[]
  /** Confirmed outputs of the user, in families without balances. */
  readonly spendable?: readonly SpendableOutput[]
  /** Coin of `feePayer`, in families where a user who has the currency may have none. */
  readonly feeFunds?: FeeFunds
  /** Why the user cannot pay the currency that he holds. */
  readonly inputLock?: InputLock
  /** Reason for which this user's facts are not read, a fault of the caller. */
  readonly refusal?: DomainError
}

export type UserFactsQuestion = {
  readonly user: string
  readonly currency: string
  /** Account that may spend the currency; without one the allowance is not read. */
  readonly spender: string | undefined
  /** Account that pays the network; without one that is not asked. */
  readonly feePayer?: string | undefined
  /** Balances that decide the cost of the user's transactions. */
  readonly touched?: readonly Holding[]
}

/** A call that a caller wants run; `value` in smallest units of the native currency. */
export type SimulatedCall = { readonly to: Hex; readonly value: bigint; readonly data: Hex }

/** The transaction that would fill an order with calls, as its solver would send it. */
export type SimulatedFill = SimulatedCall & {
  readonly from: Hex
  /** The token that it pays; `undefined` for native coin. */
  readonly token: Hex | undefined
  /** False for a payment to somebody whose code may take gas. */
  readonly hasCalls: boolean
  /** Bid of it, which code can see; absent: nothing. */
  readonly gasPriceWei?: bigint | undefined
  /** Gas units of new state above those that the release assumes; absent: none. */
  readonly dearer?: DearerState | undefined
}

/** One payment, and the transaction of the fill contract that would make it; of a family with such contracts. */
export type TriedPayment = {
  /** Canonical, as `currency`. */
  readonly account: string
  readonly currency: string
  /** Smallest units. */
  readonly amount: bigint
  readonly fill: SimulatedFill
}

export type PaymentTrial = {
  /** Why it fails, in the chain's own words. */
  readonly refusal: string | undefined
  /** Units of execution of the whole transaction; absent where nobody's code or list decides what it takes. */
  readonly units?: bigint
}

/**
 * One chain as quotes ask it, whatever its family: the live part beside `ChainQuoting` of core. What it is asked
 * per request comes within a budget of its own; the chain's fees, prices and balances of the solver come with the
 * market.
 */
export interface QuotingChain {
  /** Never rejects. */
  userFacts(question: UserFactsQuestion): Promise<UserFacts>
  /** State that an account lacks before it can be paid; `undefined` if it was not read in time. Never rejects. */
  lackOf(account: string, currency: string): Promise<AccountLack | undefined>
  /** True if foreign code decides what becomes of a payment; `undefined` if it was not read in time. Never rejects. */
  hasCode(account: string): Promise<boolean | undefined>
  /**
   * Tells what becomes of a payment; `undefined` where that is not known in time. Absent where nobody's code or list
   * decides about it. Never rejects.
   */
  tryPayment?(payment: TriedPayment): Promise<PaymentTrial | undefined>
  /**
   * Units of execution that the calls of a fill add to one without; `undefined` where the chain runs none.
   * @throws DestinationCallFailedError, SimulationUnsupportedError, SimulationOverloadedError, and upstream errors
   */
  readonly unitsOfCalls: ((fill: SimulatedFill) => Promise<bigint>) | undefined
  /** True if an account made the transfer with this nonce; absent where transfers have none. @throws upstream errors */
  hasSent?(transfer: SentTransfer): Promise<boolean>
}

export type SentTransfer = { readonly account: string; readonly nonce: bigint; readonly sinceMs: number }

export type QuotingChainOptions = {
  readonly client: ChainClient
  /** Which network of the family it is, as the chains file names it; absent: the main one. */
  readonly network?: string | undefined
  /** Multicall3 contract of a chain that is read by contract calls. */
  readonly multicall3: Hex | undefined
  /** The newest block that the market agrees on; `undefined` while there is none. */
  readonly currentHead: () => { readonly number: bigint; readonly hash: Hex } | undefined
  /** Milliseconds that a request waits for what a chain says about accounts and is only shown. */
  readonly budgetMs: number
  /** Milliseconds that it waits for what no price can be made without: longer than a way across the internet. */
  readonly neededWithinMs: number
  /** Units that no tried transaction may take, where calls can be tried. Default 10 000 000. */
  readonly transactionGasMax?: bigint | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Called with the error of every failed call. */
  readonly onFailure: (error: unknown) => void
}

/** The live part of a family that can be quoted: a member of its line in `chainFamilies`. */
export type QuotingChainFamily = {
  /** Opens no connection yet. @throws ConfigurationError for settings that cannot be meant */
  readonly connect: (chain: RegisteredChain) => ChainClient
  readonly open: (options: QuotingChainOptions) => QuotingChain
  /** Unix seconds of its newest block; absent where blocks do not tell. @throws upstream errors */
  readonly headSeconds?: (client: ChainClient) => Promise<number>
  /** Absent where users send every deposit themselves. */
  readonly signedDeposits?: SignedDepositsFamily
  /** Reads its network as it is now; absent where nobody reads that. @throws upstream errors */
  readonly networkFacts?: (question: NetworkQuestion) => Promise<NetworkFacts>
  /** Reads what the market does not read by contract calls; absent where it does. */
  readonly network?: {
    readonly reader: (options: NetworkReaderOptions) => NetworkReader
    /** Contradictions between the chain and its configuration, `isLocal` included. @throws upstream errors */
    readonly contradictions: (
      options: NetworkReaderOptions & { readonly isLocal: boolean },
    ) => Promise<readonly ChainFinding[]>
  }
}

/** A client over all endpoints of a chain. Opens no connection yet. @throws ConfigurationError for no URLs */
export function connectByJsonRpc(
  { id, endpoints, rpcThreshold }: RegisteredChain,
  options: Pick<JsonRpcClientOptions, 'headTracking' | 'lagBlocksMax'> = {},
): ChainClient {
  return createJsonRpcClient({
    chainId: id,
    endpoints: endpoints.map((url) => ({ url })),
    threshold: rpcThreshold,
    now: () => Date.now(),
    ...options,
  })
}
