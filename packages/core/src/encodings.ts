export {
  type BitcoinNetwork,
  bitcoinMainnet,
  bitcoinNetworkOf,
  bitcoinNetworks,
  createBitcoinCodec,
} from './encodings/bitcoin.ts'
export { checksumAddress } from './encodings/checksumAddress.ts'
export { type ChainNetwork, codecOf, mainNetwork, type VmType, vmTypes } from './encodings/codecs.ts'
export {
  InvalidAddressError,
  InvalidTransactionIdError,
  InvalidWithdrawalError,
  InvalidWithdrawRequestError,
} from './encodings/errors.ts'
export { ethereumCodec, isNativeTransferLog } from './encodings/ethereum.ts'
export { hyperliquidCodec } from './encodings/hyperliquid.ts'
export { lighterCodec } from './encodings/lighter.ts'
export {
  isLighterPayment,
  type LighterAsset,
  lighterAsset,
  lighterCurrency,
} from './encodings/lighterCurrency.ts'
export { getOrCompute } from './encodings/remembered.ts'
export { solanaCodec } from './encodings/solana.ts'
export { createTronCodec, type TronNetwork, tronMainnet } from './encodings/tron.ts'
export { tronAddress, tronEvmAddress, tronHexAddress } from './encodings/tronAddress.ts'
export { currencyProblem, type VmCodec } from './encodings/vmCodec.ts'
