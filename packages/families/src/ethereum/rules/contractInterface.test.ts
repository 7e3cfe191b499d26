import type { Hex } from '@causeway/core'
import { encodeFunctionData, encodeFunctionResult, parseAbi, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { contractInterface } from './contractInterface.ts'

const contract = contractInterface([
  'function move(address to, uint8 amount, bytes32 id, bytes data) returns (uint256 moved)',
  'function place() view returns (uint160 price, int24 tick)',
])
const to: Hex = `0x${'ab'.repeat(20)}`
const id: Hex = `0x${'cd'.repeat(32)}`

test('letters of addresses and bytes may have either case, and no checksum is asked for', () => {
  const upper: Hex = `0x${'AB'.repeat(20)}`
  const mixed: Hex = `0x${'aB'.repeat(20)}`
  const expected = contract.encode('move', [to, 1, id, '0xef'])
  expect(contract.encode('move', [upper, 1, id, '0xEF'])).toBe(expected)
  expect(contract.encode('move', [mixed, 1, id, '0xef'])).toBe(expected)
})

describe('what does not fit its type is refused, and nothing is cut or padded', () => {
  test.each<[string, () => unknown]>([
    ['a short address', () => contract.encode('move', ['0x1234', 1, id, '0x'])],
    ['an amount that is too large', () => contract.encode('move', [to, 256, id, '0x'])],
    ['a negative amount', () => contract.encode('move', [to, -1, id, '0x'])],
    ['an id of 31 bytes', () => contract.encode('move', [to, 1, `0x${'cd'.repeat(31)}`, '0x'])],
    ['an id with other characters', () => contract.encode('move', [to, 1, `0x${'zz'.repeat(32)}`, '0x'])],
    ['half a byte', () => contract.encode('move', [to, 1, id, '0x123'])],
    ['bytes and a line break', () => contract.encode('move', [to, 1, id, '0x12\n'])],
    ['nothing returned', () => contract.decode('place', '0x')],
    ['one word of two', () => contract.decode('place', `0x${'0'.repeat(64)}`)],
    ['two words without a digit', () => contract.decode('place', `0x${'0'.repeat(127)}`)],
  ])('%s', (_what, use) => {
    expect(use).toThrow(RangeError)
  })
})

test('what is returned is read with its signs, whatever follows it', () => {
  const words = `${'7'.padStart(64, '0')}${'f'.repeat(64)}${'1'.padStart(64, '0')}`
  expect(contract.decode('place', `0x${words}`)).toEqual([7n, -1])
})

describe('what is nested in lists and structs', () => {
  const signatures = [
    'struct Call { address to; bytes data; bool must; uint256 value; }',
    'function run(Call[] calls, bytes[] tails)',
    'function halt()',
  ] as const
  const nested = contractInterface(signatures)
  const call = { to, data: '0xef', must: true, value: 2n ** 200n } as const
  const abi = parseAbi(signatures)

  test('is encoded as viem does, in whatever case its digits are', () => {
    const expected = encodeFunctionData({
      abi,
      functionName: 'run',
      args: [
        [call, call],
        ['0x', '0xab'],
      ],
    })
    const upper = { ...call, to: `0x${'AB'.repeat(20)}`, data: '0xEF' } as const
    expect(
      nested.encode('run', [
        [call, upper],
        ['0x', '0xAB'],
      ]),
    ).toBe(expected)
    // A second call is made of what was kept of the first.
    expect(
      nested.encode('run', [
        [call, upper],
        ['0x', '0xAB'],
      ]),
    ).toBe(expected)
  })

  test.each<[string, () => unknown]>([
    ['half a byte in a struct', () => nested.encode('run', [[{ ...call, data: '0xe' }], []])],
    ['no hex in a list', () => nested.encode('run', [[], ['0xzz']])],
    ['a short address in a struct', () => nested.encode('run', [[{ ...call, to: '0xab' }], []])],
  ])('is refused: %s', (_what, use) => {
    expect(use).toThrow(RangeError)
  })

  test('a refusal names the function', () => {
    expect(() => nested.encode('run', [[{ ...call, value: -1n }], []])).toThrow(/^run: /)
    expect(() => contract.decode('move', '0x')).toThrow(RangeError)
  })

  test('a function that takes and returns nothing is its selector', () => {
    expect(nested.encode('halt', [])).toBe(toFunctionSelector('halt()'))
    expect(nested.decode('halt', '0x')).toBeUndefined()
  })
})

test('bytes that are returned are read as viem does, and what is none is refused by the name of the function', () => {
  const texts = contractInterface(['function text() returns (bytes)'])
  const abi = parseAbi(['function text() returns (bytes)'])
  const data = encodeFunctionResult({ abi, functionName: 'text', result: '0xabcd' })
  expect(texts.decode('text', data)).toBe('0xabcd')
  expect(() => texts.decode('text', '0x12')).toThrow(/^text: /)
})
