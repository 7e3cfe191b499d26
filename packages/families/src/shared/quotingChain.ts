import type { DomainError, Hex, MaybePromise } from '@causeway/core'
import { type ChainClient, createJsonRpcClient, type JsonRpcClientOptions } from '@causeway/rpc'
import type { FeeFunds } from '../rules/feeFunds.ts'
import type { InputLock } from '../rules/inputLock.ts'
import type { DearerState } from '../rules/measuredUnits.ts'
import type { AccountLack } from '../rules/networkFees.ts'
import type { Holding, SpendableOutput } from '../rules/plannedTransaction.ts'
import type { ChainFinding } from './chainFinding.ts'
import type { NetworkFacts, NetworkQuestion } from './networkFacts.ts'
import type { NetworkReader, NetworkReaderOptions } from './networkReader.ts'
import type { RegisteredChain } from './registeredChain.ts'
import type { SignedDepositsFamily } from './signedDeposits.ts'

/** Facts of a user on a chain, in smallest units; members are missing if they were not read in time. */
export type UserFacts = {
  readonly balance?: bigint
  readonly allowance?: bigint
  /** The user's balances of the question's `touched`, in that order. */
  readonly held?: readonly (bigint | undefined)[]
  /** Confirmed outputs of the user, in families without balances. */
  readonly spendable?: readonly SpendableOutput[]
  /** Native coin of `feePayer`, in families where a user may hold the currency but no native coin. */
  readonly feeFunds?: FeeFunds
  /** Why the user cannot pay the currency that he holds. */
  readonly inputLock?: InputLock
  /** Error for the caller, because this user's facts cannot be read, e.g. an address with too many outputs. */
  readonly refusal?: DomainError
}

/** Whose facts are read, and which. */
export type UserFactsQuestion = {
  readonly user: string
  readonly currency: string
  /** Account that may spend the currency; without one the allowance is not read. */
  readonly spender: string | undefined
  /** Account that pays network fees; without one `feeFunds` is not read. */
  readonly feePayer?: string | undefined
  /** Balances on which the cost of the user's transactions depends. */
  readonly touched?: readonly Holding[]
}

/** A call to be simulated; `value` in smallest units of the native currency. */
export type SimulatedCall = { readonly to: Hex; readonly value: bigint; readonly data: Hex }

/** The transaction that would fill an order with calls, as its solver would send it. */
export type SimulatedFill = SimulatedCall & {
  readonly from: Hex
  /** The token that it pays; `undefined` for native coin. */
  readonly token: Hex | undefined
  /** True if the order has calls; false for a plain payment, e.g. to a recipient with code. */
  readonly hasCalls: boolean
  /** Its gas price, which contracts can read; absent: 0. */
  readonly gasPriceWei?: bigint | undefined
  /** Gas units of new state above those that the release assumes; absent: none. */
  readonly dearer?: DearerState | undefined
}

/** A payment to be tried, and the transaction of the fill contract that would make it. */
export type TriedPayment = {
  /** Canonical, as `currency`. */
  readonly account: string
  readonly currency: string
  /** Smallest units. */
  readonly amount: bigint
  /** Encodes the transaction, which takes longer than the rest of a price: called only where nothing is cached. */
  readonly fill: () => SimulatedFill
}

/** Outcome of a simulated payment. */
export type PaymentTrial = {
  /** Why it fails, in the chain's own words; undefined if it succeeds. */
  readonly refusal: string | undefined
  /** Units of execution of the whole transaction; absent if no foreign code influences them. */
  readonly units?: bigint
}

/**
 * Reads of one chain that quotes make for each request, whatever its family: the live counterpart of `ChainQuoting`,
 * which is pure. Each read has a time budget. Fees, prices and balances of the solver are not read here; they come with
 * the market. What is in memory is answered at once.
 */
