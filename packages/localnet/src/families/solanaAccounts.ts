import { bytesToHex, encodeBase58, type Hex, hexToBytes, sha256 } from '@causeway/core'
import { ed25519 } from '@noble/curves/ed25519.js'
import type { LocalAccount, LocalKeys } from '../keys/localKeys.ts'
import { familyVariables } from './familyPlans.ts'
import type { FamilyFacts, SolanaFunding } from './familySettings.ts'
import { solanaFillWalletVariable } from './solanaTokens.ts'

/** An account of the local Solana, of somebody who has a key of the network. */
export type SolanaAccount = {
  /** Base58. */
  readonly address: string
  /** Seed and public key, 64 bytes in base58, as wallets take it. */
  readonly secretKey: string
  /** 32 bytes, which the key is made of. */
  readonly seed: Hex
}

/** The accounts of a network, in the order of its users; they follow from the keys under `.local/`. */
export type SolanaAccounts = {
  /** The solver's inventory. */
  readonly fillWallet: SolanaAccount
  /** Makes the mints and pays for the accounts of others. */
  readonly deployer: SolanaAccount
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

/** Hashed, so that a signature on one curve says nothing of the key on the other. */
function solanaAccount({ privateKey }: LocalAccount): SolanaAccount {
  const name = Buffer.from('causeway local network: account on Solana', 'utf8')
  const seed = sha256(Buffer.concat([name, hexToBytes(privateKey)]))
  const publicKey = ed25519.getPublicKey(seed)
  return {
    address: encodeBase58(publicKey),
    secretKey: encodeBase58(Buffer.concat([seed, publicKey])),
    seed: bytesToHex(seed),
  }
}

const unit6 = 10n ** 6n
const unit9 = 10n ** 9n

/** What every account owns after a start: users as on chains of the EVM, the solver a hundredth of its USDC and ETH. */
export function solanaFunding({ fillWallet, deployer, users }: SolanaAccounts): SolanaFunding {
  const grant = ({ address }: SolanaAccount, sol: bigint, usdc: bigint, weth: bigint) => ({
    address,
    lamports: (sol * unit9).toString(),
    tokens: { USDC: (usdc * unit6).toString(), WETH: (weth * unit9).toString() },
  })
  return {
    authoritySeed: deployer.seed,
    grants: [
      grant(fillWallet, 10_000n, 40_000n, 10n),
      ...users.map((user) => grant(user, 1_000n, 100_000n, 100n)),
    ],
  }
}

/**
 * What services are told of chains that are quoted: of all others, and where none runs, every variable is empty,
 * so that what a terminal says of them keeps nobody from starting.
 */
export function quotedFamilyVariables(
  families: FamilyFacts | undefined,
  keys: Pick<LocalKeys, 'fillWallet' | 'deployer' | 'users'>,
): Readonly<Record<string, string>> {
  const { fillWallet } = solanaAccounts(keys)
  return {
    ...familyVariables(undefined),
    ...(families !== undefined && { SOLANA_RPC_URL: families.solana.url }),
    SOLANA_WS_RPC_URL: families?.solana.url.replace('http:', 'ws:') ?? '',
    [solanaFillWalletVariable]: families === undefined ? '' : fillWallet.address,
  }
}
