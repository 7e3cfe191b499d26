export { assertNever } from './assertNever.ts'
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
export type { Hex } from './hex.ts'
export type {
  BalanceRecord,
  HoldOutcome,
  HoldRequest,
  Ledger,
  MicroUsd,
  ResolveOutcome,
} from './ledger/ledger.ts'
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
export type { Order, OrderFee, OrderInput, OrderOutput, OrderRefund } from './order/order.ts'
export type { InitializedTick, PoolQuote, PoolState } from './pools/poolState.ts'
export { Secret } from './secret.ts'
export type { Signer, SigningRequest } from './signatures/signer.ts'
export type { SqlDatabase, SqlRow, SqlTx } from './sql/sqlTx.ts'
export { InvalidAddressError, InvalidTransactionIdError } from './vm/errors.ts'
export type { VmCodec } from './vm/vmCodec.ts'
