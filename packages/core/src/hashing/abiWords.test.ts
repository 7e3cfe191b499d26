import fc from 'fast-check'
import { encodeAbiParameters, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { encodeAbiArray } from './abiTuple.ts'
import { AbiWords } from './abiWords.ts'
import { bytesToHex } from './hexBytes.ts'

const uint256 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.bigInt({ min: 2n ** 64n - 2n, max: 2n ** 64n + 2n }),
  fc.constantFrom(0n, 1n, 2n ** 256n - 1n),
)

test('writes words as the ABI does', () => {
  const int256 = fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n })
  const account = fc.uint8Array({ minLength: 20, maxLength: 20 })
  const tail = fc.uint8Array({ maxLength: 100 })
  fc.assert(
    fc.property(uint256, int256, account, tail, (unsigned, signed, address, bytes) => {
      const heads = new AbiWords(4).uint(unsigned).int(signed).address(address).number(0x80).done()
      const tailWords = new AbiWords(1 + Math.ceil(bytes.length / 32)).paddedBytes(bytes).done()
      const types = [{ type: 'uint256' }, { type: 'int256' }, { type: 'address' }, { type: 'bytes' }] as const
      expect(bytesToHex(heads) + bytesToHex(tailWords).slice(2)).toBe(
        encodeAbiParameters(types, [unsigned, signed, toHex(address), toHex(bytes)]),
      )
    }),
  )
})

test('the least int and the length of an array of arrays are written', () => {
  const least = new AbiWords(1).int(-(2n ** 255n)).done()
  expect(bytesToHex(least)).toBe(`0x80${'00'.repeat(31)}`)
  const elements = [Uint8Array.of(1, 2), new Uint8Array(40).fill(3)]
  const tails = elements.map((bytes) => {
    const words = Math.ceil(bytes.length / 32)
    return new AbiWords(1 + words).paddedBytes(bytes).done()
  })
  expect(bytesToHex(encodeAbiArray(tails)).slice(2)).toBe(
    encodeAbiParameters([{ type: 'bytes[]' }], [elements.map((bytes) => toHex(bytes))]).slice(66),
  )
})

describe('refuses what does not fit', () => {
  test.each<[string, () => unknown]>([
    ['a negative uint', () => new AbiWords(1).uint(-1n)],
    ['a uint of 257 bits', () => new AbiWords(1).uint(2n ** 256n)],
    ['an int of 257 bits', () => new AbiWords(1).int(2n ** 255n)],
    ['an int below the least', () => new AbiWords(1).int(-(2n ** 255n) - 1n)],
    ['a fraction', () => new AbiWords(1).number(1.5)],
    ['a negative number', () => new AbiWords(1).number(-1)],
    ['an unsafe number', () => new AbiWords(1).number(2 ** 53)],
    ['a word of 31 bytes', () => new AbiWords(1).word(new Uint8Array(31))],
    ['an address of 21 bytes', () => new AbiWords(1).address(new Uint8Array(21))],
    ['an address of 19 bytes', () => new AbiWords(1).address(new Uint8Array(19))],
    ['a word too many', () => new AbiWords(1).uint(1n).uint(1n)],
    ['a word too few', () => new AbiWords(2).uint(1n).done()],
  ])('%s', (_what, write) => {
    expect(write).toThrow(RangeError)
  })
})
