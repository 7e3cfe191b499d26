export {
  atDepth,
  connectQuotingChain,
  headSeconds,
  isReadable,
  linePayingFamily,
  missingSettings,
  networkContradictions,
  openFamilyChain,
  openNetworkReaders,
  openQuotingChain,
  openSettlingChain,
  payingApiKeySettings,
  payingFamily,
  payingKeySettings,
  payingSeconds,
  readNetworkFacts,
} from './chainFamilies.ts'
export { type ChainRegistry, type ChainSources, loadChains } from './config/chainRegistry.ts'
export { type ConfigSource, examineConfigFile, loadConfigFile, readConfigFile } from './config/configFile.ts'
export { environmentFileNames, readEnvironmentFiles } from './config/environmentFiles.ts'
export { type Placeholder, resolvePlaceholders, type Variables } from './config/placeholders.ts'
export type { Endpoints, RegisteredChain, RegisteredHub } from './config/registeredChain.ts'
export type { SigningCap } from './config/signingCap.ts'
export { readSigningCaps } from './config/signingCaps.ts'
export { fillInByDeploying, fillInByHand, unfilledPlaces } from './config/unfilled.ts'
export { type DenyListSettings, denyListSettings, denyListVariables } from './denyList/denyListSettings.ts'
export {
  type DenyListEvent,
  type DenyListHealth,
  examineDenyList,
  type KeptDenyList,
  openDenyList,
} from './denyList/keepDenyList.ts'
export { agreedContracts, type SaidOfContracts } from './ethereum-vm/agreement/agreedContracts.ts'
export { agreeOnBlock, agreeOnHead } from './ethereum-vm/agreement/agreedHead.ts'
export {
  type AgreementReport,
  agreedAnswer,
  agreeOnEach,
  type EachAgreed,
  type PollingClient,
} from './ethereum-vm/agreement/agreedReads.ts'
export {
  type AgreedClient,
  type AgreementOptions,
  agreedRead,
  agreement,
  createAgreedClient,
  UnpinnedReadError,
} from './ethereum-vm/agreement/agreedTransport.ts'
export { isExecutionFailure } from './ethereum-vm/agreement/comparableAnswer.ts'
export { type ChainHead, headRequest, parseHead, readHead } from './ethereum-vm/agreement/head.ts'
export { type HeadChain, type HeadChange, observeHead } from './ethereum-vm/agreement/headChain.ts'
export {
  type AllocatorReader,
  createAllocatorReader,
  type WithdrawalKeys,
  WithdrawalNotFinalError,
} from './ethereum-vm/allocatorReader.ts'
export { askCodeSignature } from './ethereum-vm/codeSignature.ts'
export {
  domainProblems,
  type ExpectedDomain,
  findCodeless,
  readShownDomain,
  type ShownDomain,
} from './ethereum-vm/contractIdentity.ts'
export { readStringResult, readUintResult } from './ethereum-vm/contracts/abiReader.ts'
export {
  type ContractExpectations,
  checkContracts,
  contractFindings,
} from './ethereum-vm/contracts/checkContracts.ts'
export { balanceOfCall, nativeBalanceCall } from './ethereum-vm/contracts/erc20Calls.ts'
export {
  type CodeHashes,
  codeProblems,
  type ExpectedCode,
  expectedCodes,
  warnOfUncheckedCode,
} from './ethereum-vm/contracts/expectedCode.ts'
export {
  type BlockReference,
  type ContractAnswer,
  type ContractCall,
  decodeAggregate3,
  encodeAggregate3,
  encodeForwarded,
  multicall,
  multicallRequest,
} from './ethereum-vm/contracts/multicall.ts'
export { readErc20Deposit, readNativeDeposit } from './ethereum-vm/events.ts'
export {
  createEthereumFactsReader,
  type EthereumFactsReader,
  type EthereumFactsReaderOptions,
} from './ethereum-vm/factsReader.ts'
export type { FinalityRule } from './ethereum-vm/finality.ts'
export {
  type AgreedState,
  type ContractRead,
  createFinalStateReader,
  type FinalLog,
  type FinalLogs,
  type FinalStateReader,
} from './ethereum-vm/finalStateReader.ts'
export type { EthereumReaderLimits } from './ethereum-vm/finalTransactions.ts'
export { type AgreedGas, agreeOnGas } from './ethereum-vm/gas/agreedGas.ts'
export { planDataFees } from './ethereum-vm/gas/dataFees.ts'
export {
  estimateGasPrice,
  type FeeHistory,
  feeHistoryRequest,
  type GasPriceEstimate,
  gasCeilingWei,
  parseFeeHistory,
  tipOf,
} from './ethereum-vm/gas/feeModel.ts'
export { l1DataFeeCalls, type ProbedShape, readL1DataFees } from './ethereum-vm/gas/l1DataFee.ts'
export { probeCalldata, probeTransaction } from './ethereum-vm/gas/probeTransaction.ts'
export { shapeProbes } from './ethereum-vm/gas/shapeProbes.ts'
export { createHubEntries } from './ethereum-vm/genericMapping.ts'
export { createHubBooks } from './ethereum-vm/hubBooks.ts'
export { createHubReader, type HubReader } from './ethereum-vm/hubReader.ts'
export { createHubRecoveries, type HubRecoveries, OraclesRefusedError } from './ethereum-vm/hubRecoveries.ts'
export { createHubTransactions } from './ethereum-vm/hubTransactions.ts'
export { createMappingWriter, MappingTakenError } from './ethereum-vm/mappingWriter.ts'
export { measureShapes } from './ethereum-vm/networkFacts.ts'
export {
  type GasLimits,
  type Trial,
  type TriedTransaction,
  tryTransaction,
} from './ethereum-vm/paying/tryTransaction.ts'
export { judgePools, type PoolMismatch, sampleQuestions } from './ethereum-vm/pools/judgePools.ts'
export type { PoolProblem } from './ethereum-vm/pools/loadTicks.ts'
export { createPoolMirror, type PoolMirror, type PoolMirrorOptions } from './ethereum-vm/pools/poolMirror.ts'
export { quoteOnChain, type SwapQuestion } from './ethereum-vm/pools/quoterV2.ts'
export {
  createRecoveryReader,
  HubNotFinalError,
  type RecoveryFacts,
  type RecoveryQuestion,
  type RecoveryReader,
} from './ethereum-vm/recoveryReader.ts'
export {
  type AccountCodeOptions,
  type AccountCodeReader,
  createAccountCodeReader,
} from './ethereum-vm/simulation/accountCode.ts'
export { createFillSimulator, type FillSimulator } from './ethereum-vm/simulation/fillSimulation.ts'
export {
  type CallSimulator,
  type CallSimulatorOptions,
  createCallSimulator,
} from './ethereum-vm/simulation/simulateCalls.ts'
export {
  DestinationCallFailedError,
  SimulationOverloadedError,
  SimulationUnsupportedError,
} from './ethereum-vm/simulation/simulationErrors.ts'
export {
  createUserFactsReader,
  type UserFactsOptions,
  type UserFactsReader,
} from './ethereum-vm/simulation/userFacts.ts'
export { verifyEvmEndpoints } from './ethereum-vm/verifyEndpoints.ts'
export { examineClock, examineEndpoints, examineHeadPushes } from './examineEndpoints.ts'
export type { ChainFinding } from './family/chainFinding.ts'
export type { FamilyChain } from './family/familyChain.ts'
export { describeFinalChange, type FinalChange, type FinalVerdict, judgeFinal } from './family/finalChange.ts'
export type { HubEntries, MappingWriter } from './family/hubEntries.ts'
export type { KnownCode, ReliedContract } from './family/knownCode.ts'
export {
  AlreadyMarkedError,
  type LineInputs,
  type LinePayingChain,
  type LinePayingFamily,
  type LinePayingOptions,
  type LineView,
  type LineWork,
} from './family/linePayingChain.ts'
export type { ChainMoment, NetworkFacts } from './family/networkFacts.ts'
export type {
  NetworkFeeRefusal,
  NetworkReader,
  NetworkReading,
  ShownNetworkFee,
} from './family/networkReader.ts'
export type { NonceMappings } from './family/nonceMappings.ts'
export type {
  EmptiedAddress,
  ExpiringTransaction,
  FinalMark,
  Landing,
  PayingChain,
  PayingChainFamily,
  PayingFees,
  PayingHead,
  PaymentPlan,
  PaymentState,
  PaymentTerms,
  PlannedPayment,
} from './family/payingChain.ts'
export {
  type PutAside,
  type PutAsideReason,
  putAsideReason,
  type ReadingPurpose,
  rememberUnread,
  unlessPutAside,
} from './family/putAside.ts'
export type {
  QuotingChain,
  QuotingChainOptions,
  SentTransfer,
  SimulatedCall,
  SimulatedFill,
  UserFacts,
  UserFactsQuestion,
} from './family/quotingChain.ts'
export type {
  AddressPayments,
  AddressReading,
  BlockMark,
  FinalPayer,
  PassRange,
  PaymentReading,
  SettlingChain,
  SettlingPass,
} from './family/settlingChain.ts'
export { unlessGone } from './family/settlingReads.ts'
export { checkLocalNodes, isOnThisMachine } from './family/thisMachine.ts'
export { followNewHeads } from './followNewHeads.ts'
export {
  addressesIn,
  chainNotes,
  checkForeignAddresses,
  checkLocalEndpoints,
  joinProblems,
  verifyChain,
} from './guards.ts'
export {
  lighterTransferHasher,
  makeLighterKey,
  openLighterSigner,
  type UnsignedTransfer,
} from './lighter-vm/paying/lighterSigner.ts'
export {
  createNonceMappings,
  sayTimeoutMs,
  vouchForMapping,
  vouchTimeoutMs,
} from './oracles/nonceMappings.ts'
export { createOracleClient, type OracleAnswer, type OracleClient } from './oracles/oracleClient.ts'
export { askHalts, askHaltsEveryMs, keepHalts } from './oracles/oracleHalts.ts'
export { type OracleSettings, parseOracles } from './oracles/oracleSettings.ts'
export { createOracleSight, type OracleSight } from './oracles/oracleSight.ts'
export type { Vouching } from './oracles/vouching.ts'
export { logBlocksAtOnce } from './rpc/askInParts.ts'
export {
  TransactionMissingError,
  TransactionNotFinalError,
  TransactionRevertedError,
  TransactionTooLargeError,
  TransactionUnreadableError,
} from './rpc/chainErrors.ts'
export { unreadableChain } from './rpc/checkEndpoints.ts'
export { type ChainClient, createJsonRpcClient, type JsonRpcClientOptions, waitingIn } from './rpc/client.ts'
export type { EndpointObserver, ObserveEndpoints } from './rpc/endpoint.ts'
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
export { createLruCache } from './rpc/lruCache.ts'
export { MalformedAnswerError } from './rpc/malformedAnswer.ts'
export { NodeError } from './rpc/nodeError.ts'
export {
  parseBytes,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  toQuantity,
} from './rpc/quantity.ts'
export {
  createQuorumClient,
  createQuorumOver,
  type QuorumClient,
  type QuorumClientOptions,
  type QuorumEndpointHealth,
  type QuorumLimits,
} from './rpc/quorumClient.ts'
export type { Line } from './rpc/requestPace.ts'
export { AnswerTooLongError, requestText } from './rpc/requestText.ts'
export { SingleFlight } from './rpc/sharedWork.ts'
export {
  countVoices,
  defaultThreshold,
  type Electorate,
  tally,
  type Verdict,
  type Vote,
  type Voter,
} from './rpc/tally.ts'
export { isOverPace, isTooWide, refusesContent } from './rpc/upstreamError.ts'
export {
  type ChainCheck,
  type ChainGate,
  checkChainsAtStart,
  findContradictions,
  type StartCheckLog,
} from './startChecks.ts'
