// Goal: a word that no value of its type has is refused, in what is sent as in what a contract returned. Adversary: a
// node whose answer hides bytes beside an address; a caller whose short address would be filled up with zeros.

import { describe, expect, test } from 'vitest'
import { type WordType, wordTypeOf } from './abiWordTypes.ts'
import { contractInterface } from './contractInterface.ts'

const word = (digits: string) => digits.padStart(64, '0')
const account = 'ab'.repeat(20)

function typeOf(name: string): WordType {
  const type = wordTypeOf(name)
  if (type === undefined) throw new Error(`${name} is a word`)
  return type
}

describe('a word is refused', () => {
  test.each([
    ['address', `${'1'.padEnd(24, '0')}${account}`],
    ['address', `${'0'.repeat(23)}1${account}`],
    ['bool', word('2')],
    ['bool', `1${'0'.repeat(63)}`],
    ['bytes4', `12345678${'0'.repeat(55)}1`],
    ['bytes4', `123456781${'0'.repeat(55)}`],
    ['uint8', word('100')],
    ['uint48', word(`1${'0'.repeat(12)}`)],
    ['uint128', word(`1${'0'.repeat(32)}`)],
    ['int24', word('800000')],
    ['int24', `${'f'.repeat(58)}7fffff`],
  ])('as %s: %s', (type, digits) => {
    expect(() => typeOf(type).read(digits)).toThrow(RangeError)
    const contract = contractInterface([`function f() returns (${type})`] as readonly string[])
    expect(() => contract.decode('f', `0x${digits}`)).toThrow(RangeError)
  })
})

describe('a value is refused', () => {
  const hex = (bytes: number) => `0x${'ab'.repeat(bytes)}`
  test.each<[string, unknown]>([
    ...[
      hex(19),
      hex(21),
      '0x',
      '',
      `0x${'zz'.repeat(20)}`,
      `00${account}`,
      account,
      5,
      null,
      undefined,
      {},
    ].map((value): [string, unknown] => ['address', value]),
    ...[hex(3), hex(5), '0x', `0x${'zz'.repeat(4)}`, 5].map((value): [string, unknown] => ['bytes4', value]),
    ['bool', 1],
    ['bool', 'true'],
    ['uint8', -1],
    ['uint8', -1n],
    ['uint8', 256],
    ['uint8', '5'],
    ['uint8', 1.5],
    ['uint256', 2n ** 256n],
    ['int24', -(2 ** 23) - 1],
    ['int24', 2 ** 23],
  ])('as %s: %s', (type, value) => {
    expect(() => typeOf(type).write(value)).toThrow(RangeError)
  })
})

describe('the least and the largest value are words', () => {
  test.each<[string, unknown, string]>([
    ['uint8', 0, word('')],
    ['uint8', 255, word('ff')],
    ['uint48', 2 ** 48 - 1, word('f'.repeat(12))],
    ['uint56', 2n ** 56n - 1n, word('f'.repeat(14))],
    ['int24', -(2 ** 23), `${'f'.repeat(58)}800000`],
    ['int24', 2 ** 23 - 1, word('7fffff')],
    ['int256', -(2n ** 255n), `8${'0'.repeat(63)}`],
    ['bool', false, word('')],
    ['bool', true, word('1')],
    ['bytes4', '0xabcdef01', 'abcdef01'.padEnd(64, '0')],
  ])('%s: %s', (type, value, digits) => {
    expect(typeOf(type).write(value)).toBe(digits)
    expect(typeOf(type).read(digits)).toBe(value)
  })
})

test('what follows the last word is not looked at', () => {
  const contract = contractInterface(['function f() returns (uint8)'])
  expect(contract.decode('f', `0x${word('7')}zz`)).toBe(7)
})
