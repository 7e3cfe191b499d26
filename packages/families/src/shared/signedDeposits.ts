import type { Hex } from '@causeway/core'
import type { ChainClient } from '@causeway/rpc'
import type { PermitTerms, TokenDomain } from '../rules/permitTerms.ts'

/** Signed calls of a smart account that we submit, with the EIP-7702 delegations that come into force with them. */
export type SignedCalls = {
  /** Account that submits them. */
  readonly from: Hex
  readonly depository: string
  readonly to: Hex
  readonly data: Hex
  readonly delegations: readonly { readonly account: Hex; readonly implementation: Hex }[]
}

/** Outcome of simulated calls; `gas` in units of execution. */
export type SimulatedCalls =
  | { readonly succeeds: false }
  | { readonly succeeds: true; readonly gas: bigint; readonly deposits: readonly SimulatedDeposit[] }
export type SimulatedDeposit = { readonly id: Hex; readonly currency: string; readonly amount: bigint }

/** Outcome of a simulated permit. `short`: the owner holds less than the signed amount. */
export type PermitTrial = 'passes' | 'fails' | 'short'

/**
 * Reads and simulations for deposits that users sign and we submit, on one chain. All throw UpstreamUnavailableError.
 * All but `nonceOf` and `countTransactions` need agreement of endpoints and throw UpstreamDisagreementError as well.
 */
export interface SignedDeposits {
  /** A token's EIP-712 domain, checked against its own separator; undefined if it cannot be known for sure. */
  domainOf(token: string): Promise<TokenDomain | undefined>
  /** `nonces(owner)` of an EIP-2612 token. */
  nonceOf(token: string, owner: Hex): Promise<bigint>
  tryPermit(terms: PermitTerms, signature: Hex): Promise<PermitTrial>
  tryCalls(calls: SignedCalls): Promise<SimulatedCalls>
  /** Number of transactions that an account has sent (its nonce); undefined for a malformed answer. */
  countTransactions(account: Hex): Promise<number | undefined>
}

/** Makes the `SignedDeposits` of one chain, over the client's connections. */
export type SignedDepositsFamily = (options: {
  readonly client: ChainClient
  readonly chainId: number
  readonly multicall3: Hex
}) => SignedDeposits
