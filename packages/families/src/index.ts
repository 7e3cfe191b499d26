export {
  AlreadyMarkedError,
  type LineInputs,
  type LinePayingChain,
  type LinePayingFamily,
  type LinePayingOptions,
  type LineView,
  type LineWork,
} from './bitcoin/paying/linePayingChain.ts'
export { bitcoinQuotingChain } from './bitcoin/quoting/bitcoinQuotingChain.ts'
export { missingBitcoinSettings, openBitcoinChain } from './bitcoin/reading/openBitcoinChain.ts'
export { bitcoinSettlingChain } from './bitcoin/settling/bitcoinSettlingChain.ts'
export { chainFamilies } from './chainFamilies.ts'
export {
  agreedContracts,
  type ContractTally,
} from './ethereum/agreement/agreedContracts.ts'
export { agreeOnBlock, agreeOnHead } from './ethereum/agreement/agreedHead.ts'
export {
  type AgreementReport,
  agreeOnEach,
  answerOfVerdict,
  type EachAgreed,
  type PollingClient,
} from './ethereum/agreement/agreedReads.ts'
export {
  type AgreedClient,
  type AgreementOptions,
  agreedRead,
  agreement,
  createAgreedClient,
  UnpinnedReadError,
} from './ethereum/agreement/agreedTransport.ts'
export { isExecutionFailure } from './ethereum/agreement/comparableAnswer.ts'
export { type ChainHead, headRequest, parseHead, readHead } from './ethereum/agreement/head.ts'
export { type HeadChain, type HeadChange, observeHead } from './ethereum/agreement/headChain.ts'
export { readStringResult, readUintResult } from './ethereum/contracts/abiReader.ts'
export {
  type ContractExpectations,
  checkContracts,
  contractFindings,
} from './ethereum/contracts/checkContracts.ts'
export { balanceOfCall, nativeBalanceCall } from './ethereum/contracts/erc20Calls.ts'
export {
  type CodeHashes,
  codeProblems,
  type ExpectedCode,
  expectedCodes,
  warnOfUncheckedCode,
} from './ethereum/contracts/expectedCode.ts'
export {
  type BlockReference,
  type ContractAnswer,
  type ContractCall,
  decodeAggregate3,
  encodeAggregate3,
  encodeForwarded,
  multicall,
  multicallRequest,
} from './ethereum/contracts/multicall.ts'
export { ethereumSignedDeposits } from './ethereum/deposits/ethereumSignedDeposits.ts'
export { type AgreedGas, agreeOnGas } from './ethereum/gas/agreedGas.ts'
export { planDataFees } from './ethereum/gas/dataFees.ts'
export {
  estimateGasPrice,
  type FeeHistory,
  feeHistoryRequest,
  type GasPriceEstimate,
  gasCeilingWei,
  parseFeeHistory,
  tipOf,
} from './ethereum/gas/feeModel.ts'
export { l1DataFeeCalls, type ProbedShape, readL1DataFees } from './ethereum/gas/l1DataFee.ts'
export { probeCalldata, probeTransaction } from './ethereum/gas/probeTransaction.ts'
export { shapeProbes } from './ethereum/gas/shapeProbes.ts'
export type {
  Authorization,
  ContractPayingChain,
  ContractPayingFamily,
  FillContracts,
  MinedReceipt,
  NonceCounts,
  PlannedTransaction,
  SignedTransaction,
} from './ethereum/paying/contractPayingChain.ts'
export { NeverTakenError } from './ethereum/paying/submission.ts'
export {
  type GasLimits,
  type Trial,
  type TriedTransaction,
  tryTransaction,
} from './ethereum/paying/tryTransaction.ts'
export { judgePools, type PoolMismatch, sampleQuestions } from './ethereum/pools/judgePools.ts'
export type { PoolProblem } from './ethereum/pools/loadTicks.ts'
export { createPoolMirror, type PoolMirror, type PoolMirrorOptions } from './ethereum/pools/poolMirror.ts'
export { quoteOnChain, type SwapQuestion } from './ethereum/pools/quoterV2.ts'
export { ethereumQuotingChain } from './ethereum/quoting/ethereumQuotingChain.ts'
export {
  type AllocatorReader,
  createAllocatorReader,
  type WithdrawalKeys,
  WithdrawalNotFinalError,
} from './ethereum/reading/allocatorReader.ts'
export { askCodeSignature } from './ethereum/reading/codeSignature.ts'
export {
  domainProblems,
  type ExpectedDomain,
  findCodeless,
  readShownDomain,
  type ShownDomain,
} from './ethereum/reading/contractIdentity.ts'
export { readErc20Deposit, readNativeDeposit } from './ethereum/reading/events.ts'
export {
  createEthereumFactsReader,
  type EthereumFactsReader,
  type EthereumFactsReaderOptions,
} from './ethereum/reading/factsReader.ts'
export type { FinalityRule } from './ethereum/reading/finality.ts'
export {
  type AgreedState,
  type ContractRead,
  createFinalStateReader,
  type FinalLog,
  type FinalLogs,
  type FinalStateReader,
} from './ethereum/reading/finalStateReader.ts'
export type { EthereumReaderLimits } from './ethereum/reading/finalTransactions.ts'
export { createHubEntries } from './ethereum/reading/genericMapping.ts'
export { createHubBooks } from './ethereum/reading/hubBooks.ts'
export { createHubReader, type HubReader } from './ethereum/reading/hubReader.ts'
export {
  createHubTransactions,
  type HubTransaction,
  type HubTransactions,
} from './ethereum/reading/hubTransactions.ts'
export { createMappingWriter, MappingTakenError } from './ethereum/reading/mappingWriter.ts'
export { measureShapes } from './ethereum/reading/networkFacts.ts'
export {
  createRecoveryReader,
  HubNotFinalError,
  type RecoveryFacts,
  type RecoveryQuestion,
  type RecoveryReader,
} from './ethereum/reading/recoveryReader.ts'
export { verifyEvmEndpoints } from './ethereum/reading/verifyEndpoints.ts'
export {
  askAny,
  askFinalHeight,
  askHeight,
  askQuorum,
  quorumOf,
} from './ethereum/settling/askChain.ts'
export {
  blockReading,
  type Reading,
  type TransferHit,
  traceReading,
  transactionReading,
  transfersReading,
} from './ethereum/settling/chainReadings.ts'
export { ethereumSettlingChain } from './ethereum/settling/ethereumSettlingChain.ts'
export { lateBlocksOf, lateMs } from './ethereum/settling/lateBlocks.ts'
export { readPaidSwap } from './ethereum/settling/paidSwaps.ts'
export {
  type AccountCodeOptions,
  type AccountCodeReader,
  createAccountCodeReader,
} from './ethereum/simulation/accountCode.ts'
export { createFillSimulator, type FillSimulator } from './ethereum/simulation/fillSimulation.ts'
export {
  type CallSimulator,
  type CallSimulatorOptions,
  createCallSimulator,
} from './ethereum/simulation/simulateCalls.ts'
export {
  DestinationCallFailedError,
  SimulationOverloadedError,
  SimulationUnsupportedError,
} from './ethereum/simulation/simulationErrors.ts'
export {
  createUserFactsReader,
  type UserFactsOptions,
  type UserFactsReader,
} from './ethereum/simulation/userFacts.ts'
export { hyperliquidQuotingChain } from './hyperliquid/quoting/hyperliquidQuotingChain.ts'
export { openHyperliquidChain } from './hyperliquid/reading/openHyperliquidChain.ts'
export {
  lighterTransferHasher,
  makeLighterKey,
  openLighterSigner,
  type UnsignedTransfer,
} from './lighter/paying/lighterSigner.ts'
export { lighterQuotingChain } from './lighter/quoting/lighterQuotingChain.ts'
export { openLighterChain } from './lighter/reading/openLighterChain.ts'
export {
  type LargestTransfer,
  largestTransfers,
  payersOf,
  sumPayments,
} from './shared/addressPayments.ts'
export type { ChainFinding } from './shared/chainFinding.ts'
export type { FamilyChain, FamilyLimits, OpenFamilyChain, ReadableChain } from './shared/familyChain.ts'
export { describeFinalChange, type FinalChange, type FinalVerdict, judgeFinal } from './shared/finalChange.ts'
export type { EntryProof, HubEntries, MappingWriter } from './shared/hubEntries.ts'
export type { KnownCode, ReliedContract } from './shared/knownCode.ts'
export { canPay, type ListedChain } from './shared/listedPayers.ts'
export type { ChainMoment, NetworkFacts, NetworkQuestion } from './shared/networkFacts.ts'
export type {
  NetworkFeeRefusal,
  NetworkReader,
  NetworkReaderOptions,
  NetworkReading,
  ShownNetworkFee,
} from './shared/networkReader.ts'
export type { NonceMappings } from './shared/nonceMappings.ts'
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
} from './shared/payingChain.ts'
export {
  type PutAside,
  type PutAsideReason,
  putAsideReason,
  type ReadingPurpose,
  rememberUnread,
  unlessPutAside,
} from './shared/putAside.ts'
export type {
  QuotingChain,
  QuotingChainFamily,
  QuotingChainOptions,
  SentTransfer,
  SimulatedCall,
  SimulatedFill,
  UserFacts,
  UserFactsQuestion,
} from './shared/quotingChain.ts'
export {
  type AdditionalData,
  type Endpoints,
  type RegisteredChain,
  type RegisteredHub,
  secretMembers,
} from './shared/registeredChain.ts'
export type {
  AddressPayments,
  AddressReading,
  BlockRef,
  FinalPayer,
  MinedTransaction,
  OnMalformed,
  PaidSwap,
  PassRange,
  PaymentRange,
  PaymentReading,
  SettlingChain,
  SettlingChainFamily,
  SettlingPass,
} from './shared/settlingChain.ts'
export { unlessGone } from './shared/settlingReads.ts'
export type {
  PermitTrial,
  SignedDeposits,
  SignedDepositsFamily,
  SimulatedCalls,
} from './shared/signedDeposits.ts'
export type { SigningCap } from './shared/signingCap.ts'
export {
  checkLocalNodes,
  isOnThisMachine,
  localEnvironment,
  rehearsalEnvironment,
} from './shared/thisMachine.ts'
export { solanaPaying } from './solana/paying/solanaPayingChain.ts'
export { solanaQuotingChain } from './solana/quoting/solanaQuotingChain.ts'
export { solanaSettlingChain } from './solana/settling/solanaSettlingChain.ts'
export { tronPaying } from './tron/paying/tronPayingChain.ts'
export { tronQuotingChain } from './tron/quoting/tronQuotingChain.ts'
