import { bytesToHex, encodeBase58, type Hex, hexToBytes, sha256, type VmType } from '@causeway/core'
import { ed25519 } from '@noble/curves/ed25519.js'
import { sign } from 'viem/accounts'

/**
 * Signs what a payload's family takes: Solana an Ed25519 signature of the hash, all others one over
 * secp256k1 in 65 bytes.
 */
export async function signPayloadHash(vmType: VmType, hash: Hex, allocatorKey: Hex): Promise<Hex> {
  if (vmType !== 'solana-vm') return sign({ hash, privateKey: allocatorKey, to: 'hex' })
  return bytesToHex(ed25519.sign(hexToBytes(hash), solanaKey(allocatorKey)))
}

/** Whom depositories on Solana obey, in base58. */
export function solanaAllocator(allocatorKey: Hex): string {
  return encodeBase58(ed25519.getPublicKey(solanaKey(allocatorKey)))
}

/** Hashed, so that a signature on one curve says nothing of the key on the other. */
function solanaKey(allocatorKey: Hex): Uint8Array {
  const name = Buffer.from('causeway local network: allocator on Solana', 'utf8')
  return sha256(Buffer.concat([name, hexToBytes(allocatorKey)]))
}
