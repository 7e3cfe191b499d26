import { bytesToHex, hexToBytes } from '@causeway/core'
import { expect, test } from 'vitest'
import { compactFromDer } from './derSignature.ts'
import { SignerFailedError } from './errors.ts'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint) => value.toString(16).padStart(64, '0')
const bytes = (hex: string) => hexToBytes(`0x${hex}`)

test.each([
  ['one byte each', '3006020101020102', 1n, 2n],
  ['a zero in front of a set bit', '3008020200ff02020080', 255n, 128n],
  ['r of 31 bytes', `302402${(31).toString(16)}${'7f'.repeat(31)}020101`, BigInt(`0x${'7f'.repeat(31)}`), 1n],
])('reads %s and pads it', (_what, der, r, s) => {
  expect(bytesToHex(compactFromDer(bytes(der)))).toBe(`0x${word(r)}${word(s)}`)
})

test('brings a high s to the low half', () => {
  const der = `3026020101022100${word(order - 5n)}`
  expect(bytesToHex(compactFromDer(bytes(der)))).toBe(`0x${word(1n)}${word(5n)}`)
})

test.each([
  ['nothing', ''],
  ['another tag', '3106020101020102'],
  ['a wrong length', '3007020101020102'],
  ['a byte after it', '300602010102010200'],
  ['a byte after it inside', '300702010102010200'],
  ['one integer', '3003020101'],
  ['three integers', '3009020101020102020103'],
  ['another inner tag', '3006030101020102'],
  ['a negative integer', '3006020181020102'],
  ['needless padding', '300702020001020102'],
  ['an empty integer', '30050200020102'],
  ['an integer beyond the end', '3006020101020402'],
  ['an integer of 34 bytes', `30270222${'01'.repeat(34)}020101`],
  ['r of zero', '3006020100020102'],
  ['s of zero', '3006020101020100'],
  ['r of the order', `3026022100${word(order)}020101`],
  ['s of the order', `3026020101022100${word(order)}`],
  ['a long form of the length', `308106020101020102`],
])('%s is no signature', (_what, der) => {
  expect(() => compactFromDer(bytes(der))).toThrow(SignerFailedError)
})

test('why it is none goes into the log', () => {
  const thrown = expect.objectContaining({ cause: expect.any(Error) })
  expect(() => compactFromDer(bytes('3106'))).toThrow(thrown)
})
