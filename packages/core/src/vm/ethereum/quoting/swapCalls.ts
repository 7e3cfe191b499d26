import type { Hex } from '../../../hex.ts'
import { contractInterface } from '../contractInterface.ts'

/** @source Uniswap V3 SwapRouter (ISwapRouter, IPeripheryPayments) */
const swapRouter = contractInterface([
  'struct ExactInput { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'struct ExactOutput { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; uint160 sqrtPriceLimitX96; }',
  'function exactInputSingle(ExactInput params) payable returns (uint256)',
  'function exactOutputSingle(ExactOutput params) payable returns (uint256)',
])
const depositRouter = contractInterface([
  'struct Request { address tokenIn; uint256 amountIn; address tokenOut; uint256 minAmountOut; address depositor; bytes32 id; bytes swapData; }',
  'function swapAndDeposit(Request request) payable returns (uint256)',
  'struct Payment { address tokenIn; uint256 amountIn; address tokenOut; uint256 minAmountOut; address recipient; bytes32 id; bytes swapData; }',
  'function swapAndPay(Payment request) payable returns (uint256)',
])

export type SingleSwap = {
  readonly trade: 'exactInput' | 'exactOutput'
  readonly tokenIn: Hex
  readonly tokenOut: Hex
  readonly feePips: number
  readonly recipient: Hex
  readonly deadlineSeconds: number
  /** Exact input: what is spent and the least that comes out. Exact output: the most, and the output. */
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/** `exactInputSingle` or `exactOutputSingle` without a price limit. All here throw RangeError on what does not fit. */
export function encodeSingleSwap(swap: SingleSwap): Hex {
  const { tokenIn, tokenOut, recipient, amountIn, amountOut } = swap
  const shared = {
    ...{ tokenIn, tokenOut, fee: swap.feePips, recipient, deadline: BigInt(swap.deadlineSeconds) },
    sqrtPriceLimitX96: 0n,
  }
  return swap.trade === 'exactInput'
    ? swapRouter.encode('exactInputSingle', [{ ...shared, amountIn, amountOutMinimum: amountOut }])
    : swapRouter.encode('exactOutputSingle', [{ ...shared, amountOut, amountInMaximum: amountIn }])
}

/** The deposit router's `swapAndDeposit`; the zero address stands for native coin. */
export function encodeSwapAndDeposit(args: {
  tokenIn: Hex
  amountIn: bigint
  tokenOut: Hex
  amountOutMin: bigint
  depositor: Hex
  orderId: Hex
  swapData: Hex
}): Hex {
  const { amountOutMin: minAmountOut, orderId: id, ...request } = args
  return depositRouter.encode('swapAndDeposit', [{ ...request, minAmountOut, id }])
}

/** The deposit router's `swapAndPay`, whose event names the request; the zero address stands for native coin. */
export function encodeSwapAndPay(args: {
  tokenIn: Hex
  amountIn: bigint
  tokenOut: Hex
  amountOutMin: bigint
  recipient: Hex
  requestId: Hex
  swapData: Hex
}): Hex {
  const { amountOutMin: minAmountOut, requestId: id, ...request } = args
  return depositRouter.encode('swapAndPay', [{ ...request, minAmountOut, id }])
}
