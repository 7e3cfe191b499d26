import { encodeFunctionData, encodePacked, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { encodeSwap, encodeSwapAndDeposit, encodeSwapAndPay } from './swapCalls.ts'

const abi = parseAbi([
  'struct ExactInputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'struct ExactOutputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; uint160 sqrtPriceLimitX96; }',
  'struct ExactInputParams { bytes path; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; }',
  'struct ExactOutputParams { bytes path; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; }',
  'function exactInput(ExactInputParams params) payable returns (uint256)',
  'function exactOutput(ExactOutputParams params) payable returns (uint256)',
  'struct SwapAndDeposit { address tokenIn; uint256 amountIn; address tokenOut; uint256 minAmountOut; address depositor; bytes32 id; bytes swapData; }',
  'function exactInputSingle(ExactInputSingleParams params) payable returns (uint256)',
  'function exactOutputSingle(ExactOutputSingleParams params) payable returns (uint256)',
  'struct SwapAndPay { address tokenIn; uint256 amountIn; address tokenOut; uint256 minAmountOut; address recipient; bytes32 id; bytes swapData; }',
  'function swapAndDeposit(SwapAndDeposit request) payable returns (uint256)',
  'function swapAndPay(SwapAndPay request) payable returns (uint256)',
])

const address = (digit: string): Hex => `0x${digit.repeat(40)}`
const swap = {
  tokenIn: address('1'),
  hops: [{ tokenOut: address('2'), feePips: 3_000 }],
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
          tokenOut: address('2'),
          fee: 3_000,
          recipient: swap.recipient,
          deadline: 1_800_000_000n,
          amountIn: 123n,
          amountOutMinimum: 2n ** 200n,
          sqrtPriceLimitX96: 0n,
        },
      ],
    })
    expect(encodeSwap({ ...swap, trade: 'exactInput' })).toBe(expected)
  })

  test('exactOutputSingle', () => {
    const expected = encodeFunctionData({
      abi,
      functionName: 'exactOutputSingle',
      args: [
        {
          tokenIn: swap.tokenIn,
          tokenOut: address('2'),
          fee: 3_000,
          recipient: swap.recipient,
          deadline: 1_800_000_000n,
          amountOut: 2n ** 200n,
          amountInMaximum: 123n,
          sqrtPriceLimitX96: 0n,
        },
      ],
    })
    expect(encodeSwap({ ...swap, trade: 'exactOutput' })).toBe(expected)
  })

  test.each([
    ['exactInput', [address('1'), 500, address('4'), 10_000, address('2')]],
    ['exactOutput', [address('2'), 10_000, address('4'), 500, address('1')]],
  ] as const)('%s over two pools, whose path an exact output has backwards', (trade, path) => {
    const hops = [
      { tokenOut: address('4'), feePips: 500 },
      { tokenOut: address('2'), feePips: 10_000 },
    ]
    const types = ['address', 'uint24', 'address', 'uint24', 'address'] as const
    const shared = { path: encodePacked(types, path), recipient: swap.recipient, deadline: 1_800_000_000n }
    const expected =
      trade === 'exactInput'
        ? encodeFunctionData({
            abi,
            functionName: trade,
            args: [{ ...shared, amountIn: 123n, amountOutMinimum: 2n ** 200n }],
          })
        : encodeFunctionData({
            abi,
            functionName: trade,
            args: [{ ...shared, amountOut: 2n ** 200n, amountInMaximum: 123n }],
          })
    expect(encodeSwap({ ...swap, hops, trade })).toBe(expected)
  })

  test('a swap through no pool is none', () => {
    expect(() => encodeSwap({ ...swap, hops: [], trade: 'exactInput' })).toThrow(RangeError)
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

  test('swapAndPay', () => {
    const request = {
      tokenIn: address('5'),
      amountIn: 7n,
      tokenOut: address('6'),
      recipient: address('7'),
      swapData: '0xdeadbeef' as const,
    }
    const requestId: Hex = `0x${'9'.repeat(64)}`
    const expected = encodeFunctionData({
      abi,
      functionName: 'swapAndPay',
      args: [{ ...request, minAmountOut: 6n, id: requestId }],
    })
    expect(encodeSwapAndPay({ ...request, amountOutMin: 6n, requestId })).toBe(expected)
  })
})
