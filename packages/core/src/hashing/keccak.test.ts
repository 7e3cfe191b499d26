import fc from 'fast-check'
import { keccak256 as viemKeccak256 } from 'viem'
import { expect, test } from 'vitest'
import { hexToBytes, utf8Bytes } from './hexBytes.ts'
import { keccak256, keccak256Hex } from './keccak.ts'

test.each([
  ['', '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
  ['abc', '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
])('hashes %j as Ethereum does', (text, digest) => {
  expect(keccak256Hex(utf8Bytes(text))).toBe(digest)
})

test('equals viem over every length around its block size, and leaves earlier results alone', () => {
  const first = keccak256(utf8Bytes('abc'))
  const kept = first.slice()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      const digest = viemKeccak256(bytes)
      expect(keccak256Hex(bytes)).toBe(digest)
      expect(keccak256(bytes)).toEqual(hexToBytes(digest))
    }),
    { numRuns: 500 },
  )
  expect(first).toEqual(kept)
})

test('hashes more than one buffer of the WASM memory', () => {
  const bytes = new Uint8Array(100_000).fill(0x5a)
  expect(keccak256Hex(bytes)).toBe(viemKeccak256(bytes))
})
