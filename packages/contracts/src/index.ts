export {
  allocatorAbi,
  bitcoinPayloadBuilderAbi,
  cleanupRouterAbi,
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
  permit2RouterAbi,
  permitRouterAbi,
  solanaPayloadBuilderAbi,
} from './abis.generated.ts'
export { type Artifacts, compileOnce, contractsFolder, loadArtifacts, readSources } from './artifacts.ts'
export { type CodeState, codeStateOf } from './codes.ts'
export type { Artifact, ArtifactsOf, CodeSpan } from './compile.ts'
export { type ContractName, contractSources } from './contractNames.ts'
export {
  create2Proxy,
  type DeploymentChain,
  deployContracts,
  deploymentPlan,
  NoProxyError,
  type PlannedDeployment,
  type Surroundings,
} from './deployment.ts'
export {
  type Erc20Payment,
  encodeFill,
  type Fill,
  type FillCall,
  type NativePayment,
  type OrderCalls,
} from './encodeFill.ts'
export { renderAbis } from './renderAbis.ts'
export { type DeployedName, deployedNames, renderCodes } from './renderCodes.ts'
