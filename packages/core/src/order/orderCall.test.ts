import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { repeated } from '../../test/vectors/orders.ts'
import type { Hex } from '../hex.ts'
import { decodeOrderCall, encodeFillExtraData, encodeOrderCall, fillContractOf } from './orderCall.ts'

const account = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

test('a call is six words in the published example', () => {
  const word = (digits: string) => digits.padStart(64, '0')
  expect(encodeOrderCall({ to: repeated('55', 20), data: '0xabcdef', value: 7n })).toBe(
    `0x${word('55'.repeat(20))}${word('60')}${word('7')}${word('20')}${word('3')}${'abcdef'.padEnd(64, '0')}`,
  )
})

test('a call is the ABI encoding of three one-member tuples', () => {
  const parameters = [
    { type: 'tuple', components: [{ name: 'to', type: 'address' }] },
    { type: 'tuple', components: [{ name: 'data', type: 'bytes' }] },
    { type: 'tuple', components: [{ name: 'value', type: 'uint256' }] },
  ] as const
  const bytes = fc.uint8Array({ maxLength: 200 }).map((data): Hex => `0x${Buffer.from(data).toString('hex')}`)
  fc.assert(
    fc.property(account, bytes, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (to, data, value) => {
      const encoded = encodeOrderCall({ to, data, value })
      expect(encoded).toBe(encodeAbiParameters(parameters, [{ to }, { data }, { value }]))
      expect(decodeOrderCall(encoded)).toEqual({ to, data, value })
    }),
  )
})

test('what is not exactly a call is refused', () => {
  const call = encodeOrderCall({ to: repeated('55', 20), data: '0xabcdef', value: 7n })
  const changed = (from: string, to: string): Hex => `0x${call.slice(2).replace(from, to)}`
  const broken: readonly Hex[] = [
    '0x',
    `0x${call.slice(2, -64)}`,
    `0x${call.slice(2, -1)}`,
    `${call}${'00'.repeat(32)}`,
    changed('abcdef', 'abcdeg'),
    changed(`${'0'.repeat(63)}3`, 'f'.repeat(64)),
    changed('abcdef00', 'abcdef01'),
    '0x12345',
    `0x${call}`,
  ]
  for (const other of broken) expect(() => decodeOrderCall(other)).toThrow(RangeError)
})

test('extra data is the fill contract in one word', () => {
  const parameters = [{ type: 'tuple', components: [{ name: 'fillContract', type: 'address' }] }] as const
  fc.assert(
    fc.property(account, (fillContract) => {
      expect(encodeFillExtraData(fillContract)).toBe(encodeAbiParameters(parameters, [{ fillContract }]))
      expect(fillContractOf(encodeFillExtraData(fillContract))).toBe(fillContract)
    }),
  )
  expect(() => encodeFillExtraData('0x1234')).toThrow(RangeError)
  for (const text of ['0x', `0x${'1'.repeat(64)}`, `0x${'0'.repeat(66)}`])
    expect(fillContractOf(text)).toBeUndefined()
})
