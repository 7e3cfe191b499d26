import { createHash } from 'node:crypto'
import { bytesToHex, type Hex, hexToBytes, sha256 } from '@causeway/core'
import { bitcoinNetworkOf, tronAddress } from '@causeway/core/encodings'
import { scriptAddress } from '@causeway/families/rules'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { localAccount } from './generateKeys.ts'
import type { LocalAccount, LocalKeys } from './localKeys.ts'

/** Hashed with a name, so that a signature by one key says nothing of another. @returns 32 bytes */
export function derivedKey(name: string, { privateKey }: Pick<LocalAccount, 'privateKey'>): Hex {
  const seedBytes = Buffer.from(`causeway local network: ${name}`, 'utf8')
  return bytesToHex(sha256(Buffer.concat([seedBytes, hexToBytes(privateKey)])))
}

/** An account of a chain of another family, of somebody who has a key of the network. */
export type KeyedAccount = {
  /** As the family writes it. */
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

/** The accounts of a network on the chains that no EVM account is one of; they follow from the keys under `.local/`. */
export type FamilyAccounts = {
  readonly bitcoin: Wallets<BitcoinAccount>
  readonly tron: Wallets<KeyedAccount>
  readonly hyperliquid: Wallets<LocalAccount>
  readonly lighter: Wallets<LighterAccount>
}

type Holders = Pick<LocalKeys, 'fillWallet' | 'users'>

export function familyAccounts({ fillWallet, users }: Holders): FamilyAccounts {
  const ofAll = <Account>(make: (key: LocalAccount, index: number) => Account): Wallets<Account> => ({
    fillWallet: make(fillWallet, 0),
    users: users.map((user, index) => make(user, index + 1)),
  })
  return {
    bitcoin: ofAll(bitcoinAccount),
    tron: tronAccounts({ fillWallet, users }),
    // On the two exchanges users are who they are on EVM chains; the solver has a key for each chain.
    hyperliquid: { fillWallet: derivedAccount('account on Hyperliquid', fillWallet), users },
    lighter: ofAll((key, index) =>
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

/** Pay for entries on the hub, and have no other right there. */
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

/** Index of the fill wallet's; users follow. */
const firstLighterAccount = 700_000

function lighterAccount(owner: LocalAccount, index: number): LighterAccount {
  // Below the order of the exchange's curve, whatever the rest.
  const apiKey = `${derivedKey('key on Lighter', owner).slice(2)}${'00'.repeat(8)}`
  return { account: String(firstLighterAccount + index), owner, apiKey }
}
