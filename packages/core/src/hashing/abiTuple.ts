import type { Hex } from '../hex.ts'
import { AbiWords, paddedWordCount } from './abiWords.ts'
import { concatBytes, fixedHexToBytes } from './hexBytes.ts'

/** A member of an ABI tuple: one word in place, or the encoding of a dynamic type, to which an offset points. */
export type AbiMember = { readonly word: Uint8Array } | { readonly tail: Uint8Array }

/** ABI encoding of a tuple whose members are encoded already: heads, then tails in order. */
export function encodeAbiTuple(members: readonly AbiMember[]): Uint8Array {
  const heads = new AbiWords(members.length)
  const tails: Uint8Array[] = []
  let offset = members.length * 32
  for (const member of members) {
    if ('word' in member) {
      heads.word(member.word)
      continue
    }
    heads.number(offset)
    tails.push(member.tail)
    offset += member.tail.length
  }
  return concatBytes([heads.done(), ...tails])
}

/** ABI encoding of a dynamic array whose elements are of a dynamic type. */
export function encodeAbiArray(elements: readonly Uint8Array[]): Uint8Array {
  const length = new AbiWords(1).number(elements.length).done()
  return concatBytes([length, encodeAbiTuple(elements.map((tail) => ({ tail })))])
}

/** ABI `bytes` (and `string`, as UTF-8) as the tail of a tuple. */
export function abiBytes(bytes: Uint8Array): AbiMember {
  return { tail: new AbiWords(1 + paddedWordCount(bytes.length)).paddedBytes(bytes).done() }
}

/** @throws RangeError when `value` is not a uint256 */
export function abiUint(value: bigint): AbiMember {
  return { word: new AbiWords(1).uint(value).done() }
}

/** @throws RangeError when `address` is not 20 bytes */
export function abiAddress(address: Hex): AbiMember {
  return { word: new AbiWords(1).address(fixedHexToBytes(address, 20)).done() }
}
