import type { Hex } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { baseUsdc, repeated } from '../../../../core/test/vectors/orders.ts'
import { encodeApprove, encodeTransfer } from './abi.ts'
import type { WithdrawalCall } from './withdrawal.ts'
import { withdrawalTransfer } from './withdrawalTransfer.ts'

const someone = repeated('22', 20)
const call = (change: Partial<WithdrawalCall>): WithdrawalCall => ({
  to: someone,
  data: '0x',
  value: 0n,
  allowFailure: false,
  ...change,
})
const read = (...calls: readonly WithdrawalCall[]) => withdrawalTransfer({ calls, nonce: 1n, expiration: 2n })

test('a call without data pays the native currency', () => {
  const upper: Hex = `0x${'Ab'.repeat(20)}`
  expect(read(call({ to: upper, value: 1000n }))).toEqual({
    currency: repeated('00', 20),
    amount: 1000n,
    recipient: repeated('ab', 20),
  })
})

test('a token transfer pays its token, amount and recipient', () => {
  const data = encodeTransfer(someone, 1234n)
  const upper: Hex = `0x${data.slice(2).toUpperCase()}`
  const expected = { currency: baseUsdc, amount: 1234n, recipient: someone }
  expect(read(call({ to: baseUsdc, data }))).toEqual(expected)
  expect(read(call({ to: baseUsdc, data: upper }))).toEqual(expected)
})

describe('a withdrawal is refused', () => {
  const transfer = encodeTransfer(someone, 1n)
  const transferFrom = encodeFunctionData({
    abi: parseAbi(['function transferFrom(address a, address b, uint256 amount)']),
    args: [someone, someone, 1n],
  })
  test.each<[string, readonly WithdrawalCall[]]>([
    ['without a call', []],
    ['with two calls', [call({ value: 1n }), call({ value: 1n })]],
    ['with an approval', [call({ data: encodeApprove(someone, 1n) })]],
    ['with a transferFrom', [call({ data: transferFrom })]],
    ['with a transfer and a tail', [call({ data: `${transfer}00` })]],
    ['with a transfer that is cut', [call({ data: `0x${transfer.slice(2, -2)}` })]],
    ['with a dirty recipient', [call({ data: `0xa9059cbb01${transfer.slice(12)}` })]],
    ['with a transfer of the zero address', [call({ to: repeated('00', 20), data: transfer })]],
    ['with a transfer that also sends value', [call({ data: transfer, value: 1n })]],
  ])('P-112: %s', (_what, calls) => {
    expect(() => read(...calls)).toThrow(InvalidWithdrawalError)
  })
})
