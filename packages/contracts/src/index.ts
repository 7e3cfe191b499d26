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
export {
  type CodeState,
  codeStateOf,
  create2Proxy,
  deploymentSalt,
  fillContractAddress,
  isKnownCode,
  type PublicCode,
  publicCodes,
} from './codes.ts'
export type { Artifact, ArtifactsOf, CodeSpan } from './compile.ts'
export { type ContractName, contractSources } from './contractNames.ts'
export {
  type Deployable,
  type DeploymentChain,
  deployContracts,
  type ExistingContracts,
  NoProxyError,
  type PlannedDeployment,
  planCreate2Deployment,
  planDeployment,
  type Transaction,
} from './deployment.ts'
export {
  type Erc20Payment,
  encodeFill,
  type Fill,
  type FillCall,
  type NativePayment,
  type OrderCalls,
} from './encodeFill.ts'
export { paidDepositories } from './paidDepositories.ts'
export { renderAbis } from './renderAbis.ts'
export { type DeployedName, deployedNames, renderCodes } from './renderCodes.ts'
export {
  depositoryInitialization,
  ForeignOwnerError,
  type Initialization,
  initializeContracts,
  type PaidDepository,
  planDepository,
  planSettlement,
  readBuilders,
  type SettlementParties,
  type SettlementPlan,
  settlementInitializations,
} from './settlement.ts'
