import type { Hex } from '@causeway/core'
import { privateKeyToAddress } from 'viem/accounts'
import type { LocalAccount, LocalKeys } from './localKeys.ts'

const userCount = 6

/** Fresh keys for every role. `randomKey` answers a valid secp256k1 private key, a new one each time. */
export function generateLocalKeys(randomKey: () => Hex): LocalKeys {
  const account = () => localAccount(randomKey())
  return {
    deployer: account(),
    orderSigner: account(),
    custody: account(),
    fillWallet: account(),
    keeper: account(),
    oracles: [account(), account(), account()],
    sponsor: account(),
    users: Array.from({ length: userCount }, account),
    allocator: account(),
  }
}

/** The account of a private key. @throws Error when the key is not valid */
export function localAccount(privateKey: Hex): LocalAccount {
  // CAST: lower case hex is still hex.
  return { privateKey, address: privateKeyToAddress(privateKey).toLowerCase() as Hex }
}
