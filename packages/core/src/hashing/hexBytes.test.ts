import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  bytesToHex,
  concatBytes,
  fixedHexToBytes,
  hexDigits,
  hexToBytes,
  parseHexDigits,
} from './hexBytes.ts'

test('bytes survive a round trip through hex in either case', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const hex = bytesToHex(bytes)
      expect(hex).toBe(`0x${Buffer.from(bytes).toString('hex')}`)
      expect(hexToBytes(hex)).toEqual(bytes)
      expect(hexToBytes(`0x${hex.slice(2).toUpperCase()}`)).toEqual(bytes)
    }),
  )
})

test('a view into a larger buffer gives its own bytes only', () => {
  expect(hexDigits(Uint8Array.of(1, 2, 3, 4).subarray(1, 3))).toBe('0203')
})

test('parseHexDigits accepts exactly pairs of hex digits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 6 }), (text) => {
      expect(parseHexDigits(text, 0) !== undefined).toBe(
        /^(?:[0-9a-fA-F]{2})*$/.test(text) && !text.endsWith('\n'),
      )
    }),
    { numRuns: 2_000 },
  )
})

test.each(['0x1', '0xgg', '1234', '0X12', '0x12 '])('hexToBytes refuses %j', (text) => {
  // CAST: the value a caller with a bug would pass.
  expect(() => hexToBytes(text as `0x${string}`)).toThrow(RangeError)
})

test('fixedHexToBytes refuses another length', () => {
  expect(() => fixedHexToBytes('0x1234', 3)).toThrow(RangeError)
  expect(fixedHexToBytes('0x1234', 2)).toEqual(Uint8Array.of(0x12, 0x34))
})

test('concatBytes joins in order', () => {
  expect(concatBytes([Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)])).toEqual(
    Uint8Array.of(1, 2, 3),
  )
})
