import type { Hex } from '@causeway/core'
import fc from 'fast-check'
import { encodeFunctionData, parseAbi, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { repeated } from '../../../../core/test/vectors/orders.ts'
import {
  addressWord,
  bytes32Word,
  encodeApprove,
  encodeDepositErc20,
  encodeDepositNative,
  encodeTransfer,
  encodeWethDeposit,
  encodeWethWithdraw,
  uintWord,
} from './abi.ts'

const abi = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function depositNative(address depositor, bytes32 id) payable',
  'function depositErc20(address depositor, address token, uint256 amount, bytes32 id)',
  'function deposit() payable',
  'function withdraw(uint256 amount)',
])

function hexOf(length: number): fc.Arbitrary<Hex> {
  return fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
}
const address = hexOf(20)
const id = hexOf(32)
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

const user = repeated('11', 20)
const usdc: Hex = '0x00000000000000000000000000000000000000c1'
const depository: Hex = '0x00000000000000000000000000000000000000d1'
const orderId: Hex = '0x49a700e9aa2c4573cab6610923059322e828484ae66208d7fcbd26a52a985c6a'

describe('the calldata of the quote example', () => {
  test('approve', () => {
    expect(encodeApprove(depository, 100_000_000n)).toBe(
      '0x095ea7b300000000000000000000000000000000000000000000000000000000000000d10000000000000000000000000000000000000000000000000000000005f5e100',
    )
  })

  test('depositErc20', () => {
    expect(encodeDepositErc20(user, usdc, 100_000_000n, orderId)).toBe(
      '0xe8017952000000000000000000000000111111111111111111111111111111111111111100000000000000000000000000000000000000000000000000000000000000c10000000000000000000000000000000000000000000000000000000005f5e10049a700e9aa2c4573cab6610923059322e828484ae66208d7fcbd26a52a985c6a',
    )
  })
})

test.each([
  ['depositNative(address,bytes32)', '0x49290c1c', encodeDepositNative(user, orderId)],
  [
    'depositErc20(address,address,uint256,bytes32)',
    '0xe8017952',
    encodeDepositErc20(user, usdc, 1n, orderId),
  ],
  ['approve(address,uint256)', '0x095ea7b3', encodeApprove(user, 1n)],
  ['transfer(address,uint256)', '0xa9059cbb', encodeTransfer(user, 1n)],
  ['deposit()', '0xd0e30db0', encodeWethDeposit()],
  ['withdraw(uint256)', '0x2e1a7d4d', encodeWethWithdraw(1n)],
])('the selector of %s is %s', (signature, selector, calldata) => {
  expect(toFunctionSelector(signature)).toBe(selector)
  expect(calldata.slice(0, 10)).toBe(selector)
})

test('every encoder equals viem', () => {
  fc.assert(
    fc.property(address, address, amount, id, (one, other, value, bytes32) => {
      const expected = (functionName: 'approve' | 'transfer') =>
        encodeFunctionData({ abi, functionName, args: [one, value] })
      expect(encodeApprove(one, value)).toBe(expected('approve'))
      expect(encodeTransfer(one, value)).toBe(expected('transfer'))
      expect(encodeDepositNative(one, bytes32)).toBe(
        encodeFunctionData({ abi, functionName: 'depositNative', args: [one, bytes32] }),
      )
      expect(encodeDepositErc20(one, other, value, bytes32)).toBe(
        encodeFunctionData({ abi, functionName: 'depositErc20', args: [one, other, value, bytes32] }),
      )
      expect(encodeWethDeposit()).toBe(encodeFunctionData({ abi, functionName: 'deposit' }))
      expect(encodeWethWithdraw(value)).toBe(
        encodeFunctionData({ abi, functionName: 'withdraw', args: [value] }),
      )
    }),
  )
})

test('upper-case input is written in lower case', () => {
  const upper: Hex = `0x${'AB'.repeat(20)}`
  expect(encodeApprove(upper, 1n)).toBe(encodeApprove(repeated('ab', 20), 1n))
  expect(bytes32Word(`0x${'AB'.repeat(32)}`)).toBe('ab'.repeat(32))
})

test.each<[string, () => unknown]>([
  ['a short address', () => addressWord('0x1234')],
  ['a long address', () => addressWord(repeated('11', 21))],
  ['an address with other characters', () => addressWord(`0x${'zz'.repeat(20)}`)],
  ['an address with a line break', () => addressWord(`0x${'11'.repeat(20)}\n`)],
  ['a short id', () => bytes32Word(repeated('11', 31))],
  ['a negative amount', () => uintWord(-1n)],
  ['an amount of 257 bits', () => uintWord(2n ** 256n)],
])('refuses %s', (_what, encode) => {
  expect(encode).toThrow(RangeError)
})
