import type { Hex } from '@causeway/core'
import type { ChainClient } from '@causeway/rpc'
import type { PermitTerms, TokenDomain } from '../ethereum/rules/permit.ts'

/** Calls of a smart account that somebody else submits, with the code that accounts are about to delegate to. */
export type SignedCalls = {
  readonly from: Hex
  readonly depository: string
  readonly to: Hex
  readonly data: Hex
  readonly delegations: readonly { readonly account: Hex; readonly implementation: Hex }[]
}

/** Effect of calls in a trial; `gas` in units of execution. */
export type SimulatedCalls =
  | { readonly succeeds: false }
  | { readonly succeeds: true; readonly gas: bigint; readonly deposits: readonly SimulatedDeposit[] }
export type SimulatedDeposit = { readonly id: Hex; readonly currency: string; readonly amount: bigint }

/** `short`: the owner holds less than the signed amount. */
export type PermitTrial = 'passes' | 'fails' | 'short'

/**
 * Deposits on one chain that users sign and somebody else submits. All throw UpstreamUnavailableError, and all but
 * `nonceOf` and `countTransactions` UpstreamDisagreementError: they ask as many endpoints as a signature needs.
 */
export interface SignedDeposits {
  /** A token's EIP-712 domain, compared with its own separator; undefined where it cannot be told for sure. */
  domainOf(token: string): Promise<TokenDomain | undefined>
  /** `nonces(owner)` of an EIP-2612 token. */
  nonceOf(token: string, owner: Hex): Promise<bigint>
  tryPermit(terms: PermitTerms, signature: Hex): Promise<PermitTrial>
  tryCalls(calls: SignedCalls): Promise<SimulatedCalls>
  /** Transactions of an account; undefined where the answer is none. */
  countTransactions(account: Hex): Promise<number | undefined>
}

/** Opens no connection beside the client's. */
export type SignedDepositsFamily = (options: {
  readonly client: ChainClient
  readonly chainId: number
  readonly multicall3: Hex
}) => SignedDeposits
