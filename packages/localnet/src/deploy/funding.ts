import type { Hex } from '@causeway/core'
import { tronHexAddress } from '@causeway/core/encodings'
import type { FeedKey, TokenSymbol } from '../contracts/deployment.ts'
import { hubPayers, tronAccounts } from '../keys/familyAccounts.ts'
import type { LocalAccount, LocalKeys } from '../keys/localKeys.ts'

/** Balances that an account gets once, in smallest units. */
export type Grant = {
  readonly account: LocalAccount
  readonly nativeWei: bigint
  readonly tokens: Readonly<Record<TokenSymbol, bigint>>
}

const tenTo6 = 10n ** 6n
const tenTo18 = 10n ** 18n
const noTokens = { USDC: 0n, USDX: 0n, TIDE: 0n }

/** Balances of every account on each user chain after the first deployment. */
export function userChainGrants(keys: LocalKeys): readonly Grant[] {
  const user = {
    nativeWei: 1_000n * tenTo18,
    tokens: { USDC: 100_000n * tenTo6, USDX: 100_000n * tenTo6, TIDE: 25_000n * tenTo18 },
  }
  return [
    {
      account: keys.deployer,
      nativeWei: 1_000_000n * tenTo18,
      tokens: { USDC: 1_000_000_000n * tenTo6, USDX: 1_000_000_000n * tenTo6, TIDE: 250_000_000n * tenTo18 },
    },
    {
      account: keys.fillWallet,
      nativeWei: 500n * tenTo18,
      tokens: { USDC: 2_000_000n * tenTo6, USDX: 1_000_000n * tenTo6, TIDE: 250_000n * tenTo18 },
    },
    {
      account: keys.sponsor,
      nativeWei: 10_000n * tenTo18,
      tokens: { USDC: 1_000_000n * tenTo6, USDX: 0n, TIDE: 250_000n * tenTo18 },
    },
    { account: keys.keeper, nativeWei: 10_000n * tenTo18, tokens: noTokens },
    ...keys.users.map((account) => ({ account, ...user })),
  ]
}

/** Balances of accounts on Tron: TRX, which are the coins of the node there, and USDC, both with six decimals. */
export function tronGrants(keys: LocalKeys): readonly { account: Hex; sun: bigint; usdc: bigint }[] {
  const { fillWallet, users } = tronAccounts(keys)
  const grant = ({ address }: { readonly address: string }, trx: bigint, usdc: bigint) => ({
    account: tronHexAddress(address),
    sun: trx * tenTo6,
    usdc: usdc * tenTo6,
  })
  return [
    grant(fillWallet, 1_000_000n, 40_000n),
    ...users.map((user) => grant(user, 100_000n, 100_000n)),
    // The users' EVM keys have accounts on Tron too. Their coins on Base's node count as TRX there.
    ...keys.users.map(({ address }) => ({ account: address, sun: 0n, usdc: 100_000n * tenTo6 })),
  ]
}

/** Coins for gas on the hub, for every account that sends transactions there. */
export function hubGrants(keys: LocalKeys): readonly Grant[] {
  const { quoteApi, solver } = hubPayers(keys)
  return [keys.deployer, keys.fillWallet, keys.keeper, keys.allocator, quoteApi, solver].map((account) => ({
    account,
    nativeWei: 10_000n * tenTo18,
    tokens: noTokens,
  }))
}

/** First answers of the feeds, USD with 8 decimals; pools start at the same prices. No pool trades SOL, BTC or TRX. */
export const initialFeedAnswers = {
  'ETH/USD': 2_500n * 10n ** 8n,
  'USDC/USD': 10n ** 8n,
  'USDX/USD': 10n ** 8n,
  'TIDE/USD': 4n * 10n ** 8n,
  'SOL/USD': 150n * 10n ** 8n,
  'BTC/USD': 100_000n * 10n ** 8n,
  'TRX/USD': 25_000_000n,
} as const satisfies Readonly<Record<FeedKey, bigint>>
