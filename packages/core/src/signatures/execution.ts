import type { Hex } from '../hex.ts'

/** EIP-712 domain `RelayOracle` of the hub's oracle contract. @source rule P-128 */
export type ExecutionDomain = {
  readonly chainId: number
  readonly verifyingContract: Hex
  readonly version: string
}

/** Execution that the hub's oracle contract runs once per key. `actions`: by `encodeMintAction` and its like, in order. */
export type Execution = { readonly idempotencyKey: Hex; readonly actions: readonly Hex[] }

/** EIP-712 domain `RelayAllocatorSpender`, version "1". @source rule P-128 */
export type WithdrawRequestDomain = { readonly chainId: number; readonly verifyingContract: Hex }

/** EIP-712 domain `RelayGenericMapping`, version "1", of the hub's generic mapping. @source rule P-128 */
export type MappingDomain = { readonly chainId: number; readonly verifyingContract: Hex }

/** Entry of the hub's generic mapping, which oracles sign for an account that has no key on the hub. @source rule P-128 */
export type MappingEntry = {
  readonly user: Hex
  readonly id: Hex
  readonly data: Hex
  /** 32 bytes; used once in the whole mapping. */
  readonly nonce: Hex
}

/** Parameters of a payload that the allocator issues, which oracles sign once a withdrawal is initiated. @source rule P-128 */
export type WithdrawRequest = {
  /** Number on the hub of the chain that pays. */
  readonly chainId: bigint
  readonly depository: string
  readonly currency: string
  readonly amount: bigint
  /** The owner's account on the hub, see `hubAlias`. A spender has one payload for each nonce. */
  readonly spender: Hex
  readonly recipient: string
  /** Further parameters of the family's payload; `0x` where it has none. */
  readonly data: Hex
  readonly nonce: Hex
}
