// Vectors of the public protocol for ethereum-vm and tron-vm, which share bytes and ids.

import type { Hex } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import fc from 'fast-check'
import { encodeAbiParameters, encodeFunctionData, hashStruct, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { baseUsdc, repeated } from '../../../../core/test/vectors/orders.ts'
import { encodeTransfer } from './abi.ts'
import {
  decodeEvmWithdrawal,
  type EvmWithdrawal,
  encodeEvmWithdrawal,
  evmWithdrawalId,
} from './withdrawal.ts'

function oneCall(
  call: { to: Hex; data?: Hex; value?: bigint },
  nonce: bigint,
  expiration: bigint,
): EvmWithdrawal {
  const { to, data = '0x', value = 0n } = call
  return { calls: [{ to, data, value, allowFailure: false }], nonce, expiration }
}

const someone = repeated('9876543210', 4)

describe('evmWithdrawalId', () => {
  test.each<[string, EvmWithdrawal, Hex]>([
    [
      'a native call',
      oneCall({ to: someone, value: 10n ** 18n }, 1n, 1735680000n),
      '0xd7005099805c5e730f534f546e309475b5611975fadfc9451a96a421b58409f3',
    ],
    [
      'another native call',
      oneCall({ to: repeated('22', 20), value: 1000n }, 5n, 1800000000n),
      '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc',
    ],
    [
      'an ERC-20 transfer',
      oneCall({ to: baseUsdc, data: encodeTransfer(repeated('22', 20), 1234n) }, 6n, 1800000000n),
      '0x8946facfff3b61ef01db881bea307d9ec131dd9b220d2d0c8754e403c0d5ea24',
    ],
    [
      'a native call on tron',
      oneCall({ to: someone, value: 1_000_000n }, 1n, 1735680000n),
      '0xbc371a5bf7643019760e04b923c456f1fbf63bce0d0ac377670bdc2eaa111ca5',
    ],
    [
      'another native call on tron',
      oneCall({ to: '0xf0623e1012177482912fb057e44e1a9769b1f588', value: 1000n }, 5n, 1800000000n),
      '0x4b6033037ca2014c0453a04395a7d87d038bba92f0f161a8231a0e850f9a6bdb',
    ],
  ])('of %s is the published one, from the request and from its bytes', (_what, withdrawal, id) => {
    expect(evmWithdrawalId(withdrawal)).toBe(id)
    expect(evmWithdrawalId(decodeEvmWithdrawal(encodeEvmWithdrawal(withdrawal)))).toBe(id)
  })
})

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const withdrawals: fc.Arbitrary<EvmWithdrawal> = fc.record({
  calls: fc.array(
    fc.record({
      to: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hexOf),
      data: fc.uint8Array({ maxLength: 100 }).map(hexOf),
      value: uint256,
      allowFailure: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  nonce: uint256,
  expiration: uint256,
})

const callComponents = [
  { name: 'to', type: 'address' },
  { name: 'data', type: 'bytes' },
  { name: 'value', type: 'uint256' },
  { name: 'allowFailure', type: 'bool' },
] as const
const requestParameter = {
  type: 'tuple',
  components: [
    { name: 'calls', type: 'tuple[]', components: callComponents },
    { name: 'nonce', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
  ],
} as const

test('bytes and id equal viem, and the bytes read back', () => {
  const types = {
    CallRequest: [
      { name: 'calls', type: 'Call[]' },
      { name: 'nonce', type: 'uint256' },
      { name: 'expiration', type: 'uint256' },
    ],
    Call: [...callComponents],
  }
  fc.assert(
    fc.property(withdrawals, (withdrawal) => {
      const encoded = encodeEvmWithdrawal(withdrawal)
      expect(encoded).toBe(encodeAbiParameters([requestParameter], [withdrawal]))
      expect(evmWithdrawalId(withdrawal)).toBe(
        hashStruct({ data: withdrawal, primaryType: 'CallRequest', types }),
      )
      expect(decodeEvmWithdrawal(encoded)).toEqual(withdrawal)
      expect(decodeEvmWithdrawal(`0x${encoded.slice(2).toUpperCase()}`)).toEqual(withdrawal)
    }),
  )
})

describe('decodeEvmWithdrawal refuses', () => {
  const valid = encodeEvmWithdrawal(oneCall({ to: someone, data: '0xabcdef', value: 7n }, 1n, 2n))
  /** `valid` with one word, counted from 0, replaced. */
  const withWord = (index: number, value: bigint): Hex => {
    const at = 2 + 64 * index
    return `0x${valid.slice(2, at)}${value.toString(16).padStart(64, '0')}${valid.slice(at + 64)}`
  }
  const transferCall = encodeFunctionData({
    abi: parseAbi(['function transfer(address to, uint256 amount)']),
    args: [someone, 1n],
  })

  test.each<[string, string]>([
    ['nothing', ''],
    ['no bytes', '0x'],
    ['half a byte', `${valid}0`],
    ['other characters', `${valid.slice(0, -2)}zz`],
    ['no prefix', valid.slice(2)],
    ['a call without its request', transferCall],
    ['a tail', `${valid}${'00'.repeat(32)}`],
    ['a missing word', valid.slice(0, -64)],
    ['a missing byte', valid.slice(0, -2)],
    ['another first offset', withWord(0, 0x40n)],
    ['another offset of the calls', withWord(1, 0x80n)],
    ['more calls than there are', withWord(4, 2n)],
    ['fewer calls than there are', withWord(4, 0n)],
    ['more calls than allowed', withWord(4, 33n)],
    ['an enormous number of calls', withWord(4, 2n ** 256n - 1n)],
    ['an address of 21 bytes', withWord(6, 2n ** 160n)],
    ['another offset of the data', withWord(7, 0xa0n)],
    ['a flag that is neither 0 nor 1', withWord(9, 2n)],
    ['an enormous length of the data', withWord(10, 2n ** 255n)],
    ['dirty padding', withWord(11, 2n ** 256n - 1n)],
  ])('%s', (_what, bytes) => {
    // CAST: what arrives from outside before anything is known about it.
    expect(() => decodeEvmWithdrawal(bytes as Hex)).toThrow(InvalidWithdrawalError)
  })

  test('with a code and without repeating the bytes', () => {
    expect(() => decodeEvmWithdrawal('0x1234')).toThrow(
      expect.objectContaining({ code: 'INVALID_WITHDRAWAL', kind: 'invalid_request' }),
    )
    expect(() => decodeEvmWithdrawal('0x1234')).not.toThrow(/1234/)
  })

  test('or reads back what was given, for any damage', () => {
    fc.assert(
      fc.property(withdrawals, fc.nat(), fc.nat(255), (withdrawal, at, byte) => {
        const bytes = Buffer.from(encodeEvmWithdrawal(withdrawal).slice(2), 'hex')
        bytes[at % bytes.length] = byte
        const damaged = hexOf(bytes)
        try {
          expect(encodeEvmWithdrawal(decodeEvmWithdrawal(damaged))).toBe(damaged)
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidWithdrawalError)
        }
      }),
      { numRuns: 500 },
    )
  })
})
