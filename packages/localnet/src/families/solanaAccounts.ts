import { encodeBase58, type Hex, hexToBytes } from '@causeway/core'
import { ed25519 } from '@noble/curves/ed25519.js'
import { derivedKey } from '../keys/familyAccounts.ts'
import type { LocalAccount, LocalKeys } from '../keys/localKeys.ts'
import type { FamilyFunding } from './familySettings.ts'

/** An account of the local Solana whose key follows from an EVM key of the network. */
export type SolanaAccount = {
  /** Base58. */
  readonly address: string
  /** Seed and public key, 64 bytes in base58, as wallets take it. */
  readonly secretKey: string
  /** 32 bytes, from which the key pair follows. */
  readonly seed: Hex
}

/** A network's accounts on the local Solana. */
export type SolanaAccounts = {
  /** The solver's inventory. */
  readonly fillWallet: SolanaAccount
  /** Makes the mints and pays for the accounts of others. */
  readonly deployer: SolanaAccount
  /** In the order of the network's users. */
  readonly users: readonly SolanaAccount[]
}

export function solanaAccounts({
  fillWallet,
  deployer,
  users,
}: Pick<LocalKeys, 'fillWallet' | 'deployer' | 'users'>): SolanaAccounts {
  return {
    fillWallet: solanaAccount(fillWallet),
    deployer: solanaAccount(deployer),
    users: users.map(solanaAccount),
  }
}

function solanaAccount(key: LocalAccount): SolanaAccount {
  const seed = derivedKey('account on Solana', key)
  const publicKey = ed25519.getPublicKey(hexToBytes(seed))
  return {
    address: encodeBase58(publicKey),
    secretKey: encodeBase58(Buffer.concat([hexToBytes(seed), publicKey])),
    seed,
  }
}

const tenTo6 = 10n ** 6n
const tenTo9 = 10n ** 9n

/** Balances of every account after a start: users as on EVM chains, the solver a hundredth of its USDC and ETH. */
export function solanaFunding({ fillWallet, deployer, users }: SolanaAccounts): FamilyFunding['solana'] {
  const grant = ({ address }: SolanaAccount, sol: bigint, usdc: bigint, weth: bigint) => ({
    address,
    lamports: (sol * tenTo9).toString(),
    tokens: { USDC: (usdc * tenTo6).toString(), WETH: (weth * tenTo9).toString() },
  })
  return {
    authoritySeed: deployer.seed,
    grants: [
      grant(fillWallet, 10_000n, 40_000n, 10n),
      ...users.map((user) => grant(user, 1_000n, 100_000n, 100n)),
    ],
  }
}
