import { type FamilyAccounts, familyAccounts } from '../keys/familyAccounts.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import { bitcoinFunding } from './familyFunding.ts'
import { type FamilyKey, familyKeys } from './familyPlans.ts'
import { bitcoinKeyVariable, fillWalletVariable, firstOutputVariable } from './quotedFamilies.ts'
import { solanaAccounts } from './solanaAccounts.ts'

/** URL at which each chain listens, or will when it is open. */
export type FamilyUrls = Readonly<Record<FamilyKey, { readonly url: string }>>

type Variables = Readonly<Record<string, string>>

/**
 * Environment variables with the endpoints of the chains. They are empty where the stand-ins do not run, so that values
 * of a developer's shell do not reach a service.
 */
export function familyVariables(families: FamilyUrls | undefined): Variables {
  const { solana, bitcoin, tron, hyperliquid, lighter } = families ?? {}
  return {
    SOLANA_RPC_URL: solana?.url ?? '',
    SOLANA_WS_RPC_URL: solana?.url.replace('http:', 'ws:') ?? '',
    BITCOIN_RPC_URL: bitcoin?.url ?? '',
    BITCOIN_ESPLORA_COMPATIBLE_API_URL: bitcoin === undefined ? '' : `${bitcoin.url}/api`,
    TRON_RPC_URL: tron?.url ?? '',
    HYPERLIQUID_RPC_URL: hyperliquid?.url ?? '',
    LIGHTER_RPC_URL: lighter?.url ?? '',
    LIGHTER_EXPLORER_API_URL: lighter === undefined ? '' : `${lighter.url}/explorer`,
  }
}

type Holders = Pick<LocalKeys, 'fillWallet' | 'deployer' | 'users'>

/** The solver's account on each chain. */
export function fillWalletsOf(keys: Holders): Readonly<Record<FamilyKey, string>> {
  const { bitcoin, tron, hyperliquid, lighter } = familyAccounts(keys)
  return {
    solana: solanaAccounts(keys).fillWallet.address,
    bitcoin: bitcoin.fillWallet.address,
    tron: tron.fillWallet.address,
    hyperliquid: hyperliquid.fillWallet.address,
    lighter: lighter.fillWallet.account,
  }
}

/** Variables of quote-api and solver: URLs of the chains, and the keys that the solver pays with there. */
export function quotedFamilyVariables(families: FamilyUrls | undefined, keys: Holders): Variables {
  const wallets = fillWalletsOf(keys)
  const { bitcoin } = familyAccounts(keys)
  const ifRuns = (value: string) => (families === undefined ? '' : value)
  return {
    ...familyVariables(families),
    ...Object.fromEntries(familyKeys.map((key) => [fillWalletVariable(key), ifRuns(wallets[key])])),
    [bitcoinKeyVariable]: ifRuns(bitcoin.fillWallet.publicKey),
    [firstOutputVariable]: ifRuns(`${bitcoinFunding(bitcoin).id}:0`),
  }
}

/** Keys that the solver pays with, by variable. A service gets each in a file, named by the variable with `_FILE`. */
export function fillKeysOf(keys: Holders): Variables {
  const { bitcoin, tron, hyperliquid, lighter }: FamilyAccounts = familyAccounts(keys)
  return {
    ED25519_PRIVATE_KEY: solanaAccounts(keys).fillWallet.seed,
    BITCOIN_PRIVATE_KEY: bitcoin.fillWallet.privateKey,
    TRON_PRIVATE_KEY: tron.fillWallet.privateKey,
    HYPERLIQUID_PRIVATE_KEY: hyperliquid.fillWallet.privateKey,
    LIGHTER_PRIVATE_KEY: lighter.fillWallet.owner.privateKey,
    LIGHTER_API_KEY: lighter.fillWallet.apiKey,
  }
}
