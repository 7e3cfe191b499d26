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

/** Whether what stands at an address is a contract that this release knows; `0x` where nothing does. */
export type KnownCode = (
  contract: { readonly name: ReliedContract; readonly address: Hex },
  code: Hex,
) => boolean
