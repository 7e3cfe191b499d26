import { type Hex, hexToBytes } from '@causeway/core'
import type { LocalAccount } from '@causeway/localnet'
import { recoverSigner } from '@causeway/signer'
import { concatHex } from 'viem'
import { sign } from 'viem/accounts'

/** 65 bytes, as contracts and services take them. */
export async function signDigest({ privateKey }: LocalAccount, digest: Hex): Promise<Hex> {
  return sign({ hash: digest, privateKey, to: 'hex' })
}

/** Signatures as the multisig reads them: by ascending signer. */
export function joined(digest: Hex, signatures: readonly Hex[]): Hex {
  const signerOf = (signature: Hex) => BigInt(recoverSigner(hexToBytes(digest), signature) ?? 0)
  return concatHex([...signatures].sort((one, other) => (signerOf(one) < signerOf(other) ? -1 : 1)))
}
