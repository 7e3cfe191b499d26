import { createHash } from 'node:crypto'
import { bytesToHex, type Hex, hexToBytes, sha256 } from '@causeway/core'
import { bitcoinNetworkOf, tronAddress } from '@causeway/core/encodings'
import { scriptAddress } from '@causeway/families/rules'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { localAccount } from './generateKeys.ts'
import type { LocalAccount, LocalKeys } from './localKeys.ts'

/**
 * A key for another chain or purpose, derived from a key of the network: the key file stays small, and nobody learns
 * one key from another. @param name of the purpose @returns 32 bytes
 */
export function derivedKey(name: string, { privateKey }: Pick<LocalAccount, 'privateKey'>): Hex {
  const seedBytes = Buffer.from(`causeway local network: ${name}`, 'utf8')
  return bytesToHex(sha256(Buffer.concat([seedBytes, hexToBytes(privateKey)])))
}

/** An account on another family's chain, whose key is derived from a key of the network. */
export type KeyedAccount = {
  /** In the family's own spelling. */
  readonly address: string
  readonly privateKey: Hex
}

export type BitcoinAccount = KeyedAccount & {
  /** Compressed. */
  readonly publicKey: Hex
  /** P2WPKH, where its coins lie. */
  readonly script: Uint8Array
}

/** An account of Lighter is a number; its owner's key is one of an EVM account, and transfers need a key of their own. */
export type LighterAccount = {
  readonly account: string
  readonly owner: LocalAccount
  /** 40 bytes of hex: what the exchange's signer takes as a key. */
  readonly apiKey: string
}

type Wallets<Account> = {
  /** The solver's inventory. */
  readonly fillWallet: Account
  /** In the order of the network's users. */
  readonly users: readonly Account[]
}

/** A network's accounts on the chains of other families, Solana's apart; they follow from the keys under `.local/`. */
export type FamilyAccounts = {
  readonly bitcoin: Wallets<BitcoinAccount>
  readonly tron: Wallets<KeyedAccount>
  readonly hyperliquid: Wallets<LocalAccount>
  readonly lighter: Wallets<LighterAccount>
}

type Holders = Pick<LocalKeys, 'fillWallet' | 'users'>

export function familyAccounts({ fillWallet, users }: Holders): FamilyAccounts {
  const forHolders = <Account>(make: (key: LocalAccount, index: number) => Account): Wallets<Account> => ({
    fillWallet: make(fillWallet, 0),
    users: users.map((user, index) => make(user, index + 1)),
  })
  return {
    bitcoin: forHolders(bitcoinAccount),
    tron: tronAccounts({ fillWallet, users }),
    // On the two exchanges users sign with their EVM keys; the solver has a key for each chain.
    hyperliquid: { fillWallet: derivedAccount('account on Hyperliquid', fillWallet), users },
    lighter: forHolders((key, index) =>
      lighterAccount(index === 0 ? derivedAccount('account on Lighter', key) : key, index),
    ),
  }
}

export function tronAccounts({ fillWallet, users }: Holders): Wallets<KeyedAccount> {
  const account = (key: LocalAccount): KeyedAccount => {
    const { address, privateKey } = derivedAccount('account on Tron', key)
    return { address: tronAddress(address), privateKey }
  }
  return { fillWallet: account(fillWallet), users: users.map(account) }
}

/** Accounts with which the two services pay gas on the hub; they have no other right there. */
export function hubPayers({ orderSigner, fillWallet }: Pick<LocalKeys, 'orderSigner' | 'fillWallet'>): {
  readonly quoteApi: LocalAccount
  readonly solver: LocalAccount
} {
  return {
    quoteApi: derivedAccount('payer on the hub', orderSigner),
    solver: derivedAccount('payer on the hub', fillWallet),
  }
}

function derivedAccount(name: string, key: LocalAccount): LocalAccount {
  return localAccount(derivedKey(name, key))
}

function bitcoinAccount(key: LocalAccount): BitcoinAccount {
  const privateKey = derivedKey('account on Bitcoin', key)
  const publicKey = secp256k1.getPublicKey(hexToBytes(privateKey), true)
  const sha = createHash('sha256').update(publicKey).digest()
  const script = Uint8Array.of(0, 20, ...createHash('ripemd160').update(sha).digest())
  const address = scriptAddress(script, bitcoinNetworkOf('regtest'))
  if (address === undefined) throw new Error('the script has no address')
  return { address, privateKey, publicKey: bytesToHex(publicKey), script }
}

/** Account number of the fill wallet; those of users follow. */
const firstLighterAccount = 700_000

function lighterAccount(owner: LocalAccount, index: number): LighterAccount {
  // Little-endian: the eight zero bytes keep the number below the order of the exchange's curve.
  const apiKey = `${derivedKey('key on Lighter', owner).slice(2)}${'00'.repeat(8)}`
  return { account: String(firstLighterAccount + index), owner, apiKey }
}