export interface QuotingChain {
  /** Never rejects. */
  userFacts(question: UserFactsQuestion): MaybePromise<UserFacts>
  /** State that an account lacks before it can be paid; `undefined` if it was not read in time. Never rejects. */
  lackOf(account: string, currency: string): MaybePromise<AccountLack | undefined>
  /** True if the account has code, which may refuse payments; `undefined` if not read in time. Never rejects. */
  hasCode(account: string): MaybePromise<boolean | undefined>
  /**
   * Simulates a payment; `undefined` if the outcome is not known in time. Absent in families where no code or token's
   * list can refuse a payment. Never rejects.
   */
  tryPayment?(payment: TriedPayment): MaybePromise<PaymentTrial | undefined>
  /**
   * Units of execution that the calls of a fill add to a plain fill; `undefined` if the chain runs no calls.
   * @throws DestinationCallFailedError, SimulationUnsupportedError, SimulationOverloadedError, and upstream errors
   */
  readonly unitsOfCalls: ((fill: SimulatedFill) => Promise<bigint>) | undefined
  /** True if an account made the transfer with this nonce; absent where transfers have none. @throws upstream errors */
  hasSent?(transfer: SentTransfer): Promise<boolean>
}

/** A transfer on an exchange, found by its nonce among the account's transfers since a time. */
export type SentTransfer = { readonly account: string; readonly nonce: bigint; readonly sinceMs: number }

/** Options for opening a quoted chain. */
export type QuotingChainOptions = {
  readonly client: ChainClient
  /** Network of the family, as the chains file names it; absent: the main one. */
  readonly network?: string | undefined
  /** Multicall3 contract of a chain that is read by contract calls. */
  readonly multicall3: Hex | undefined
  /** The newest block that the market agrees on; `undefined` while there is none. */
  readonly currentHead: () => { readonly number: bigint; readonly hash: Hex } | undefined
  /** Milliseconds that a request waits for facts that a quote can do without. */
  readonly budgetMs: number
  /** Milliseconds that it waits for facts that a price needs: enough for a round trip across the internet. */
  readonly neededWithinMs: number
  /** Gas limit of simulated calls, on chains that run calls. Default 10 000 000. */
  readonly transactionGasMax?: bigint | undefined
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number
  /** Called with the error of every failed call. */
  readonly onFailure: (error: unknown) => void
}

/** A family's code that reads chains for quotes: a member of its line in `chainFamilies`. */
export type QuotingChainFamily = {
  /** Makes the client of a chain. Opens no connection yet. @throws ConfigurationError for invalid settings */
  readonly connect: (chain: RegisteredChain) => ChainClient
  readonly open: (options: QuotingChainOptions) => QuotingChain
  /** Unix seconds of its newest block; absent if blocks have no timestamps. @throws upstream errors */
  readonly headSeconds?: (client: ChainClient) => Promise<number>
  /** Absent where users send every deposit themselves. */
  readonly signedDeposits?: SignedDepositsFamily
  /** Reads current facts of its network; absent in families that do not offer that. @throws upstream errors */
  readonly networkFacts?: (question: NetworkQuestion) => Promise<NetworkFacts>
  /** Reads market data; absent in families whose market data is read by contract calls. */
  readonly network?: {
    readonly reader: (options: NetworkReaderOptions) => NetworkReader
    /**
     * Contradictions between the chain and its configuration; with `isLocal`, endpoints outside of a local network too.
     * @throws upstream errors
     */
    readonly contradictions: (
      options: NetworkReaderOptions & { readonly isLocal: boolean },
    ) => Promise<readonly ChainFinding[]>
  }
}

/** A client over all endpoints of a chain. Opens no connection yet. @throws ConfigurationError if one is no URL */
export function connectByJsonRpc(
  { id, endpoints, rpcThreshold }: RegisteredChain,
  options: Pick<JsonRpcClientOptions, 'headTracking' | 'lagBlocksMax'> = {},
): ChainClient {
  return createJsonRpcClient({
    chainId: id,
    endpoints: endpoints.map((url) => ({ url })),
    threshold: rpcThreshold,
    ...options,
  })
}
