/** Path of the source file that defines each contract, relative to the folder of sources. */
export type ContractSources<Name extends string> = Readonly<Record<Name, string>>

/** Contracts that an operator deploys, and contracts that those deploy themselves (such as `OrderClone`). */
export const contractSources = {
  CleanupRouter: 'chain/CleanupRouter.sol',
  DepositAddresses: 'chain/DepositAddresses.sol',
  DepositSweep: 'chain/DepositSweep.sol',
  Depository: 'chain/Depository.sol',
  DepositRouter: 'chain/DepositRouter.sol',
  FillContract: 'chain/FillContract.sol',
  OrderClone: 'chain/OrderClone.sol',
  Permit2Router: 'chain/Permit2Router.sol',
  PermitRouter: 'chain/PermitRouter.sol',
  PermittedCalls: 'chain/PermittedCalls.sol',
  PermittedDeposit: 'chain/PermittedDeposit.sol',
  Allocator: 'hub/Allocator.sol',
  BitcoinPayloadBuilder: 'hub/payloadBuilders/BitcoinPayloadBuilder.sol',
  EvmPayloadBuilder: 'hub/payloadBuilders/EvmPayloadBuilder.sol',
  HyperliquidPayloadBuilder: 'hub/payloadBuilders/HyperliquidPayloadBuilder.sol',
  LighterPayloadBuilder: 'hub/payloadBuilders/LighterPayloadBuilder.sol',
  SolanaPayloadBuilder: 'hub/payloadBuilders/SolanaPayloadBuilder.sol',
  GenericMapping: 'hub/GenericMapping.sol',
  Hub: 'hub/Hub.sol',
  HubOracle: 'hub/HubOracle.sol',
  OracleMultisig: 'hub/OracleMultisig.sol',
} as const

export type ContractName = keyof typeof contractSources

/** The names of a table, in its order. */
export function namesOf<Name extends string>(table: ContractSources<Name>): readonly Name[] {
  // CAST: a table has no keys but the names of its type.
  return Object.keys(table) as Name[]
}
