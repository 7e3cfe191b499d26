import type { Hex } from '@causeway/core'
import { contractInterface } from '../contractInterface.ts'

/** @source Uniswap V3 SwapRouter (ISwapRouter, IPeripheryPayments) */
const swapRouter = contractInterface([
  'struct ExactInput { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'struct ExactOutput { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; uint160 sqrtPriceLimitX96; }',
  'function exactInputSingle(ExactInput params) payable returns (uint256)',
  'function exactOutputSingle(ExactOutput params) payable returns (uint256)',
])
const pathRouter = contractInterface([
  'struct ExactInput { bytes path; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; }',
  'struct ExactOutput { bytes path; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; }',
  'function exactInput(ExactInput params) payable returns (uint256)',
  'function exactOutput(ExactOutput params) payable returns (uint256)',
])
const depositRouter = contractInterface([
  'struct Request { address tokenIn; uint256 amountIn; address tokenOut; uint256 minAmountOut; address depositor; bytes32 id; bytes swapData; }',
  'function swapAndDeposit(Request request) payable returns (uint256)',
  'struct Payment { address tokenIn; uint256 amountIn; address tokenOut; uint256 minAmountOut; address recipient; bytes32 id; bytes swapData; }',
  'function swapAndPay(Payment request) payable returns (uint256)',
])

/** A swap through one or several pools of Uniswap V3. */
export type RoutedSwap = {
  readonly trade: 'exactInput' | 'exactOutput'
  readonly tokenIn: Hex
  /** The pools in order, at least one; the last one yields the output. */
  readonly hops: readonly SwapHop[]
  readonly recipient: Hex
  readonly deadlineSeconds: number
  /** `exactInput`: the input, and the minimum output. `exactOutput`: the maximum input, and the output. */
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/** One pool, by its fee and the token that it yields. */
export type SwapHop = { readonly tokenOut: Hex; readonly feePips: number }

/** Calldata of the swap router. All functions of this file throw RangeError on an argument that does not fit. */
export function encodeSwap(swap: RoutedSwap): Hex {
  const [hop, ...more] = swap.hops
  if (hop === undefined) throw new RangeError('a swap goes through a pool at least')
  return more.length === 0 ? encodeSingleSwap(swap, hop) : encodePathSwap(swap)
}

function encodePathSwap(swap: RoutedSwap): Hex {
  const { trade, recipient, amountIn, amountOut } = swap
  const tokens = [swap.tokenIn, ...swap.hops.map(({ tokenOut }) => tokenOut)]
  const fees = swap.hops.map(({ feePips }) => feePips)
  const shared = { recipient, deadline: BigInt(swap.deadlineSeconds) }
  if (trade === 'exactInput') {
    const path = pathOf(tokens, fees)
    return pathRouter.encode('exactInput', [{ path, amountIn, amountOutMinimum: amountOut, ...shared }])
  }
  // The router takes the path of an exact output in reverse.
  const path = pathOf(tokens.reverse(), fees.reverse())
  return pathRouter.encode('exactOutput', [{ path, amountOut, amountInMaximum: amountIn, ...shared }])
}

/** Tokens, and between two of them the fee of their pool in three bytes. */
function pathOf(tokens: readonly Hex[], fees: readonly number[]): Hex {
  const feeDigits = fees.map((feePips) => feePips.toString(16).padStart(6, '0'))
  return `0x${tokens.map((token, index) => `${token.slice(2)}${feeDigits[index] ?? ''}`).join('')}`
}

function encodeSingleSwap(swap: RoutedSwap, { tokenOut, feePips }: SwapHop): Hex {
  const { tokenIn, recipient, amountIn, amountOut } = swap
  const shared = {
    tokenIn,
    tokenOut,
    fee: feePips,
    recipient,
    deadline: BigInt(swap.deadlineSeconds),
    sqrtPriceLimitX96: 0n, // No limit: the amounts bound the price.
  }
  return swap.trade === 'exactInput'
    ? swapRouter.encode('exactInputSingle', [{ amountIn, amountOutMinimum: amountOut, ...shared }])
    : swapRouter.encode('exactOutputSingle', [{ amountOut, amountInMaximum: amountIn, ...shared }])
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
  return depositRouter.encode('swapAndDeposit', [{ minAmountOut, id, ...request }])
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
  return depositRouter.encode('swapAndPay', [{ minAmountOut, id, ...request }])
}
