import type { Hex } from '@causeway/core'

/** A token transfer that was found in calldata. */
export type TransferCall = {
  readonly to: Hex
  readonly amount: bigint
  /** The word after the arguments; absent when the calldata ends before it. */
  readonly appended: Hex | undefined
}

const transferSelector = 'a9059cbb'
const selectorDigits = 8
const wordDigits = 64

/**
 * Token transfers inside calldata of any shape. The hex digits are searched from left to right, at any position, for
 * the selector of `transfer` or `transferFrom` with its arguments, because routers and wallets nest the call anywhere,
 * without a fixed alignment. Matches do not overlap.
 * @param input lower case
 * @source rule F-124
 */
export function findTransferCalls(input: Hex): readonly TransferCall[] {
  const transferCalls: TransferCall[] = []
  const selectors = /a9059cbb|23b872dd/g
  for (let match = selectors.exec(input); match !== null; match = selectors.exec(input)) {
    const start = match.index + selectorDigits
    const argumentsEnd = start + (match[0] === transferSelector ? 2 : 3) * wordDigits
    if (argumentsEnd > input.length) {
      // The arguments are cut off, so this is no call; another may begin inside it.
      selectors.lastIndex = match.index + 1
      continue
    }
    const end = argumentsEnd + wordDigits
    const amountAt = argumentsEnd - wordDigits
    transferCalls.push({
      // An address fills the lower 20 bytes of the word before the amount.
      to: `0x${input.slice(amountAt - 40, amountAt)}`,
      amount: BigInt(`0x${input.slice(amountAt, argumentsEnd)}`),
      appended: end <= input.length ? `0x${input.slice(argumentsEnd, end)}` : undefined,
    })
    selectors.lastIndex = end <= input.length ? end : argumentsEnd
  }
  return transferCalls
}
