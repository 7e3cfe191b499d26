import { concatBytes } from '../../hashing/hexBytes.ts'
import { bitcoinLibrary } from './library.ts'

/** Little-endian. @throws RangeError when `value` does not fit */
export function uint32Bytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** See `uint32Bytes`. */
export function uint64Bytes(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** The bytes behind their length. */
export function sizedBytes(bytes: Uint8Array): Uint8Array {
  return concatBytes([bitcoinLibrary().varuint.encode(bytes.length).buffer, bytes])
}
