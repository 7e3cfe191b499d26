import { base58 } from '@scure/base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeBase58,
  decodeBase58Check,
  decodeBase58Text,
  encodeBase58,
  encodeBase58Check,
} from './base58Check.ts'

test('base58 of any bytes is read back, and of another length is nothing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = encodeBase58(bytes)
      expect(text).toBe(base58.encode(bytes))
      expect(decodeBase58Text(text)).toEqual(bytes)
      expect(decodeBase58(text, bytes.length + 1)).toBeUndefined()
      if (bytes.length > 0) expect(decodeBase58(text, bytes.length)).toEqual(bytes)
    }),
  )
})

test('a checksum is one of its payload', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 21, maxLength: 21 }), fc.nat(24), (payload, at) => {
      const text = encodeBase58Check(payload)
      expect(decodeBase58Check(text, 21)).toEqual(payload)
      expect(decodeBase58Check(text, 20)).toBeUndefined()
      const changed = base58.decode(text).map((byte, index) => (index === at ? byte ^ 1 : byte))
      expect(decodeBase58Check(base58.encode(changed), 21)).toBeUndefined()
    }),
  )
})

test.each(['0', 'O', 'I', 'l', ' 1', '1 ', '1x?'])('%j is no base58', (text) => {
  expect(decodeBase58Text(text)).toBeUndefined()
  expect(decodeBase58(text.padEnd(3, '1'), 2)).toBeUndefined()
})

test('the length of a text bounds the work', () => {
  expect(decodeBase58Text('')).toEqual(new Uint8Array())
  expect(decodeBase58('1'.repeat(33), 32)).toBeUndefined()
  expect(decodeBase58('1'.repeat(32), 32)).toEqual(new Uint8Array(32))
  expect(decodeBase58(encodeBase58(new Uint8Array(32).fill(255)), 32)).toEqual(new Uint8Array(32).fill(255))
  expect(decodeBase58('z'.repeat(100_000), 32)).toBeUndefined()
})
