import { concatBytes } from '@causeway/core'
import type { BufferReader } from 'bitcoinjs-lib/src/bufferutils'
import { bitcoinLibrary, plainBytes, unlessRefused } from './library.ts'

let strict: typeof BufferReader | undefined

/** The library's reader, made to refuse lengths beyond the bytes or not in their shortest form, as nodes do. */
function strictReader(): typeof BufferReader {
  const library = bitcoinLibrary()
  strict ??= class extends library.BufferReader {
    override readVarInt(): bigint {
      const start = this.offset
      const value = super.readVarInt()
      const isShortest = this.offset - start === library.varuint.encodingLength(value)
      if (isShortest && value <= BigInt(this.buffer.length)) return value
      throw new RangeError('the length is wrong')
    }
  }
  return strict
}

/** Result of `read`; `undefined` if the bytes end early, continue after the value or use another encoding. */
export function readWholly<Value>(
  bytes: Uint8Array,
  read: (reader: BufferReader) => Value | undefined,
): Value | undefined {
  const Reader = strictReader()
  return unlessRefused(() => {
    const reader = new Reader(plainBytes(bytes))
    const value = read(reader)
    return reader.offset === bytes.length ? value : undefined
  })
}

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

/** The length of the bytes as a variable-length number, then the bytes. */
export function sizedBytes(bytes: Uint8Array): Uint8Array {
  return concatBytes([bitcoinLibrary().varuint.encode(bytes.length).buffer, bytes])
}
