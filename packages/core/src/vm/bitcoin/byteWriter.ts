import { concatBytes } from '../../hashing/hexBytes.ts'

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

/** A count or a length of at most 2^32 − 1 in its shortest form. */
function compactSizeBytes(value: number): Uint8Array {
  if (value < 0xfd) return Uint8Array.of(value)
  if (value <= 0xffff) return Uint8Array.of(0xfd, value & 0xff, value >> 8)
  return concatBytes([Uint8Array.of(0xfe), uint32Bytes(value)])
}

/** The bytes behind their length. */
export function variableBytes(bytes: Uint8Array): Uint8Array {
  return concatBytes([compactSizeBytes(bytes.length), bytes])
}

/** Encoded elements behind their number. */
export function listBytes(elements: readonly Uint8Array[]): Uint8Array {
  return concatBytes([compactSizeBytes(elements.length), ...elements])
}
