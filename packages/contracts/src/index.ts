export {
  allocatorAbi,
  bitcoinPayloadBuilderAbi,
  depositAddressesAbi,
  depositoryAbi,
  depositRouterAbi,
  evmPayloadBuilderAbi,
  fillContractAbi,
  genericMappingAbi,
  hubAbi,
  hubOracleAbi,
  hyperliquidPayloadBuilderAbi,
  lighterPayloadBuilderAbi,
  oracleMultisigAbi,
  permitRouterAbi,
  solanaPayloadBuilderAbi,
} from './abis.generated.ts'
export { type Artifacts, compileOnce, contractsFolder, loadArtifacts, readSources } from './artifacts.ts'
export type { Artifact, ArtifactsOf } from './compile.ts'
export { type ContractName, contractSources } from './contractNames.ts'
export {
  type Erc20Payment,
  encodeFill,
  type Fill,
  type FillCall,
  type NativePayment,
  type OrderCalls,
} from './encodeFill.ts'
export { renderAbis } from './renderAbis.ts'
