// Actions on the hub: one written out in words, all as viem encodes them.
import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Hex } from '../hex.ts'
import { encodeBurnAction, encodeMintAction, encodeTransferAction, readAction } from './actions.ts'

const orderAddress: Hex = '0x48dd97456ea2aed0520f5386f4146f867c61e565'
const nativeToken = 75768216729734233842356022798368373679005098618301361336704166989654078618295n

test('minting to the address of order B is the published four words', () => {
  expect(encodeMintAction({ hubTo: orderAddress, hubTokenId: nativeToken, amount: 10n ** 18n })).toBe(
    `0x${'00'.repeat(32)}${'00'.repeat(12)}48dd97456ea2aed0520f5386f4146f867c61e565a7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab7${'de0b6b3a7640000'.padStart(64, '0')}`,
  )
})

describe('every action equals viem', () => {
  const account = fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
  const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
  const three = [{ type: 'uint8' }, { type: 'address' }, { type: 'uint256' }, { type: 'uint256' }] as const
  const four = [
    { type: 'uint8' },
    { type: 'address' },
    { type: 'address' },
    { type: 'uint256' },
    { type: 'uint256' },
  ] as const

  test('mint, burn and transfer', () => {
    fc.assert(
      fc.property(account, account, uint256, uint256, (one, other, hubTokenId, amount) => {
        expect(encodeMintAction({ hubTo: one, hubTokenId, amount })).toBe(
          encodeAbiParameters(three, [0, one, hubTokenId, amount]),
        )
        expect(encodeBurnAction({ hubFrom: one, hubTokenId, amount })).toBe(
          encodeAbiParameters(three, [1, one, hubTokenId, amount]),
        )
        expect(encodeTransferAction({ hubFrom: one, hubTo: other, hubTokenId, amount })).toBe(
          encodeAbiParameters(four, [2, one, other, hubTokenId, amount]),
        )
      }),
    )
  })

  test('is read back as it was written', () => {
    fc.assert(
      fc.property(account, account, uint256, uint256, (hubFrom, hubTo, hubTokenId, amount) => {
        const moved = { hubTokenId, amount }
        expect(readAction(encodeMintAction({ hubTo, ...moved }))).toEqual({ hubTo, ...moved })
        expect(readAction(encodeBurnAction({ hubFrom, ...moved }))).toEqual({ hubFrom, ...moved })
        const both = { hubFrom, hubTo, ...moved }
        expect(readAction(encodeTransferAction(both))).toEqual(both)
      }),
    )
  })
})

test.each<[string, () => unknown]>([
  ['an account of 19 bytes', () => encodeMintAction({ hubTo: '0x12', hubTokenId: 1n, amount: 1n })],
  ['a negative amount', () => encodeMintAction({ hubTo: orderAddress, hubTokenId: 1n, amount: -1n })],
  [
    'a token id of 257 bits',
    () => encodeMintAction({ hubTo: orderAddress, hubTokenId: 2n ** 256n, amount: 1n }),
  ],
])('refuses %s', (_what, encode) => {
  expect(encode).toThrow(RangeError)
})

const word = (digits: string) => digits.padStart(64, '0')
const account = '48dd97456ea2aed0520f5386f4146f867c61e565'

test.each<[string, string]>([
  ['nothing', ''],
  ['a type that nobody defined', word('3') + word(account) + word('1') + word('1')],
  ['a type beyond one digit', word('10') + word(account) + word('1') + word('1')],
  ['a mint with the words of a transfer', word('0') + word(account) + word(account) + word('1') + word('1')],
  ['a transfer with the words of a mint', word('2') + word(account) + word('1') + word('1')],
  ['an account of 21 bytes', word('0') + word(`1${account}00`) + word('1') + word('1')],
  ['a type of another word', `1${'0'.repeat(63)}${word(account)}${word('1')}${word('1')}`],
  ['half a word at its end', `${word('0') + word(account) + word('1') + word('1')}00`],
])('does not read %s', (_what, digits) => {
  expect(() => readAction(`0x${digits}`)).toThrow(RangeError)
})
