import type { Hex } from '@causeway/core'
import type { PaidSwap } from '../../shared/settlingChain.ts'
import type { ReceiptLog } from '../rules/topUps/transferLogs.ts'

/** `SwapPaid(bytes32,address,address,uint256,address,uint256)`. @source DepositRouter.sol */
export const paidSwapTopic: Hex = '0x547bb553b3580092bdda284fc82012703f09e8413c27a9ba56f54695810d601b'

const wordDigits = 64
const words = 5

/** A swap that the chain's deposit router logged as paid; `undefined` for any other log. Pure. */
export function readPaidSwap(
  { address, topics: [topic, requestId, ...more], data }: ReceiptLog,
  depositRouter: string | undefined,
): PaidSwap | undefined {
  const isOurs = depositRouter !== undefined && address === depositRouter.toLowerCase()
  if (!isOurs || topic !== paidSwapTopic || requestId === undefined || more.length > 0) return undefined
  if (data.length !== 2 + words * wordDigits) return undefined
  const word = (index: number) => data.slice(2 + index * wordDigits, 2 + (index + 1) * wordDigits)
  const account = (index: number): Hex => `0x${word(index).slice(-40)}`
  const amount = (index: number) => BigInt(`0x${word(index)}`)
  return {
    requestId,
    recipient: account(0),
    tokenIn: account(1),
    amountIn: amount(2),
    tokenOut: account(3),
    amountOut: amount(4),
  }
}
