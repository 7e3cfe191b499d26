/** The contracts that are deployed or called, with the source that defines each. */
export const contractSources = {
  FreeHub: 'adversaries/FreeHub.sol',
  Reenterer: 'adversaries/Reenterer.sol',
  DepositAddresses: 'chain/DepositAddresses.sol',
  DepositSweep: 'chain/DepositSweep.sol',
  Depository: 'chain/Depository.sol',
  DepositRouter: 'chain/DepositRouter.sol',
  FillContract: 'chain/FillContract.sol',
  FillExecutor: 'chain/FillExecutor.sol',
  PermitRouter: 'chain/PermitRouter.sol',
  PermittedDeposit: 'chain/PermittedDeposit.sol',
  PriceFeed: 'chain/PriceFeed.sol',
  Token: 'chain/Token.sol',
  WrappedNative: 'chain/WrappedNative.sol',
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
  GasPriceOracle: 'predeploys/GasPriceOracle.sol',
  Multicall3: 'predeploys/Multicall3.sol',
} as const

export type ContractName = keyof typeof contractSources

/** In the order of the table above. */
export const contractNames: readonly ContractName[] = Object.keys(contractSources).filter(isContractName)

function isContractName(name: string): name is ContractName {
  return name in contractSources
}
