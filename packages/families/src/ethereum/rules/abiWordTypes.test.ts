// Goal: calls and answers of single words are what viem makes of them, for every such type. Adversary: a contract or a
// node that returns a word which no value of the type has, so that an amount is read as another.

import type { Hex } from '@causeway/core'
import fc from 'fast-check'
import { decodeFunctionResult, encodeFunctionData, encodeFunctionResult, getAddress, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { wordTypeOf } from './abiWordTypes.ts'
import { contractInterface } from './contractInterface.ts'

const integers = (kind: 'uint' | 'int', bits: number) => {
  const end = 2n ** BigInt(kind === 'int' ? bits - 1 : bits)
  const any = fc.bigInt({ min: kind === 'int' ? -end : 0n, max: end - 1n })
  const values = fc.oneof(any, fc.constantFrom(end - 1n, 0n, ...(kind === 'int' ? [-end, -1n] : [1n])))
  return bits <= 48 ? values.map(Number) : values
}
const hexOf = (size: number) =>
  fc
    .uint8Array({ minLength: size, maxLength: size })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

const values: readonly (readonly [type: string, values: fc.Arbitrary<unknown>])[] = [
  ['address', hexOf(20).map((address) => getAddress(address))],
  ['bool', fc.boolean()],
  ...[8, 24, 48, 56, 128, 160, 256].flatMap((bits) =>
    (['uint', 'int'] as const).map((kind) => [`${kind}${bits}`, integers(kind, bits)] as const),
  ),
  ...[1, 4, 20, 31, 32].map((size) => [`bytes${size}`, hexOf(size)] as const),
]

describe.each(values)('%s', (type, arbitrary) => {
  const signature = `function f(${type} a, ${type} b) returns (${type} c, ${type} d)`
  const single = `function g(${type} a) returns (${type} c)`
  const abi = parseAbi([signature, single] as readonly string[])
  // The types of what is made here are known at run time alone.
  const contract: {
    encode(name: string, args: readonly unknown[]): Hex
    decode(name: string, data: Hex): unknown
  } = contractInterface([signature, single] as readonly string[])

  test('is written and read as viem does, one and two of them', () => {
    fc.assert(
      fc.property(arbitrary, arbitrary, (one, other) => {
        const args = [one, other]
        expect(contract.encode('f', args)).toBe(encodeFunctionData({ abi, functionName: 'f', args }))
        expect(contract.encode('g', [one])).toBe(encodeFunctionData({ abi, functionName: 'g', args: [one] }))
        const two = encodeFunctionResult({ abi, functionName: 'f', result: args })
        expect(contract.decode('f', two)).toEqual(decodeFunctionResult({ abi, functionName: 'f', data: two }))
        expect(contract.decode('f', `${two}ab`)).toEqual(args)
        const first = encodeFunctionResult({ abi, functionName: 'g', result: one })
        expect(contract.decode('g', first)).toEqual(one)
      }),
    )
  })

  test('is read of no word as another value than by viem, and of none that viem refuses', () => {
    const words = fc.oneof(
      hexOf(32),
      fc.bigInt({ min: 0n, max: 2n ** 32n }).map((n): Hex => `0x${n.toString(16).padStart(64, '0')}`),
      fc.bigInt({ min: 0n, max: 2n ** 32n }).map((n): Hex => `0x${n.toString(16).padStart(64, 'f')}`),
      fc.bigInt({ min: 0n, max: 2n ** 32n }).map((n): Hex => `0x${n.toString(16).padEnd(64, '0')}`),
    )
    fc.assert(
      fc.property(words, (data) => {
        const ours = outcomeOf(() => contract.decode('g', data))
        const theirs = outcomeOf(() => decodeFunctionResult({ abi, functionName: 'g', data }))
        if ('value' in ours) expect(ours).toEqual(theirs)
        else expect(ours.error).toBeInstanceOf(RangeError)
      }),
    )
  })

  test.each<[string, Hex]>([
    ['nothing', '0x'],
    ['half a word', `0x${'0'.repeat(32)}`],
    ['no hex', `0x${'z'.repeat(64)}`],
  ])('is not read of %s', (_what, data) => {
    expect(() => contract.decode('g', data)).toThrow(RangeError)
  })

  test('takes as many arguments as it has, of its kind', () => {
    const [value] = fc.sample(arbitrary, 1)
    for (const args of [[], [value], [value, value, value], [value, undefined], [value, null], [value, {}]])
      expect(() => contract.encode('f', args)).toThrow(RangeError)
  })
})

function outcomeOf(use: () => unknown): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: use() }
  } catch (error) {
    return { error }
  }
}

test.each([
  ['uint8', '256'],
  ['uint160', `${2n ** 160n}`],
  ['int24', `${2n ** 23n}`],
])('%s of %s is refused as a contract refuses it', (type, value) => {
  const word = BigInt(value).toString(16).padStart(64, '0')
  expect(() => wordTypeOf(type)?.read(word)).toThrow(RangeError)
})

test.each(['uint256[]', 'uint256[2]', 'bytes', 'string', 'tuple', 'function'])('%s is no word', (type) => {
  expect(wordTypeOf(type)).toBeUndefined()
})
