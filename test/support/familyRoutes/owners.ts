import { keccak256 } from '@causeway/core'
import { hashMessage } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { orderBSolverKey } from '../../../packages/core/test/vectors/orders.ts'
import { owners, signDigest, signEd25519 } from '../../../packages/core/test/vectors/ownerKeys.ts'
import type { Owner } from './familySide.ts'

const digits = (hash: Uint8Array) => Buffer.from(hash).toString('hex')

/** One key, and how wallets of each family sign with it. @source oracle-protocol.md 3.6 */
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
