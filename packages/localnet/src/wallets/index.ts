export { type EvmWallet, evmWallets, isEvmWalletName, placeEvmWallet, refuseWhere } from './evmWallets.ts'
export {
  type HyperliquidWallet,
  hyperliquidWallets,
  isHyperliquidWalletName,
  placeHyperliquidWallet,
} from './hyperliquidWallets.ts'
export {
  isSolanaWalletName,
  type SolanaWallet,
  type SolanaWalletName,
  solanaWallets,
} from './solanaWallets.ts'
export { placeSolanaWallet, placeTokenHolder } from './tokenHolders.ts'
export { type TronWalletName, tronWallets } from './tronWallets.ts'
export type { Money, WalletKind } from './walletKind.ts'
