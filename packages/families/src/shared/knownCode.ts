import type { Hex } from '@causeway/core'

/** Kinds of contracts on whose code money or signatures rely. The last five are configured in quote files. */
export type ReliedContract =
  | 'Allocator'
  | 'Depository'
  | 'FillContract'
  | 'GenericMapping'
  | 'Hub'
  | 'HubOracle'
  | 'OracleMultisig'
  | 'CleanupRouter'
  | 'DepositAddresses'
  | 'DepositRouter'
  | 'Permit2Router'
  | 'PermitRouter'

/** True if the code at an address is a contract that this release knows; the code is `0x` if there is none. */
export type KnownCode = (
  contract: { readonly name: ReliedContract; readonly address: Hex },
  code: Hex,
) => boolean
