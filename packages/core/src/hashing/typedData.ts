import type { Hex } from '../hex.ts'
import { AbiWords } from './abiWords.ts'
import { concatBytes, fixedHexToBytes, utf8Bytes } from './hexBytes.ts'
import { keccak256 } from './keccak.ts'

/**
 * EIP-712 `typeHash`: the primary type, then the types it refers to in alphabetical order.
 * @param referenced their definitions, e.g. `Call(address to,bytes data)`
 */
export function typeHash(primary: string, referenced: readonly string[] = []): Uint8Array {
  return hashText([primary, ...[...referenced].sort()].join(''))
}

/** EIP-712 encoding of a `string` member. */
export function hashText(text: string): Uint8Array {
  return keccak256(utf8Bytes(text))
}

/** EIP-712 encoding of an array whose members are already encoded. */
export function hashArray(encodedMembers: readonly Uint8Array[]): Uint8Array {
  return encodedMembers.length === 0 ? noMembersHash : keccak256(concatBytes(encodedMembers))
}

const noMembersHash = keccak256(new Uint8Array())

const domainTypeHash = typeHash(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
)

/** The four-member EIP-712 domain. @throws RangeError when `verifyingContract` is not 20 bytes */
export function domainSeparator(domain: {
  name: string
  version: string
  chainId: number
  verifyingContract: Hex
}): Uint8Array {
  const words = new AbiWords(5)
    .word(domainTypeHash)
    .word(hashText(domain.name))
    .word(hashText(domain.version))
    .number(domain.chainId)
    .address(fixedHexToBytes(domain.verifyingContract, 20))
  return keccak256(words.done())
}

const typedDataPrefix = Uint8Array.of(0x19, 0x01)

/** Digest that an EIP-712 signature signs. */
export function typedDataDigest(separator: Uint8Array, structHash: Uint8Array): Uint8Array {
  return keccak256(concatBytes([typedDataPrefix, separator, structHash]))
}

const personalMessagePrefix = utf8Bytes('\x19Ethereum Signed Message:\n32')

/** Digest that an EIP-191 `personal_sign` of 32 raw bytes signs. */
export function personalMessageDigest(hash: Uint8Array): Uint8Array {
  if (hash.length !== 32) throw new RangeError(`expected 32 bytes, got ${hash.length}`)
  return keccak256(concatBytes([personalMessagePrefix, hash]))
}
