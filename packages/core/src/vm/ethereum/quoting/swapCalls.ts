import type { Hex } from '../../../hex.ts'
import { addressWord, bytes32Word, uintWord } from '../abi.ts'

/**
 * Calldata of the contracts that swap on the origin. Selectors are checked against the contracts'
 * own interfaces by tests. @source Uniswap V3 SwapRouter (ISwapRouter, IPeripheryPayments)
 */
const selectors = {
  exactInputSingle: '414bf389',
  exactOutputSingle: 'db3e2198',
  multicall: 'ac9650d8',
  unwrapWeth9: '49404b7c',
  refundEth: '12210e8a',
  swapAndDeposit: '6e7e8704',
} as const

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

/** `exactInputSingle` or `exactOutputSingle` without a price limit. */
export function encodeSingleSwap(swap: SingleSwap): Hex {
  const exactInput = swap.trade === 'exactInput'
  return `0x${exactInput ? selectors.exactInputSingle : selectors.exactOutputSingle}${[
    addressWord(swap.tokenIn),
    addressWord(swap.tokenOut),
    uintWord(BigInt(swap.feePips)),
    addressWord(swap.recipient),
    uintWord(BigInt(swap.deadlineSeconds)),
    uintWord(exactInput ? swap.amountIn : swap.amountOut),
    uintWord(exactInput ? swap.amountOut : swap.amountIn),
    uintWord(0n),
  ].join('')}`
}

/** `multicall(bytes[])` */
export function encodeMulticall(calls: readonly Hex[]): Hex {
  const tails = calls.map(bytesTail)
  let offset = BigInt(calls.length) * 32n
  const heads = tails.map((tail) => {
    const head = uintWord(offset)
    offset += BigInt(tail.length / 2)
    return head
  })
  return `0x${selectors.multicall}${uintWord(32n)}${uintWord(BigInt(calls.length))}${heads.join('')}${tails.join('')}`
}

/** `unwrapWETH9(uint256 amountMinimum, address recipient)`: pays out the router's wrapped balance. */
export function encodeUnwrap(amountMin: bigint, recipient: Hex): Hex {
  return `0x${selectors.unwrapWeth9}${uintWord(amountMin)}${addressWord(recipient)}`
}

/** `refundETH()`: gives unspent native coin back to the caller. */
export function encodeRefundNative(): Hex {
  return `0x${selectors.refundEth}`
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
  const structHeadBytes = 7n * 32n
  return `0x${selectors.swapAndDeposit}${[
    uintWord(32n),
    addressWord(args.tokenIn),
    uintWord(args.amountIn),
    addressWord(args.tokenOut),
    uintWord(args.amountOutMin),
    addressWord(args.depositor),
    bytes32Word(args.orderId),
    uintWord(structHeadBytes),
    bytesTail(args.swapData),
  ].join('')}`
}

/** Length word and right-padded content of a dynamic `bytes`. */
function bytesTail(data: Hex): string {
  const hex = data.slice(2)
  return uintWord(BigInt(hex.length / 2)) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')
}
