export { assertNever } from './assertNever.ts'
export { encodeBurnAction, encodeMintAction, encodeTransferAction } from './attestation/actions.ts'
export { depositMessageId, withdrawalMessageId } from './attestation/chainMessageIds.ts'
export {
  depositsExecutionKey,
  deterministicId,
  onchainId,
  settlementExecutionKey,
  withdrawalExecutedKey,
  withdrawalExpiredKey,
  withdrawalInitiationKey,
} from './attestation/deterministicIds.ts'
export type {
  Execution,
  ExecutionDomain,
  WithdrawRequest,
  WithdrawRequestDomain,
} from './attestation/execution.ts'
export type {
  DepositFact,
  DepositFacts,
  DepositQuestion,
  Evidence,
  ExecutedCallFact,
  FactsReader,
  PaymentFacts,
  PaymentQuestion,
  ReadOptions,
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
export { fillMessageId, refundMessageId, UnknownOrderPartError } from './attestation/settlementMessageIds.ts'
export { withdrawRequestPayloadId } from './attestation/withdrawRequestId.ts'
export { type ProtocolChain, UnknownChainError, type VmTypeOf } from './chain/protocolChain.ts'
export { type VmType, vmTypes } from './chain/vmType.ts'
export {
  type ChainEntry,
  type ChainsFile,
  chainEntrySchema,
  chainsFileSchema,
  type Finality,
} from './config/chainsFile.ts'
export { type HubFile, hubFileSchema } from './config/hubFile.ts'
export {
  type FeeModel,
  type PoolConfig,
  type PriceFeed,
  type QuoteAsset,
  type QuoteChain,
  type QuoteCurrency,
  type QuoteFile,
  type QuotePrice,
  quoteFileSchema,
} from './config/quoteFile.ts'
export { type AssetClass, type Currency, type CurrencyKey, currencyKey } from './currency/currency.ts'
export {
  ConfigurationError,
  DomainError,
  type DomainErrorOptions,
  type ErrorData,
  type ErrorKind,
  UpstreamDisagreementError,
  UpstreamUnavailableError,
} from './errors.ts'
export { bytesToHex, concatBytes, hexToBytes } from './hashing/hexBytes.ts'
export { keccak256, keccak256Hex } from './hashing/keccak.ts'
export type { Hex } from './hex.ts'
export type {
  BalanceRecord,
  HoldOutcome,
  HoldRequest,
  Ledger,
  MicroUsd,
  ResolveOutcome,
} from './ledger/ledger.ts'
export { formatAmount, formatFixed, formatPercent, formatRate, formatUsd } from './money/format.ts'
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
  pow10,
} from './money/mulDiv.ts'
export {
  amountForUsdDown,
  amountForUsdUp,
  convertDown,
  convertUp,
  type PricedUnit,
  type UsdX18,
  usdValueDown,
} from './money/usd.ts'
export type { Order, OrderFee, OrderInput, OrderOutput, OrderRefund } from './order/order.ts'
export { encodeFillExtraData, encodeOrderCall } from './order/orderCall.ts'
export { createOrderIdHasher, orderId } from './order/orderId.ts'
export { orderListMax, orderSchema } from './order/orderSchema.ts'
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
export { Secret } from './secret.ts'
export { signingDigest } from './signatures/digests.ts'
export type { Signer, SigningRequest } from './signatures/signer.ts'
export type { SqlDatabase, SqlRow, SqlTx } from './sql/sqlTx.ts'
export { type BitcoinNetwork, bitcoinMainnet, createBitcoinCodec } from './vm/bitcoin/codec.ts'
export { InvalidAddressError, InvalidTransactionIdError } from './vm/errors.ts'
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
export { firstCreatedAddress } from './vm/ethereum/contractAddress.ts'
export {
  decodeEvmWithdrawal,
  type EvmWithdrawal,
  encodeEvmWithdrawal,
  evmWithdrawalId,
  InvalidWithdrawalError,
  type WithdrawalCall,
} from './vm/ethereum/withdrawal.ts'
export { vmCodecs } from './vm/registry.ts'
export { createTronCodec, type TronNetwork, tronMainnet } from './vm/tron/codec.ts'
export type { VmCodec } from './vm/vmCodec.ts'
