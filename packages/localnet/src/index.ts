export {
  type Artifact,
  allocatorAbi,
  depositAddressesAbi,
  depositoryAbi,
  depositRouterAbi,
  fillContractAbi,
  genericMappingAbi,
  hubAbi,
  hubOracleAbi,
  oracleMultisigAbi,
  permitRouterAbi,
} from '@causeway/contracts'
export { freeLoopbackPort } from '@causeway/database'
export {
  type AllocatorNetwork,
  allocatorEd25519Key,
  allocatorEnvironment,
  allocatorKeys,
} from './allocator/allocatorEnvironment.ts'
export {
  blockTimes,
  type CountedChains,
  countRequests,
  findExcess,
  findUnequalWork,
  makeBlocks,
  newestBlockOf,
} from './blockRates.ts'
export {
  delegationManagerAbi,
  gasPriceOracleAbi,
  lendingMarketAbi,
  multicall3Abi,
  priceFeedAbi,
  tokenAbi,
  wrappedNativeAbi,
} from './contracts/abis.generated.ts'
export { type Artifacts, loadArtifacts } from './contracts/artifacts.ts'
export {
  type ChainDeployment,
  type HubDeployment,
  localChainIds,
  type NetworkDeployment,
  type PoolDeployment,
  type TokenSymbol,
} from './contracts/deployment.ts'
export { type BatchedCall, caliburAddress, signBatch, signDelegation } from './contracts/signBatch.ts'
export { randomWord, recordsPayments, testCalls, testFill } from './contracts/testFill.ts'
export { executeCallData, payloadCallData } from './deploy/callRequest.ts'
export { addDepositories } from './deploy/deployHub.ts'
export { deployNetwork, type NetworkToDeploy } from './deploy/deployNetwork.ts'
export { accountAbstractionCode, entryPointAddress, publicContracts } from './deploy/publicContracts.ts'
export { type FamilyKey, familyKeys, familyPlans } from './families/familyPlans.ts'
export type { FamilyFacts } from './families/familySettings.ts'
export { familyVariables } from './families/familyVariables.ts'
export {
  familyChainIds,
  familyTokens,
  fillWalletVariable,
} from './families/quotedFamilies.ts'
export {
  type SolanaAccount,
  type SolanaAccounts,
  solanaAccounts,
} from './families/solanaAccounts.ts'
export {
  type LocalMint,
  localMints,
  type SolanaTokenSymbol,
} from './families/solanaTokens.ts'
export { type OpenFamilies, startFamilies } from './families/startFamilies.ts'
export type { FaultCounters } from './faultProxy/counting.ts'
export type { FaultMode, SeenCall } from './faultProxy/faultMode.ts'
export { type FaultProxy, type SeenRequest, startFaultProxy } from './faultProxy/faultProxy.ts'
export { isPersonalityName, nodePersonalities, type PersonalityName } from './faultProxy/nodePersonalities.ts'
export type { NodeFamily, NodePersonality } from './faultProxy/nodePersonality.ts'
export { type HostileClient, startHostileClient } from './hostileClient.ts'
export { contradictedExample, describedOperations } from './interfaceDescription/describedOperations.ts'
export { lintDescription } from './interfaceDescription/lintDescription.ts'
export { familyAccounts } from './keys/familyAccounts.ts'
export type { LocalAccount, LocalKeys } from './keys/localKeys.ts'
export { type KmsMode, type KmsStandIn, startKmsStandIn } from './kms/startKmsStandIn.ts'
export { type ChainKey, chainKeys, chainPlans } from './network/chainPlan.ts'
export { attachLocalNetwork } from './network/operate/attach.ts'
export { setBaseFee } from './network/operate/baseFee.ts'
export { type OperatorCommand, parseOperatorCommand } from './network/operate/commands.ts'
export { dispense } from './network/operate/faucet.ts'
export { movePrice, type PriceMove } from './network/operate/movePrice.ts'
export type { OperatedNetwork } from './network/operate/operatedNetwork.ts'
export { runOperatorCommand } from './network/operate/runCommand.ts'
export { attestedExecutionSchema, submitExecution } from './network/operate/submitAttestation.ts'
export { stopOrphanedDatabases } from './network/orphanedDatabases.ts'
export type { PriceKey } from './network/refreshFeeds.ts'
export { openEndpoints, type SessionEndpoints } from './network/services/endpoints.ts'
export { shadowPlan } from './network/services/oracle.ts'
export { type ServicePlan, servicePlans } from './network/services/servicePlan.ts'
export { type Session, type SessionOptions, startSession } from './network/services/startSession.ts'
export {
  type LocalNetwork,
  type LocalNetworkOptions,
  type RunningChain,
  startLocalNetwork,
  type UnexpectedEnd,
} from './network/startLocalNetwork.ts'
export { type ChainBed, chainBedOn } from './network/testNetwork/chainBed.ts'
export {
  startTestNetwork,
  type TestChain,
  type TestNetwork,
  type TestNetworkOptions,
} from './network/testNetwork/startTestNetwork.ts'
export { type Anvil, type AnvilOptions, startAnvil } from './nodes/anvil.ts'
export { askNode } from './nodes/askNode.ts'
export type { LocalClients } from './nodes/clients.ts'
export { connectLocalChain, type LocalChain, type LocalTransaction } from './nodes/localChain.ts'
export { bundledScript } from './processes/bundledScript.ts'
export { type ManagedProcess, startProcess } from './processes/managedProcess.ts'
export { describeEnd, type ProcessEnd, StartFailure } from './processes/processEnd.ts'
export { waitUntilReady } from './processes/readiness.ts'
export { type RunFile, takeRunFile } from './processes/runFile.ts'
export { rehearsalEnvironment } from './rehearsal/market.ts'
export { type Rehearsal, rehearsedCoins, startRehearsal } from './rehearsal/startRehearsal.ts'
export {
  type BlockTree,
  createBlockTree,
  type ScriptedBlock,
  type ScriptedTransaction,
} from './scriptedChain/blockTree.ts'
export { type ScriptedChain, startScriptedChain } from './scriptedChain/startScriptedChain.ts'
export { solverEnvironment } from './solver/solverEnvironment.ts'
export { type SpawnedService, spawnAllocator, spawnOracle, spawnSolver } from './solver/spawnSolver.ts'
export { deployUniswapV3, type UniswapV3Deployment } from './uniswap/deployUniswapV3.ts'
export { approveAll, createPool, type PriceRatio } from './uniswap/pools.ts'
export { type PoolTestbed, startPoolTestbed } from './uniswap/poolTestbed.ts'
export {
  burnLiquidity,
  ensurePositions,
  type MintedPosition,
  mintPositions,
  type PoolAccess,
  type Position,
} from './uniswap/positions.ts'
export { swapExactInput } from './uniswap/swap.ts'
export { type WaitOptions, waitUntil } from './waitUntil.ts'
export { evmWallets, placeEvmWallet, safeCode, safeProxy } from './wallets/evmWallets.ts'
