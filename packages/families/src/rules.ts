export {
  type BitcoinPayload,
  decodeBitcoinPayload,
  encodeBitcoinPayload,
} from './bitcoin/rules/allocatorPayload.ts'
export { parseBitcoinBlock, parseBlockHeader, parseMerkleBlock } from './bitcoin/rules/block.ts'
export {
  bitcoinDepositAddress,
  bitcoinDepositName,
  depositorWaitsBlocks,
  namedOutputs,
  sweptOutputs,
} from './bitcoin/rules/depositAddress.ts'
export { bitcoinLibrary } from './bitcoin/rules/library.ts'
export { type FeeShare, type LineBid, lineFee, unminedMax } from './bitcoin/rules/paying/lineFees.ts'
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
} from './bitcoin/rules/paying/lineTransaction.ts'
export { type LineMark, paymentTag, tagText, untagged } from './bitcoin/rules/paying/paymentTag.ts'
export type { Psbt, PsbtInput } from './bitcoin/rules/psbt.ts'
export { BitcoinFees, feeAt } from './bitcoin/rules/quoting/bitcoinFees.ts'
export { BitcoinFundsError, bitcoinQuoting } from './bitcoin/rules/quoting/bitcoinQuoting.ts'
export { inputsMax } from './bitcoin/rules/quoting/fundTransaction.ts'
export { OwnerKeyError } from './bitcoin/rules/quoting/ownerKey.ts'
export {
  dustOf,
  type InputKind,
  inputKindOf,
  showsTransaction,
  virtualBytesOf,
} from './bitcoin/rules/quoting/virtualSize.ts'
export { outputScript, scriptAddress } from './bitcoin/rules/script.ts'
export {
  type BitcoinInput,
  type BitcoinOutput,
  type BitcoinTransaction,
  bitcoinTransactionId,
  encodeBitcoinTransaction,
  type OutPoint,
  parseBitcoinTransaction,
} from './bitcoin/rules/transaction.ts'
export {
  type BitcoinWithdrawal,
  bitcoinWithdrawalId,
  bitcoinWithdrawalTransfer,
  decodeBitcoinWithdrawal,
} from './bitcoin/rules/withdrawal.ts'
export { type AllocatorUtxo, allocatorUtxos } from './bitcoin/rules/withdrawRequest.ts'
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
} from './ethereum/rules/abi.ts'
export { create2Address, firstCreatedAddress } from './ethereum/rules/contractAddress.ts'
export { contractInterface } from './ethereum/rules/contractInterface.ts'
export { depositAddressOf } from './ethereum/rules/depositAddress.ts'
export {
  type DepositSwapTerms,
  depositOrderSalt,
  depositSaltRandomBytes,
  depositSwapSalt,
} from './ethereum/rules/depositSalts.ts'
export { type OrderCloneTerms, orderCloneAddress } from './ethereum/rules/orderClone.ts'
export { parseAddressList, parseCasedAddress } from './ethereum/rules/parseCasedAddress.ts'
export { firstBid, type GasBid, replacementBid } from './ethereum/rules/paying/gasBids.ts'
export {
  encodePermit,
  encodeSignedDeposit,
  type PermitKind,
  type PermitTypedData,
  permitDigest,
  permitKinds,
  permitSpender,
  permitTypedData,
  type TokenPermitKind,
  tokenPermitKinds,
} from './ethereum/rules/permit.ts'
export {
  aboveBound,
  callUnitsOf,
  dearerStateOf,
  stateAsCounted,
  unitsOn,
} from './ethereum/rules/quoting/dearerState.ts'
export { type EthereumFeeFacts, EthereumFees, type GasPrice } from './ethereum/rules/quoting/ethereumFees.ts'
export { callBytesOf, type GasShape, gasShapes, gasUnits } from './ethereum/rules/quoting/gasUnits.ts'
export { permit2Address } from './ethereum/rules/quoting/planTransactions.ts'
export { classifyTopUps, needsTrace } from './ethereum/rules/topUps/classifyTopUps.ts'
export { encodeTopUp, type TopUpCall } from './ethereum/rules/topUps/encodeTopUp.ts'
export {
  type CallFrame,
  type ClassifiedTransfer,
  type SuspenseReason,
  suspenseReasons,
  type TopUpFacts,
  type TopUpLog,
  type TopUpTarget,
  type TopUpVerdict,
} from './ethereum/rules/topUps/topUp.ts'
export {
  type ReceiptLog,
  topUpLogs,
  topUpTopics,
  transferTopic,
} from './ethereum/rules/topUps/transferLogs.ts'
export {
  decodeEvmWithdrawal,
  type EvmWithdrawal,
  encodeEvmWithdrawal,
  evmWithdrawalId,
  type WithdrawalCall,
} from './ethereum/rules/withdrawal.ts'
export { withdrawalTransfer } from './ethereum/rules/withdrawalTransfer.ts'
export {
  depositNonce,
  hyperliquidAmount,
  hyperliquidAsset,
  hyperliquidQuoting,
  hyperliquidStepData,
  sendAssetMembers,
  sendAssetType,
} from './hyperliquid/rules/quoting/hyperliquidQuoting.ts'
export {
  decodeHyperliquidWithdrawal,
  encodeHyperliquidWithdrawal,
  type HyperliquidWithdrawal,
  hyperliquidWithdrawalId,
  type SendAsset,
  type UsdSend,
} from './hyperliquid/rules/withdrawal.ts'
export {
  hyperliquidCurrency,
  hyperliquidNativeDecimals,
  hyperliquidWithdrawalCurrency,
  hyperliquidWithdrawalTransfer,
} from './hyperliquid/rules/withdrawalTransfer.ts'
export { lighterAmountMax, lighterQuoting } from './lighter/rules/quoting/lighterQuoting.ts'
export {
  decodeLighterWithdrawal,
  encodeLighterWithdrawal,
  type LighterWithdrawal,
  lighterTransferMessage,
  lighterWithdrawalId,
  lighterWithdrawalTransfer,
} from './lighter/rules/withdrawal.ts'
export {
  payloadDifference,
  payloadHashes,
  payloadWithdrawal,
  type RequestedWithdrawal,
  spelledWithdrawRequest,
  withdrawRequestOf,
} from './registry/allocatorPayload.ts'
export { signingDigest } from './registry/digests.ts'
export { families, listsContract } from './registry/families.ts'
export { isSignedByOwner, type OwnerCheck } from './registry/isSignedByOwner.ts'
export { type QuotingFamilies, quotingFamilies, stepDataSchema } from './registry/quotingFamilies.ts'
export { refundChainId } from './registry/refundChainId.ts'
export { normaliseWithdrawRequest } from './registry/withdrawRequest.ts'
export type {
  DepositAddress,
  DepositAddressContract,
  DepositAddressing,
  DepositAddressTerms,
} from './rules/depositAddressing.ts'
export type { Authorization, EncodedTransaction, StepData, StepIdentity } from './rules/encodedStep.ts'
export type { FeeFunds } from './rules/feeFunds.ts'
export { FlatFees } from './rules/flatFees.ts'
export { type InputLock, refuseLocked } from './rules/inputLock.ts'
export type { DearerState, ShapeUnits } from './rules/measuredUnits.ts'
export type { AccountLack, CostedTransaction, NetworkFees, UserTransactionKind } from './rules/networkFees.ts'
export type { AddressSwap, OriginRoute, OutputChoice, QuotedCurrency } from './rules/originRoute.ts'
export { createPayeeRule, type PayeeRule, type PayeeSettings } from './rules/payeeRule.ts'
export type {
  Permit2Terms,
  PermitRouter,
  PermitTerms,
  PermittedCall,
  SignedDeposit,
  TokenDomain,
  TokenPermitTerms,
} from './rules/permitTerms.ts'
export type { Funding, Holding, PlannedTransaction, SpendableOutput } from './rules/plannedTransaction.ts'
export {
  addressSettings,
  type ChainQuoting,
  type ChainSettings,
  type QuotingFamily,
} from './rules/quotingFamily.ts'
export type { SignedOrderWords } from './rules/signedOrderWords.ts'
export type { WithdrawalTransfer } from './rules/withdrawalBytes.ts'
export {
  type SolanaAddressProgram,
  solanaDepositAddress,
  solanaDepositName,
} from './solana/rules/depositAddress.ts'
export { solanaLibrary } from './solana/rules/library.ts'
export {
  closeAddressAccount,
  sweepAddress,
  withdrawAddress,
} from './solana/rules/paying/addressInstructions.ts'
export {
  type MarkedPayment,
  type MarkedTerms,
  markedInstructions,
} from './solana/rules/paying/paymentInstructions.ts'
export {
  type PaymentMark,
  paymentMarkerAddress,
  readPaymentMark,
} from './solana/rules/paying/paymentMarker.ts'
export {
  associatedTokenAccount,
  deriveProgramAddresses,
  isSolanaKey,
  type ProgramAddresses,
  type SolanaDepository,
} from './solana/rules/programAddresses.ts'
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
} from './solana/rules/programs.ts'
export {
  createTokenAccount,
  depositCoin,
  depositToken,
  libraryInstruction,
  type SolanaDeposit,
  type SolanaInstruction,
} from './solana/rules/quoting/instructions.ts'
export { type SolanaFeeFacts, SolanaFees } from './solana/rules/quoting/solanaFees.ts'
export { solanaQuoting } from './solana/rules/quoting/solanaQuoting.ts'
export { SolanaTransactionTooLargeError } from './solana/rules/quoting/transactionSize.ts'
export {
  decodeSolanaWithdrawal,
  encodeSolanaWithdrawal,
  type SolanaWithdrawal,
  solanaWithdrawalId,
  solanaWithdrawalTransfer,
} from './solana/rules/withdrawal.ts'
export {
  type ContractCall,
  fillClosing,
  fillPayment,
  fillState,
  tokenAllowance,
} from './tron/rules/paying/fillCalls.ts'
export {
  type TokenEnergy,
  type TronFeeFacts,
  TronFees,
  usualTokenEnergy,
} from './tron/rules/quoting/tronFees.ts'
export { coinMax, nodeAddress, TronFeeLimitError, tronQuoting } from './tron/rules/quoting/tronQuoting.ts'
export { tronWithdrawalTransfer } from './tron/rules/withdrawalTransfer.ts'
