import type { Hex } from '@causeway/core'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { ExchangeLedger } from '../standIns/hyperliquid/index.ts'
import type { WalletKind } from './walletKind.ts'

/** `mode`: as the exchange tells it; absent: one that nobody set. */
export type HyperliquidWallet = WalletKind & { readonly mode?: string; readonly isAbsent?: true }

/** Accounts of the exchange. Coin is dollars of the perps side, a token is on the spot side. */
export const hyperliquidWallets = {
  plain: {},
  /** Its first payment makes it, and keeps a dollar. */
  absent: { isAbsent: true, cannotBeRefunded: ['coin', 'token'] },
  /** One balance of each asset, on the spot side. It is quoted, and `/authorize` refuses what it sends from the other. */
  unified: { mode: 'unifiedAccount' },
  'portfolio-margin': { mode: 'portfolioMargin' },
} as const satisfies Readonly<Record<string, HyperliquidWallet>>

export type HyperliquidWalletName = keyof typeof hyperliquidWallets

export const isHyperliquidWalletName = (name: string): name is HyperliquidWalletName =>
  Object.hasOwn(hyperliquidWallets, name)

/**
 * Makes such an account.
 * @param held smallest units; empty for the perps side, or by a token's id
 * @param account default: one that nobody had
 */
export function placeHyperliquidWallet(
  { venue, modes }: Required<Pick<ExchangeLedger, 'venue' | 'modes'>>,
  name: HyperliquidWalletName,
  held: Readonly<Record<string, bigint>>,
  account: Hex = privateKeyToAddress(generatePrivateKey()),
): Hex {
  const { mode, isAbsent }: HyperliquidWallet = hyperliquidWallets[name]
  if (isAbsent !== true) venue.fund(account, held)
  if (mode !== undefined) modes.set(account.toLowerCase(), mode)
  return account
}
