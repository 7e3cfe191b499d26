export { assertNever } from './assertNever.ts'
export {
  encodeBurnAction,
  encodeMintAction,
  encodeTransferAction,
  type ReadAction,
  readAction,
} from './attestation/actions.ts'
export { depositMessageId, withdrawalMessageId } from './attestation/chainMessageIds.ts'
export {
  depositsExecutionKey,
  deterministicId,
  onchainId,
  recoveryKey,
  settlementExecutionKey,
  withdrawalExecutedKey,
  withdrawalExpiredKey,
  withdrawalInitiationKey,
  withdrawalKey,
} from './attestation/deterministicIds.ts'
export type {
  AheadReader,
  CodeSignatureQuestion,
  DepositFact,
  DepositFacts,
  DepositQuestion,
  Evidence,
  ExecutedCallFact,
  FactsReader,
  FinalBlock,
  FinalBlockScan,
  FinalBlocks,
  InBlock,
  PaymentFacts,
  PaymentQuestion,
  PendingReason,
  ReadOptions,
  ScanStart,
  TransferFact,
  WithdrawalFacts,
  WithdrawalQuestion,
  WithdrawalStatus,
  WithdrawRequestFacts,
  WithdrawRequestQuestion,
} from './attestation/facts.ts'
export { withdrawalStatuses } from './attestation/facts.ts'
export {
  derivedHubChainId,
  hubAlias,
  hubTokenId,
  orderAddress,
  withdrawalAddress,
} from './attestation/hubIds.ts'
export type {
  DepositMessage,
  FillEntry,
  FillMessage,
  InputEntry,
  RefundEntry,
  RefundMessage,
  SettlementResult,
  WithdrawalMessage,
} from './attestation/messages.ts'
export { type Movement, type Received, receivedBy } from './attestation/movements.ts'
export {
  noFillOrRefundData,
  noFillOrRefundEntry,
  noFillOrRefundPlace,
} from './attestation/noFillOrRefund.ts'
export {
  nonceMappingEntry,
  nonceMappingId,
} from './attestation/nonceMapping.ts'
export { ordinalOf, refundedDeposit } from './attestation/refundedDeposit.ts'
export {
  type AttestationKind,
  type AttestationKindName,
  attestationKinds,
  type SignaturesAt,
} from './attestation/responses/kinds.ts'
export {
  type DepositsResponse,
  depositsResponseSchema,
  type FillsResponse,
  fillsResponseSchema,
  type HeldExecution,
  type NoFillOrRefundResponse,
  type NonceMappingResponse,
  noFillOrRefundResponseSchema,
  type RecoveryResponse,
  type RefundsResponse,
  type RequestedWithdrawalsResponse,
  recoveryResponseSchema,
  refundsResponseSchema,
  requestedWithdrawalsResponseSchema,
  type WithdrawalInitiatedResponse,
  type WithdrawalInitiationResponse,
  type WithdrawalsResponse,
  withdrawalAddressRequestSchema,
  withdrawalBytesMax,
  withdrawalInitiatedResponseSchema,
  withdrawalInitiationResponseSchema,
  withdrawalsResponseSchema,
} from './attestation/responses/schemas.ts'
export type { SignatureArray, SignatureContext } from './attestation/responses/signatureArrays.ts'
export type { SignatureClaim, SignatureDomain } from './attestation/responses/signatureEntries.ts'
export { fillMessageId, refundMessageId, UnknownOrderPartError } from './attestation/settlementMessageIds.ts'
export {
  bpsDiffUnit,
  type DemandedPayment,
  firstMissingCall,
  firstUnpaid,
  type UnpaidPayment,
  weightedInputBpsDiff,
} from './attestation/settlementRules.ts'
export {
  type AttestationProblem,
  type AttestationVerdict,
  verifyAttestation,
} from './attestation/verifyAttestation.ts'
export { type ProvenRow, verifyRows } from './attestation/verifyRows.ts'
export { withdrawRequestPayloadId } from './attestation/withdrawRequestId.ts'
export {
  type DepthFacts,
  type DepthRow,
  type DepthRule,
  deepestRule,
  depthBlocks,
  depthMs,
  depthRuleFor,
  type MissingDepth,
  missingDepth,
} from './chain/depth.ts'
export type { HeadSubscription } from './chain/headSubscription.ts'
export { type NetworkOf, type ProtocolChain, UnknownChainError } from './chain/protocolChain.ts'
export {
  type AllocatorDepository,
  type AllocatorFile,
  allocatorFileSchema,
} from './config/allocatorFile.ts'
export {
  type ChainEntry,
  type ChainsFile,
  chainEntrySchema,
  chainsFileSchema,
  type Finality,
} from './config/chainsFile.ts'
export {
  type EnergyModel,
  type FeerateModel,
  type FlatModel,
  feeModelClass,
  type GasModel,
  lacksGasPriceOracle,
  type PriorityFeeModel,
} from './config/feeModels.ts'
export { type HubFile, hubFileSchema } from './config/hubFile.ts'
export { publishedDevelopmentAddresses } from './config/publishedAddresses.ts'
export {
  blocksAtPace,
  type ContractChain,
  contractChain,
  type ExternalLiquiditySettings,
  type GuardianSet,
  guardianQuorum,
  isContractChain,
  leastBetweenReadsMs,
  type PoolConfig,
  type PriceFeed,
  paceMs,
  type QuoteAsset,
  type QuoteCeilings,
  type QuoteChain,
  type QuoteCurrency,
  type QuoteFile,
  type QuotePrice,
  quoteFileSchema,
} from './config/quoteFile.ts'
export { decimalInteger, environmentName, listenPort, portsRefusedByFetch } from './config/scalars.ts'
export { type SettlementFile, settlementFileSchema } from './config/settlementFile.ts'
export {
  type ExposureLimits,
  exposureLimitsOf,
  type GasBudgets,
  gasBudgetsOf,
  type SolverChainPolicy,
  type SolverFile,
  solverFileSchema,
} from './config/solverFile.ts'
export { type AssetClass, type Currency, type CurrencyKey, currencyKey } from './currency/currency.ts'
export { type Deadline, lateError, startDeadline, whenAborted } from './deadline.ts'
export {
  blockedWallet,
  type DenyList,
  isDenied,
  parseDenyList,
  refuseReplacement,
  unionOfDenyLists,
} from './denyList/denyList.ts'
export {
  clockFindings,
  clockLimitMs,
  createFindings,
  type Finding,
  type FindingCode,
  type Findings,
  findingCodes,
  findingsOf,
  type Severity,
  severities,
  stopsStart,
  UnfitSettingsError,
} from './doctor/finding.ts'
export {
  heldText,
  type ListEntry,
  listEntries,
  type ReadVariables,
  readVariables,
  splitList,
} from './doctor/readVariables.ts'
export {
  counted,
  type DoctorReport,
  type ExampleVariable,
  exampleVariables,
  hintsOf,
  reportOf,
  reportText,
} from './doctor/report.ts'
export {
  ConfigurationError,
  DomainError,
  type DomainErrorOptions,
  type ErrorData,
  type ErrorKind,
  UpstreamDisagreementError,
  UpstreamUnavailableError,
} from './errors.ts'
export {
  type FeeComponent,
  type FeePart,
  type FeeTotalName,
  feeComponents,
  feeParts,
  feeRule,
  feeTotalNames,
  impactMembers,
  isSponsored,
  partsBoughtBy,
  requestV2Members,
  requestV3Members,
  type SponsorCeiling,
  type SponsoredComponent,
  type SponsoredWord,
  type StoredComponent,
  sponsorCeilings,
  sponsoredComponents,
  sponsoredWords,
  sponsorRule,
  storedComponents,
} from './fees/feeRules.ts'
export {
  type FeeParts,
  feesByComponent,
  feesByImpact,
  feesInRequestsV2,
  feesInRequestsV3,
  feeTotals,
  noFees,
  perName,
  sponsorableFees,
  sumOfFees,
} from './fees/fees.ts'
export { decodeBase58Text, encodeBase58 } from './hashing/base58Check.ts'
export { canonicalJson } from './hashing/canonicalJson.ts'
export { bytesToHex, concatBytes, hexToBytes, parseHexDigits, utf8Bytes } from './hashing/hexBytes.ts'
export { keccak256, keccak256Hex } from './hashing/keccak.ts'
export { sha256, sha256TextHex } from './hashing/sha256.ts'
export { domainSeparator } from './hashing/typedData.ts'
export { viemLibrary } from './hashing/viemLibrary.ts'
export { anyCaseHex32Pattern, type Hex, hex32Pattern, isAnyCaseHex32, isHex32 } from './hex.ts'
export type {
  BalanceRecord,
  BusySponsor,
  HoldOutcome,
  HoldRequest,
  Ledger,
  MicroUsd,
  ResolveOutcome,
} from './ledger/ledger.ts'
export {
  exactNumber,
  formatAmount,
  formatFixed,
  formatPercent,
  formatRate,
  formatUsd,
} from './money/format.ts'
export {
  bpsDenominator,
  bpsDown,
  bpsUp,
  divideDown,
  divideHalfEven,
  divideUp,
  maxBigint,
  minBigint,
  mulDivDown,
  mulDivUp,
  multipleDown,
  multipleUp,
  pow10,
} from './money/mulDiv.ts'
export { parseDecimal, parseWholeUnits } from './money/parseDecimal.ts'
export {
  amountForUsdDown,
  amountForUsdUp,
  convertDown,
  convertUp,
  type PricedUnit,
  type UsdX18,
  usdValueDown,
} from './money/usd.ts'
export {
  type DepositSwapTerms,
  depositOrderSalt,
  depositSaltRandomBytes,
  depositSwapSalt,
} from './order/depositAddress.ts'
export { namedOrder } from './order/namedOrders.ts'
export type { Order, OrderFee, OrderInput, OrderOutput, OrderRefund } from './order/order.ts'
export {
  decodeOrderCall,
  encodeFillExtraData,
  encodeOrderCall,
  executionReverted,
  fillContractOf,
  orderRefused,
  quotedGasExceeded,
} from './order/orderCall.ts'
export { type OrderCloneTerms, orderCloneAddress } from './order/orderClone.ts'
export { createOrderIdHasher, type OrderWords, orderId, orderWords } from './order/orderId.ts'
export { orderListMax, orderSchema } from './order/orderSchema.ts'
export {
  encodePermit,
  encodeSignedDeposit,
  type PermitKind,
  type PermitRouter,
  type PermitTerms,
  type PermitTypedData,
  permitDigest,
  permitKinds,
  permitSpender,
  permitTypedData,
  type SignedDeposit,
  type TokenDomain,
  type TokenPermitKind,
  type TokenPermitTerms,
  tokenPermitKinds,
} from './order/permit.ts'
export type { Permit2Terms, PermittedCall } from './order/permit2.ts'
export { type RefundedDeposit, refundId } from './order/refundId.ts'
export { createPayeeRule, type PayeeRule, type PayeeSettings } from './payees/payeeRule.ts'
export { feesOfMoving, type MoveFees, priceMovedBy } from './pools/moveFees.ts'
export type { InitializedTick, PoolQuote, PoolState } from './pools/poolState.ts'
export { quoteExactInput, quoteExactOutput } from './pools/quotePool.ts'
export { type PoolPrice, spotPrice, sqrtPriceX96FromAmounts } from './pools/spotPrice.ts'
export {
  maxSqrtPriceX96,
  maxTick,
  minSqrtPriceX96,
  minTick,
  sqrtPriceX96AtTick,
  tickAtSqrtPriceX96,
} from './pools/tickMath.ts'
export { brokenRule, pathOf, ruleInWords } from './ruleInWords.ts'
export { Secret } from './secret.ts'
export {
  type AppFeeClaimTypedData,
  appFeeClaimDigest,
  appFeeClaimTypedData,
} from './signatures/appFeeClaim.ts'
export { signingDigest } from './signatures/digests.ts'
export type {
  Execution,
  ExecutionDomain,
  MappingDomain,
  MappingEntry,
  WithdrawRequest,
  WithdrawRequestDomain,
} from './signatures/execution.ts'
export { isSignedByOwner, type OwnerCheck } from './signatures/isSignedByOwner.ts'
export { type NoFillOrRefund, noFillOrRefundDigest } from './signatures/noFillOrRefund.ts'
export { type OwnerRequest, ownerRequestDigest, ownerRequestHash } from './signatures/ownerRequest.ts'
export type { PayloadPlace, RecoverSigner, Signer, SigningRequest } from './signatures/signer.ts'
export { type TimelineStatement, timelineDomain, timelineTypes } from './signatures/timelineStatement.ts'
export type { QueryOptions, SqlDatabase, SqlRow, SqlTx, SqlWriteTx, TransactionOptions } from './sql/sqlTx.ts'
export { classifyTopUps, needsTrace } from './topUps/classifyTopUps.ts'
export { encodeTopUp, type TopUpCall } from './topUps/encodeTopUp.ts'
export {
  type CallFrame,
  type ClassifiedTransfer,
  type SuspenseReason,
  suspenseReasons,
  type TopUpFacts,
  type TopUpLog,
  type TopUpTarget,
  type TopUpVerdict,
} from './topUps/topUp.ts'
export { type ReceiptLog, topUpLogs, topUpTopics, transferTopic } from './topUps/transferLogs.ts'
export {
  payloadDifference,
  payloadHashes,
  payloadWithdrawal,
  type RequestedWithdrawal,
  spelledWithdrawRequest,
  withdrawRequestOf,
} from './vm/allocatorPayload.ts'
export {
  type BitcoinPayload,
  decodeBitcoinPayload,
  encodeBitcoinPayload,
} from './vm/bitcoin/allocatorPayload.ts'
export { parseBitcoinBlock, parseBlockHeader, parseMerkleBlock } from './vm/bitcoin/block.ts'
export {
  type BitcoinNetwork,
  bitcoinMainnet,
  bitcoinNetworkOf,
  bitcoinNetworks,
  createBitcoinCodec,
} from './vm/bitcoin/codec.ts'
export {
  bitcoinDepositAddress,
  bitcoinDepositName,
  depositorWaitsBlocks,
  namedOutputs,
  sweptOutputs,
} from './vm/bitcoin/depositAddress.ts'
export { bitcoinLibrary } from './vm/bitcoin/library.ts'
export { type FeeShare, type LineBid, lineFee, unminedMax } from './vm/bitcoin/paying/lineFees.ts'
export {
  type LinePlan,
  type LineStep,
  type LineTransaction,
  type LineWallet,
  lineDust,
  lineVirtualBytes,
  lineWallet,
  type OwnOutput,
  readLineStep,
  type SweptOutputs,
  signLineTransaction,
} from './vm/bitcoin/paying/lineTransaction.ts'
export { type LineMark, paymentTag, tagText, untagged } from './vm/bitcoin/paying/paymentTag.ts'
export type { Psbt, PsbtInput } from './vm/bitcoin/psbt.ts'
export { BitcoinFees, feeAt } from './vm/bitcoin/quoting/bitcoinFees.ts'
export { BitcoinFundsError, bitcoinQuoting } from './vm/bitcoin/quoting/bitcoinQuoting.ts'
export { inputsMax } from './vm/bitcoin/quoting/fundTransaction.ts'
export { OwnerKeyError } from './vm/bitcoin/quoting/ownerKey.ts'
export {
  dustOf,
  type InputKind,
  inputKindOf,
  showsTransaction,
  virtualBytesOf,
} from './vm/bitcoin/quoting/virtualSize.ts'
export { outputScript, scriptAddress } from './vm/bitcoin/script.ts'
export {
  type BitcoinInput,
  type BitcoinOutput,
  type BitcoinTransaction,
  bitcoinTransactionId,
  encodeBitcoinTransaction,
  type OutPoint,
  parseBitcoinTransaction,
} from './vm/bitcoin/transaction.ts'
export {
  type BitcoinWithdrawal,
  bitcoinWithdrawalId,
  bitcoinWithdrawalTransfer,
  decodeBitcoinWithdrawal,
} from './vm/bitcoin/withdrawal.ts'
export { type AllocatorUtxo, allocatorUtxos } from './vm/bitcoin/withdrawRequest.ts'
export { type ChainNetwork, codecOf, mainNetwork } from './vm/codecs.ts'
export {
  InvalidAddressError,
  InvalidTransactionIdError,
  InvalidWithdrawalError,
  InvalidWithdrawRequestError,
} from './vm/errors.ts'
export {
  addressWord,
  bytes32Word,
  encodeApprove,
  encodeDepositErc20,
  encodeDepositNative,
  encodeTransfer,
  encodeWethDeposit,
  encodeWethWithdraw,
  uintWord,
} from './vm/ethereum/abi.ts'
export { checksumAddress } from './vm/ethereum/checksumAddress.ts'
export { ethereumCodec, isNativeTransferLog } from './vm/ethereum/codec.ts'
export { create2Address, firstCreatedAddress } from './vm/ethereum/contractAddress.ts'
export { contractInterface } from './vm/ethereum/contractInterface.ts'
export { depositAddressOf } from './vm/ethereum/depositAddress.ts'
export { parseAddressList, parseCasedAddress } from './vm/ethereum/parseCasedAddress.ts'
export {
  aboveBound,
  callUnitsOf,
  type DearerState,
  dearerStateOf,
  type ShapeUnits,
  stateAsCounted,
  unitsOn,
} from './vm/ethereum/quoting/dearerState.ts'
export {
  type EthereumFeeFacts,
  EthereumFees,
  type GasPrice,
  type GasShape,
  gasShapes,
} from './vm/ethereum/quoting/ethereumFees.ts'
export { callBytesOf, gasUnits } from './vm/ethereum/quoting/gasUnits.ts'
export { permit2Address } from './vm/ethereum/quoting/planTransactions.ts'
export {
  decodeEvmWithdrawal,
  type EvmWithdrawal,
  encodeEvmWithdrawal,
  evmWithdrawalId,
  type WithdrawalCall,
} from './vm/ethereum/withdrawal.ts'
export { withdrawalTransfer } from './vm/ethereum/withdrawalTransfer.ts'
export { families, listsContract } from './vm/families.ts'
export type { FeeFunds } from './vm/feeFunds.ts'
export { FlatFees } from './vm/flatFees.ts'
export { hyperliquidCodec } from './vm/hyperliquid/codec.ts'
export {
  depositNonce,
  hyperliquidAmount,
  hyperliquidAsset,
  hyperliquidQuoting,
  hyperliquidStepData,
  sendAssetMembers,
  sendAssetType,
} from './vm/hyperliquid/quoting/hyperliquidQuoting.ts'
export {
  decodeHyperliquidWithdrawal,
  encodeHyperliquidWithdrawal,
  type HyperliquidWithdrawal,
  hyperliquidWithdrawalId,
  type SendAsset,
  type UsdSend,
} from './vm/hyperliquid/withdrawal.ts'
export {
  hyperliquidCurrency,
  hyperliquidNativeDecimals,
  hyperliquidWithdrawalCurrency,
  hyperliquidWithdrawalTransfer,
} from './vm/hyperliquid/withdrawalTransfer.ts'
export { type InputLock, refuseLocked } from './vm/inputLock.ts'
export { lighterCodec } from './vm/lighter/codec.ts'
export {
  isLighterPayment,
  type LighterAsset,
  lighterAsset,
  lighterCurrency,
} from './vm/lighter/currency.ts'
export { lighterAmountMax, lighterQuoting } from './vm/lighter/quoting/lighterQuoting.ts'
export {
  decodeLighterWithdrawal,
  encodeLighterWithdrawal,
  type LighterWithdrawal,
  lighterTransferMessage,
  lighterWithdrawalId,
  lighterWithdrawalTransfer,
} from './vm/lighter/withdrawal.ts'
export {
  type NonceMapping,
  nonceMappingDigest,
  nonceMappingTypedData,
} from './vm/nonceMapping.ts'
export { type QuotingFamilies, quotingFamilies, stepDataSchema } from './vm/quotingFamilies.ts'
export type {
  AccountLack,
  AddressSwap,
  Authorization,
  ChainQuoting,
  ChainSettings,
  CostedTransaction,
  DepositAddress,
  DepositAddressContract,
  DepositAddressing,
  DepositAddressTerms,
  EncodedTransaction,
  Funding,
  Holding,
  NetworkFees,
  OriginRoute,
  OutputChoice,
  PlannedTransaction,
  QuotedCurrency,
  QuotingFamily,
  SpendableOutput,
  StepData,
  StepIdentity,
  UserTransactionKind,
} from './vm/quotingFamily.ts'
export { addressSettings } from './vm/quotingFamily.ts'
export { refundChainId } from './vm/refundChainId.ts'
export type { SignedOrderWords } from './vm/signedOrderWords.ts'
export { solanaCodec } from './vm/solana/codec.ts'
export {
  type SolanaAddressProgram,
  solanaDepositAddress,
  solanaDepositName,
} from './vm/solana/depositAddress.ts'
export { solanaLibrary } from './vm/solana/library.ts'
export {
  closeAddressAccount,
  sweepAddress,
  withdrawAddress,
} from './vm/solana/paying/addressInstructions.ts'
export {
  type MarkedPayment,
  type MarkedTerms,
  markedInstructions,
} from './vm/solana/paying/paymentInstructions.ts'
export {
  type PaymentMark,
  paymentMarkerAddress,
  readPaymentMark,
} from './vm/solana/paying/paymentMarker.ts'
export {
  associatedTokenAccount,
  deriveProgramAddresses,
  isSolanaKey,
  type ProgramAddresses,
  type SolanaDepository,
} from './vm/solana/programAddresses.ts'
export {
  associatedTokenProgram,
  computeBudgetProgram,
  depositAddressesCode,
  depositNativeDiscriminator,
  depositTokenDiscriminator,
  executeTransferDiscriminator,
  markBytes,
  memoProgram,
  systemProgram,
  token2022Program,
  tokenProgram,
  usedRequestDiscriminator,
} from './vm/solana/programs.ts'
export {
  createTokenAccount,
  depositCoin,
  depositToken,
  libraryInstruction,
  type SolanaDeposit,
  type SolanaInstruction,
} from './vm/solana/quoting/instructions.ts'
export { type SolanaFeeFacts, SolanaFees } from './vm/solana/quoting/solanaFees.ts'
export { SolanaTransactionTooLargeError, solanaQuoting } from './vm/solana/quoting/solanaQuoting.ts'
export {
  decodeSolanaWithdrawal,
  encodeSolanaWithdrawal,
  type SolanaWithdrawal,
  solanaWithdrawalId,
  solanaWithdrawalTransfer,
} from './vm/solana/withdrawal.ts'
export { tronAddress, tronEvmAddress, tronHexAddress } from './vm/tron/address.ts'
export { createTronCodec, type TronNetwork, tronMainnet } from './vm/tron/codec.ts'
export {
  type ContractCall,
  fillClosing,
  fillPayment,
  fillState,
  tokenAllowance,
} from './vm/tron/paying/fillCalls.ts'
export {
  type TokenEnergy,
  type TronFeeFacts,
  TronFees,
  usualTokenEnergy,
} from './vm/tron/quoting/tronFees.ts'
export { coinMax, nodeAddress, TronFeeLimitError, tronQuoting } from './vm/tron/quoting/tronQuoting.ts'
export { tronWithdrawalTransfer } from './vm/tron/withdrawalTransfer.ts'
export { currencyProblem, type VmCodec } from './vm/vmCodec.ts'
export { publicVmNames, type VmType, vmTypes } from './vm/vmType.ts'
export type { WithdrawalTransfer } from './vm/withdrawalBytes.ts'
export { normaliseWithdrawRequest } from './vm/withdrawRequest.ts'
export {
  addressText,
  bytes32Text,
  evmAddressText,
  hexText,
  uint32Number,
  uint64Text,
  uint256Text,
} from './wireScalars.ts'
