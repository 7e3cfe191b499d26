import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  encodeMulticall,
  encodeRefundNative,
  encodeSingleSwap,
  encodeSwapAndDeposit,
  encodeUnwrap,
} from './swapCalls.ts'

const abi = parseAbi([
  'struct ExactInputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'struct ExactOutputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; uint160 sqrtPriceLimitX96; }',
  'struct SwapAndDeposit { address tokenIn; uint256 amountIn; address tokenOut; uint256 minAmountOut; address depositor; bytes32 id; bytes swapData; }',
  'function exactInputSingle(ExactInputSingleParams params) payable returns (uint256)',
  'function exactOutputSingle(ExactOutputSingleParams params) payable returns (uint256)',
  'function multicall(bytes[] data) payable returns (bytes[])',
  'function unwrapWETH9(uint256 amountMinimum, address recipient) payable',
  'function refundETH() payable',
  'function swapAndDeposit(SwapAndDeposit request) payable returns (uint256)',
])

const address = (digit: string): Hex => `0x${digit.repeat(40)}`
const swap = {
  tokenIn: address('1'),
  tokenOut: address('2'),
  feePips: 3_000,
  recipient: address('3'),
  deadlineSeconds: 1_800_000_000,
  amountIn: 123n,
  amountOut: 2n ** 200n,
}

describe('calldata equals the encoding of the published interfaces', () => {
  test('exactInputSingle', () => {
    const expected = encodeFunctionData({
      abi,
      functionName: 'exactInputSingle',
      args: [
        {
          tokenIn: swap.tokenIn,
          tokenOut: swap.tokenOut,
          fee: 3_000,
          recipient: swap.recipient,
          deadline: 1_800_000_000n,
          amountIn: 123n,
          amountOutMinimum: 2n ** 200n,
          sqrtPriceLimitX96: 0n,
        },
      ],
    })
    expect(encodeSingleSwap({ ...swap, trade: 'exactInput' })).toBe(expected)
  })

  test('exactOutputSingle', () => {
    const expected = encodeFunctionData({
      abi,
      functionName: 'exactOutputSingle',
      args: [
        {
          tokenIn: swap.tokenIn,
          tokenOut: swap.tokenOut,
          fee: 3_000,
          recipient: swap.recipient,
          deadline: 1_800_000_000n,
          amountOut: 2n ** 200n,
          amountInMaximum: 123n,
          sqrtPriceLimitX96: 0n,
        },
      ],
    })
    expect(encodeSingleSwap({ ...swap, trade: 'exactOutput' })).toBe(expected)
  })

  test('multicall of calls of different lengths', () => {
    const calls: Hex[] = ['0x', '0xab', encodeRefundNative(), encodeUnwrap(5n, address('4'))]
    expect(encodeMulticall(calls)).toBe(encodeFunctionData({ abi, functionName: 'multicall', args: [calls] }))
  })

  test('unwrapWETH9 and refundETH', () => {
    expect(encodeUnwrap(5n, address('4'))).toBe(
      encodeFunctionData({ abi, functionName: 'unwrapWETH9', args: [5n, address('4')] }),
    )
    expect(encodeRefundNative()).toBe(encodeFunctionData({ abi, functionName: 'refundETH' }))
  })

  test('swapAndDeposit', () => {
    const request = {
      tokenIn: address('5'),
      amountIn: 7n,
      tokenOut: address('6'),
      depositor: address('7'),
      swapData: '0xdeadbeef' as const,
    }
    const orderId: Hex = `0x${'8'.repeat(64)}`
    const expected = encodeFunctionData({
      abi,
      functionName: 'swapAndDeposit',
      args: [{ ...request, minAmountOut: 6n, id: orderId }],
    })
    expect(encodeSwapAndDeposit({ ...request, amountOutMin: 6n, orderId })).toBe(expected)
  })
})
