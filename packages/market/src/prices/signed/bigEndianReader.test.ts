// Goal: signed data is read as it was written, and never beyond its end.
// Method: values written by Node's own buffers, and reads of every kind at the end of the bytes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BigEndianReader } from './bigEndianReader.ts'

describe('BigEndianReader', () => {
  test('reads numbers of every kind as they were written, one behind the other', () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 65_535 })),
        fc.tuple(
          fc.maxSafeNat().map((n) => n % 2 ** 32),
          fc.integer(),
        ),
        fc.tuple(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
        ([byte, short], [unsigned, signed], [large, negative]) => {
          const written = Buffer.alloc(27)
          written.writeUInt8(byte, 0)
          written.writeUInt16BE(short, 1)
          written.writeUInt32BE(unsigned, 3)
          written.writeInt32BE(signed, 7)
          written.writeBigUInt64BE(large, 11)
          written.writeBigInt64BE(negative, 19)
          const reader = new BigEndianReader(written)
          expect([reader.byte(), reader.uint16(), reader.uint32(), reader.int32()]).toEqual([
            byte,
            short,
            unsigned,
            signed,
          ])
          expect([reader.uint64(), reader.int64(), reader.isDone]).toEqual([large, negative, true])
        },
      ),
    )
  })

  test('takes so many bytes, then the rest, of a part of larger data', () => {
    const part = Uint8Array.of(9, 1, 2, 3, 4, 9).subarray(1, 5)
    const reader = new BigEndianReader(part)
    expect([...reader.take(3)]).toEqual([1, 2, 3])
    expect(reader.isDone).toBe(false)
    expect([...reader.rest()]).toEqual([4])
    expect([...reader.rest()]).toEqual([])
    expect(reader.isDone).toBe(true)
  })

  test.each<[string, number, (reader: BigEndianReader) => unknown]>([
    ['byte', 1, (reader) => reader.byte()],
    ['uint16', 2, (reader) => reader.uint16()],
    ['uint32', 4, (reader) => reader.uint32()],
    ['int32', 4, (reader) => reader.int32()],
    ['uint64', 8, (reader) => reader.uint64()],
    ['int64', 8, (reader) => reader.int64()],
    ['take', 5, (reader) => reader.take(5)],
  ])('%s reads its %i bytes and refuses one fewer, even inside larger data', (_name, size, read) => {
    const larger = new Uint8Array(20)
    const enough = new BigEndianReader(larger.subarray(0, 2 + size))
    enough.take(2)
    expect(() => read(enough)).not.toThrow()
    const short = new BigEndianReader(larger.subarray(0, 1 + size))
    short.take(2)
    expect(() => read(short)).toThrow(RangeError)
  })
})
