import type { Hex } from '@causeway/core'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { ExchangeLedger } from '../standIns/hyperliquid/index.ts'
import type { WalletKind } from './walletKind.ts'

/** A kind of account at the exchange. `mode`: as the exchange names it; absent: the default. `isAbsent`: not made yet. */
export type HyperliquidWallet = WalletKind & { readonly mode?: string; readonly isAbsent?: true }

/** Kinds of accounts. `coin` stands for dollars on the perps side, `token` for one on the spot side. */
export const hyperliquidWallets = {
  plain: {},
  /** The first payment to it makes the account, and the exchange keeps a dollar of that. */
  absent: { isAbsent: true, cannotBeRefunded: ['coin', 'token'] },
  /** Has one balance of each asset, on the spot side. It is quoted; `/authorize` refuses its transfers from the perps side. */
  unified: { mode: 'unifiedAccount' },
  'portfolio-margin': { mode: 'portfolioMargin' },
} as const satisfies Readonly<Record<string, HyperliquidWallet>>

export type HyperliquidWalletName = keyof typeof hyperliquidWallets

export const isHyperliquidWalletName = (name: string): name is HyperliquidWalletName =>
  Object.hasOwn(hyperliquidWallets, name)

/**
 * Makes an account of a kind.
 * @param held balances in smallest units, by a token's id; the empty key is the perps side
 * @param account its address; default: a new one
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
