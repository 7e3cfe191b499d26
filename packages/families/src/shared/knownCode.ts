import type { Hex } from '@causeway/core'

/** Contracts that money or signatures rely on; the last five of a quote file. */
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
