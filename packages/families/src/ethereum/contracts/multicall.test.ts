import type { Hex } from '@causeway/core'
import { type JsonRpcClient, MalformedAnswerError } from '@causeway/rpc'
import fc from 'fast-check'
import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  encodeFunctionResult,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { readStringResult, readUintResult } from './abiReader.ts'
import {
  allowanceCall,
  balanceOfCall,
  decimalsCall,
  descriptionCall,
  nativeBalanceCall,
} from './erc20Calls.ts'
import { blockParameter, decodeAggregate3, encodeAggregate3, multicall } from './multicall.ts'

const abi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}` as const
const bytes = fc.uint8Array({ maxLength: 100 }).map(hex)
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hex)

describe('aggregate3', () => {
  test('is encoded as the ABI has it', () => {
    const calls = fc.array(fc.record({ target: address, callData: bytes }), { maxLength: 12 })
    fc.assert(
      fc.property(calls, (expected) => {
        const data = encodeAggregate3(expected)
        const { args } = decodeFunctionData({ abi, data })
        expect(data).toBe(encodeFunctionData({ abi, functionName: 'aggregate3', args }))
        const decoded = args[0].map(({ target, allowFailure, callData }) => {
          expect(allowFailure).toBe(true)
          return { target: target.toLowerCase(), callData }
        })
        expect(decoded).toEqual(expected)
      }),
    )
  })

  test('is decoded as the ABI has it', () => {
    const answers = fc.array(fc.record({ success: fc.boolean(), returnData: bytes }), { maxLength: 12 })
    fc.assert(
      fc.property(answers, (expected) => {
        const result = encodeFunctionResult({ abi, functionName: 'aggregate3', result: expected })
        expect(decodeAggregate3(result, expected.length)).toEqual(expected)
      }),
    )
  })

  test('is refused when a node changes any part of it, or read as something of the same shape', () => {
    const answer = [
      { success: true, returnData: hex(new Uint8Array(32).fill(7)) },
      { success: false, returnData: '0x' as const },
    ]
    const good = encodeFunctionResult({ abi, functionName: 'aggregate3', result: answer })
    const size = (good.length - 2) / 2
    fc.assert(
      fc.property(fc.nat(size - 1), fc.integer({ min: 1, max: 255 }), fc.nat(size), (at, flip, cut) => {
        const raw = Buffer.from(good.slice(2), 'hex')
        raw[at] = (raw[at] ?? 0) ^ flip
        for (const data of [raw, raw.subarray(0, cut)]) {
          try {
            const read = decodeAggregate3(hex(data), 2)
            expect(read).toEqual(decodeFunctionResult({ abi, functionName: 'aggregate3', data: hex(data) }))
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedAnswerError)
          }
        }
      }),
    )
  })

  test('is refused where many members are said to hold the same bytes', () => {
    const word = (value: number) => value.toString(16).padStart(64, '0')
    const [count, length] = [500, 32 * 1_000]
    const member = `${word(1)}${word(64)}${word(length)}${'ab'.repeat(length)}`
    const offsets = Array.from({ length: count }, () => word(32 * count)).join('')
    const data = `0x${word(32)}${word(count)}${offsets}${member}`
    expect(() => decodeAggregate3(data, count)).toThrow(MalformedAnswerError)
  })

  test.each([
    ['a short target', { target: '0x12', callData: '0x' }],
    ['half a byte', { target: `0x${'1'.repeat(40)}`, callData: '0x123' }],
    ['no hex', { target: `0x${'1'.repeat(40)}`, callData: '0xzz' }],
  ] as const)('is not written with %s', (_what, call) => {
    expect(() => encodeAggregate3([call])).toThrow(RangeError)
  })

  test.each([
    ['nothing', '0x'],
    ['no text', undefined],
    ['half a byte', '0x123'],
    ['another count', encodeFunctionResult({ abi, functionName: 'aggregate3', result: [] })],
  ])('refuses %s', (_name, result) => {
    expect(() => decodeAggregate3(result, 1)).toThrow(MalformedAnswerError)
  })
})

test.each([
  ['aggregate3((address,bool,bytes)[])', encodeAggregate3([])],
  ['balanceOf(address)', balanceOfCall(`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`).callData],
  [
    'allowance(address,address)',
    allowanceCall(`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`, `0x${'3'.repeat(40)}`).callData,
  ],
  ['getEthBalance(address)', nativeBalanceCall(`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`).callData],
  ['decimals()', decimalsCall(`0x${'1'.repeat(40)}`).callData],
  ['description()', descriptionCall(`0x${'1'.repeat(40)}`).callData],
])('%s has its selector', (signature, callData) => {
  expect(callData.slice(0, 10)).toBe(toFunctionSelector(signature))
})

test('names a block by hash, number or tag', () => {
  const hash = `0x${'ab'.repeat(32)}` as const
  expect(blockParameter({ hash })).toEqual({ blockHash: hash, requireCanonical: true })
  expect(blockParameter({ number: 255n })).toBe('0xff')
  expect(blockParameter('latest')).toBe('latest')
})

describe('return data', () => {
  const text = parseAbi(['function description() view returns (string)'])

  test('reads strings of any length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (expected) => {
        const result = encodeFunctionResult({ abi: text, functionName: 'description', result: expected })
        expect(readStringResult(result, 'description')).toBe(expected)
      }),
    )
  })

  test.each(['0x', `0x${'00'.repeat(31)}`] as const)('refuses %s as a number', (data) => {
    expect(() => readUintResult(data, 'decimals')).toThrow(MalformedAnswerError)
  })

  test.each([
    ['an offset outside', `0x${'ff'.repeat(32)}`],
    ['a length outside', `0x${'20'.padStart(64, '0')}${'ff'.padStart(64, '0')}`],
  ] as const)('refuses a string with %s', (_name, data) => {
    expect(() => readStringResult(data, 'description')).toThrow(MalformedAnswerError)
  })
})

test('equal calls are sent once, and every call gets its answer', async () => {
  const accounts: readonly Hex[] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
  const [first, second] = accounts.map((account) => balanceOfCall(`0x${'cc'.repeat(20)}`, account))
  if (first === undefined || second === undefined) throw new Error('two calls')
  const sent: number[] = []
  const request = async ({ params: [{ data }] }: { params: [{ data: Hex }] }) => {
    const { args } = decodeFunctionData({ abi, data })
    sent.push(args[0].length)
    // Each contract answers with what it was asked.
    const result = args[0].map(({ callData }) => ({ success: true, returnData: callData }))
    return encodeFunctionResult({ abi, functionName: 'aggregate3', result })
  }
  const client = { request } as unknown as JsonRpcClient
  const calls = [first, second, first, first]
  const answers = await multicall(client, { multicall3: `0x${'dd'.repeat(20)}`, calls, block: 'latest' })
  expect(answers.map(({ returnData }) => returnData)).toEqual(calls.map(({ callData }) => callData))
  expect(sent).toEqual([2])
})
