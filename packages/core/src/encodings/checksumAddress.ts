import { hexDigits, hexToBytes, utf8Bytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import type { Hex } from '../hex.ts'

/** EIP-55 spelling of a 20-byte address. @throws RangeError when it is not hex */
export function checksumAddress(address: Hex): Hex {
  const digits = hexDigits(hexToBytes(address))
  const hashDigits = hexDigits(keccak256(utf8Bytes(digits)))
  const cased = [...digits].map((digit, index) =>
    (hashDigits[index] ?? '0') >= '8' ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}
