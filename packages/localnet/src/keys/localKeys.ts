import type { Hex } from '@causeway/core'

/** An EVM account; the address is in lower case. */
export type LocalAccount = { readonly address: Hex; readonly privateKey: Hex }

/**
 * Every key of one local network, generated at its first start and kept under `.local/`; never a
 * published one, because the chain ids are real.
 */
export type LocalKeys = {
  /** Deploys and owns what must be owned. */
  readonly deployer: LocalAccount
  /** Signs order ids inside quote-api. */
  readonly orderSigner: LocalAccount
  /** Top-up target; in no service. */
  readonly custody: LocalAccount
  /** The solver's inventory. */
  readonly fillWallet: LocalAccount
  /** Moves feeds and pools. */
  readonly keeper: LocalAccount
  /** One signer per oracle; all three are allowed on the 2-of-3 multisig. */
  readonly oracles: readonly [LocalAccount, LocalAccount, LocalAccount]
  /** The demo sponsor's wallet. */
  readonly sponsor: LocalAccount
  /** Signs what the allocator issued: in the allocator's process alone. */
  readonly allocator: LocalAccount
  /** Funded user accounts, at least six. */
  readonly users: readonly LocalAccount[]
}
