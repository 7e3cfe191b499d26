import { createHash } from 'node:crypto'
import { decodeBase58Text } from '@causeway/core'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { generateLocalKeys } from '../keys/generateKeys.ts'
import { countingKeys } from '../keys/testKeys.ts'
import { solanaAccounts, solanaFunding } from './solanaAccounts.ts'
import { localMintList, mintSeedText } from './solanaTokens.ts'

const keys = generateLocalKeys(countingKeys())
const accounts = solanaAccounts(keys)
const everybody = [accounts.fillWallet, accounts.deployer, ...accounts.users]

describe('accounts of the local Solana', () => {
  it('have the secret keys of their addresses, as wallets take them', () => {
    for (const { address, secretKey } of everybody) {
      const bytes = decodeBase58Text(secretKey) ?? new Uint8Array()
      expect(Keypair.fromSecretKey(bytes).publicKey.toBase58()).toBe(address)
    }
  })

  it('are one per key of the network, the same in every run, and no key of it', () => {
    expect(new Set(everybody.map(({ address }) => address)).size).toBe(keys.users.length + 2)
    expect(solanaAccounts(keys)).toEqual(accounts)
    const known = [keys.fillWallet, keys.deployer, ...keys.users].map(({ privateKey }) => privateKey)
    for (const { seed } of everybody) expect(known).not.toContain(seed)
  })

  it('are funded: the solver and every user, with no key among what is told', () => {
    const { grants, authoritySeed } = solanaFunding(accounts)
    expect(grants.map(({ address }) => address)).toEqual(
      [accounts.fillWallet, ...accounts.users].map(({ address }) => address),
    )
    expect(authoritySeed).toBe(accounts.deployer.seed)
  })
})

it.each(localMintList)('the mint of $symbol follows from its seed', ({ symbol, address }) => {
  const seed = createHash('sha256').update(mintSeedText(symbol)).digest()
  expect(Keypair.fromSeed(seed).publicKey.toBase58()).toBe(address)
})
