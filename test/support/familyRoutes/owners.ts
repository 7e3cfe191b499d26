import { keccak256 } from '@causeway/core'
import { bitcoinMainnet, bitcoinNetworkOf } from '@causeway/core/encodings'
import { outputScript, scriptAddress } from '@causeway/families/rules'
import { hashMessage } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { orderBSolverKey } from '../../../packages/core/test/vectors/orders.ts'
import {
  owners,
  signBip137,
  signBip322,
  signDigest,
  signEd25519,
  signTaproot,
} from '../../../packages/core/test/vectors/ownerKeys.ts'
import type { Owner } from './familySide.ts'

const digits = (hash: Uint8Array) => Buffer.from(hash).toString('hex')

/** One key, and how wallets of each family sign with it. @source rules P-82, P-83, P-109 */
export const evmOwner: Owner = {
  account: privateKeyToAddress(orderBSolverKey).toLowerCase(),
  sign: (hash) => signDigest(Buffer.from(hashMessage({ raw: hash }).slice(2), 'hex')),
}

export const tronOwner: Owner = {
  account: owners.tron,
  sign: (hash) => signDigest(keccak256(Buffer.from(`\x19TRON Signed Message:\n64${digits(hash)}`))),
}

export const solanaOwner: Owner = {
  account: owners.solana,
  sign: (hash) => signEd25519(digits(hash)),
}

/** Accounts of one key on a network, each with the message signature that its wallets make. */
export function bitcoinOwners(networkName: string): Readonly<Record<'segwit' | 'legacy' | 'taproot', Owner>> {
  const accountOf = (mainAddress: string) => {
    const address = scriptAddress(outputScript(mainAddress, bitcoinMainnet), bitcoinNetworkOf(networkName))
    if (address === undefined) throw new Error('a script without an address')
    return address
  }
  return {
    segwit: { account: accountOf(owners.p2wpkh), sign: (hash) => signBip322(digits(hash), 'p2wpkh') },
    legacy: { account: accountOf(owners.p2pkh), sign: (hash) => signBip137(digits(hash), 31) },
    taproot: { account: accountOf(owners.p2tr), sign: (hash) => signTaproot(digits(hash)) },
  }
}
