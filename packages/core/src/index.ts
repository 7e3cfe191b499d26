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
export {
  type AheadReader,
  type CodeSignatureQuestion,
  type DepositFact,
  type DepositFacts,
  type DepositQuestion,
  type Evidence,
  type ExecutedCallFact,
  type FactsReader,
  type FinalBlock,
  type FinalBlockScan,
  type FinalBlocks,
  type InBlock,
  type PaymentFacts,
  type PaymentQuestion,
  type PendingReason,
  pendingReasons,
  type ReadOptions,
  type ScanStart,
  type TransferFact,
  type WithdrawalFacts,
  type WithdrawalQuestion,
  type WithdrawalStatus,
  type WithdrawRequestFacts,
  type WithdrawRequestQuestion,
  withdrawalStatuses,
} from './attestation/facts.ts'
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
  noFillOrRefundEntryKey,
} from './attestation/noFillOrRefund.ts'
export { nonceMappingEntry, nonceMappingId } from './attestation/nonceMapping.ts'
export { ordinalOf, refundedDeposit } from './attestation/refundedDeposit.ts'
export { fillMessageId, refundMessageId, UnknownOrderPartError } from './attestation/settlementMessageIds.ts'
export {
  bpsDiffUnit,
  type DemandedPayment,
  firstMissingCall,
  firstUnpaid,
  type UnpaidPayment,
  weightedInputBpsDiff,
} from './attestation/settlementRules.ts'
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
export { type AssetClass, type Currency, type CurrencyKey, currencyKey } from './currency/currency.ts'
export { type Deadline, lateError, startDeadline, whenAborted } from './deadline.ts'
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
export { AbiReader } from './hashing/abiReader.ts'
export {
  type AbiMember,
  abiAddress,
  abiBytes,
  abiUint,
  encodeAbiArray,
  encodeAbiTuple,
} from './hashing/abiTuple.ts'
export { AbiWords } from './hashing/abiWords.ts'
export { decodeBase58Text, encodeBase58, encodeBase58Check } from './hashing/base58Check.ts'
export { canonicalJson } from './hashing/canonicalJson.ts'
export {
  bytesToHex,
  concatBytes,
  fixedHexToBytes,
  hexDigits,
  hexToBytes,
  parseHexDigits,
  utf8Bytes,
} from './hashing/hexBytes.ts'
export { keccak256, keccak256Hex } from './hashing/keccak.ts'
export { sha256, sha256TextHex } from './hashing/sha256.ts'
export {
  domainSeparator,
  hashArray,
  hashText,
  personalMessageDigest,
  typedDataDigest,
  typeHash,
} from './hashing/typedData.ts'
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
export { type MaybePromise, mapAllMaybe, mapMaybe } from './maybePromise.ts'
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
export { createOrderIdHasher, type OrderWords, orderId, orderWords } from './order/orderId.ts'
export { orderListMax, orderSchema } from './order/orderSchema.ts'
export { type RefundedDeposit, refundId } from './order/refundId.ts'
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
export type {
  Execution,
  ExecutionDomain,
  MappingDomain,
  MappingEntry,
  WithdrawRequest,
  WithdrawRequestDomain,
} from './signatures/execution.ts'
export { type NoFillOrRefund, noFillOrRefundDigest } from './signatures/noFillOrRefund.ts'
export { type NonceMapping, nonceMappingDigest, nonceMappingTypedData } from './signatures/nonceMapping.ts'
export { type OwnerRequest, ownerRequestDigest, ownerRequestHash } from './signatures/ownerRequest.ts'
export type {
  PayloadPayer,
  PayloadSigning,
  RecoverSigner,
  Signer,
  SigningRequest,
} from './signatures/signer.ts'
export {
  type TimelineStatement,
  timelineDigest,
  timelineDomain,
  timelineTypes,
} from './signatures/timelineStatement.ts'
export type { QueryOptions, SqlDatabase, SqlRow, SqlTx, SqlWriteTx, TransactionOptions } from './sql/sqlTx.ts'
export {
  addressText,
  bytes32Text,
  evmAddressText,
  hexText,
  int256Text,
  uint32Number,
  uint64Text,
  uint256Text,
} from './wireScalars.ts'
