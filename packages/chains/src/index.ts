export { type ConfigSource, loadConfigFile } from './config/configFile.ts'
export { resolvePlaceholders, type UnsetPlaceholder, type Variables } from './config/placeholders.ts'
export { publishedDevelopmentAddresses } from './config/publishedAddresses.ts'
export { readConfigFiles } from './config/readConfigFiles.ts'
export {
  type AllocatorReader,
  createAllocatorReader,
  type WithdrawalKeys,
  WithdrawalNotFinalError,
} from './ethereum-vm/allocatorReader.ts'
export {
  domainProblems,
  type ExpectedDomain,
  findCodeless,
  readShownDomain,
  type ShownDomain,
} from './ethereum-vm/contractIdentity.ts'
export {
  createEthereumFactsReader,
  type EthereumFactsReader,
  type EthereumFactsReaderOptions,
} from './ethereum-vm/factsReader.ts'
export type { FinalityRule } from './ethereum-vm/finality.ts'
export type { EthereumReaderLimits } from './ethereum-vm/finalTransactions.ts'
export { createHubEntries } from './ethereum-vm/genericMapping.ts'
export { createHubReader, type HubReader } from './ethereum-vm/hubReader.ts'
export {
  createRecoveryReader,
  HubNotFinalError,
  type RecoveryFacts,
  type RecoveryQuestion,
  type RecoveryReader,
} from './ethereum-vm/recoveryReader.ts'
export { verifyEvmEndpoints } from './ethereum-vm/verifyEndpoints.ts'
export { readStringResult, readUintResult } from './evm/abiReader.ts'
export {
  type AccountCodeOptions,
  type AccountCodeReader,
  createAccountCodeReader,
} from './evm/accountCode.ts'
export { agreedContracts } from './evm/agreedContracts.ts'
export { agreeOnBlock, agreeOnHead } from './evm/agreedHead.ts'
export {
  type AgreementReport,
  agreedAnswer,
  agreeOnEach,
  type BatchClient,
  createAgreedReads,
  type EachAgreed,
  type PollingClient,
} from './evm/agreedReads.ts'
export { type ContractExpectations, checkContracts } from './evm/checkContracts.ts'
export { balanceOfCall, nativeBalanceCall } from './evm/erc20Calls.ts'
export { agreeOnGas, estimatesNeeded, type TipSource } from './evm/gas/agreedGas.ts'
export {
  estimateGasPrice,
  type FeeHistory,
  feeHistoryRequest,
  type GasPriceEstimate,
  gasCeilingWei,
  medianUp,
  parseFeeHistory,
  tipOf,
} from './evm/gas/feeModel.ts'
export { l1DataFeeCalls, type ProbedShape, readL1DataFees } from './evm/gas/l1DataFee.ts'
export { type CalldataWord, probeCalldata, probeTransaction } from './evm/gas/probeTransaction.ts'
export { type ChainHead, headRequest, parseHead, readHead } from './evm/head.ts'
export { type HeadChain, type HeadChange, observeHead } from './evm/headChain.ts'
export { MalformedAnswerError } from './evm/malformedAnswer.ts'
export {
  type BlockReference,
  type ContractAnswer,
  type ContractCall,
  decodeAggregate3,
  encodeAggregate3,
  multicall,
  multicallRequest,
} from './evm/multicall.ts'
export { judgePools, type PoolMismatch, sampleQuestions } from './evm/pools/judgePools.ts'
export type { PoolProblem } from './evm/pools/loadTicks.ts'
export { createPoolMirror, type PoolMirror, type PoolMirrorOptions } from './evm/pools/poolMirror.ts'
export { quoteOnChain, type SwapQuestion } from './evm/pools/quoterV2.ts'
export {
  parseBytes,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  toQuantity,
} from './evm/quantity.ts'
export { RecentCache } from './evm/recentCache.ts'
export { type CallSimulator, type CallSimulatorOptions, createCallSimulator } from './evm/simulateCalls.ts'
export type { SimulatedCall } from './evm/simulation.ts'
export {
  DestinationCallFailedError,
  SimulationOverloadedError,
  SimulationUnsupportedError,
} from './evm/simulationErrors.ts'
export {
  createUserFactsReader,
  type UserFacts,
  type UserFactsOptions,
  type UserFactsQuestion,
  type UserFactsReader,
} from './evm/userFacts.ts'
export { isReadable, missingSettings, openFamilyChain } from './family/chainFamilies.ts'
export type { FamilyChain } from './family/familyChain.ts'
export type { HubEntries } from './family/hubEntries.ts'
export {
  addressesIn,
  checkForeignAddresses,
  checkLocalEndpoints,
  checkLocalNodes,
  localAddressesOf,
} from './guards.ts'
export {
  type ChainRegistry,
  type ChainSources,
  type Endpoints,
  loadChains,
  type RegisteredChain,
  type RegisteredHub,
} from './registry.ts'
export {
  TransactionMissingError,
  TransactionNotFinalError,
  TransactionRevertedError,
  TransactionTooLargeError,
} from './rpc/chainErrors.ts'
export { type ChainClient, createJsonRpcClient, type JsonRpcClientOptions } from './rpc/client.ts'
export { EndpointFailure, type FailureReason } from './rpc/endpointFailure.ts'
export { countHosts } from './rpc/endpointUrl.ts'
export { evmHeadTracking, type HeadTracking } from './rpc/headTracking.ts'
export type {
  Agreement,
  AgreeOptions,
  EndpointAnswers,
  EndpointHealth,
  JsonRpcClient,
  PollOptions,
  RpcAnswer,
  RpcCall,
  RpcOptions,
} from './rpc/jsonRpc.ts'
export { NodeError } from './rpc/nodeError.ts'
export { OneFlight } from './rpc/oneFlight.ts'
export {
  createQuorumClient,
  createQuorumOver,
  type QuorumClient,
  type QuorumClientOptions,
  type QuorumEndpointHealth,
  type QuorumLimits,
} from './rpc/quorumClient.ts'
export {
  countVoices,
  defaultThreshold,
  type Electorate,
  tally,
  type Verdict,
  type Vote,
  type Voter,
} from './rpc/tally.ts'
export { WeightedCache } from './rpc/weightedCache.ts'
export { deriveProgramAddresses, type ProgramAddresses } from './solana-vm/programAddresses.ts'
export {
  associatedTokenProgram,
  depositNativeDiscriminator,
  depositTokenDiscriminator,
  executeTransferDiscriminator,
  memoProgram,
  tokenProgram,
} from './solana-vm/programs.ts'
