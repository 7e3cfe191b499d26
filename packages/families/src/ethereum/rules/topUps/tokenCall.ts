import type { Hex } from '@causeway/core'
import { bytesToHex, hexToBytes } from '@causeway/core'
import { addressWord, uintWord } from '../abi.ts'

/** @source ERC-20: `transfer(address,uint256)` and `transferFrom(address,address,uint256)` */
const selectors = { transfer: 'a9059cbb', transferFrom: '23b872dd' } as const

/** A call of a token that made a given transfer. */
export type TokenCall = {
  readonly kind: keyof typeof selectors
  /** Index at which the arguments end and a tail would begin. */
  readonly argumentsEnd: number
}

/** The transfer that a log shows, and the account whose call is to explain it. */
export type ExpectedTransfer = {
  /** Account that made the call. */
  readonly caller: Hex
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
}

/**
 * The token call in this calldata, if it moves exactly this amount between exactly these accounts; else `undefined`.
 * Whole words are compared, so an address with dirty high bytes does not match. Arguments end after a selector of 4
 * bytes and 2 or 3 words: at 68 or 100.
 */
export function matchTokenCall(input: Uint8Array, expected: ExpectedTransfer): TokenCall | undefined {
  const { caller, from, to, value } = expected
  const expectedWords = `${addressWord(to)}${uintWord(value)}`
  if (caller === from && startsWith(input, `0x${selectors.transfer}${expectedWords}`)) {
    return { kind: 'transfer', argumentsEnd: 68 }
  }
  if (startsWith(input, `0x${selectors.transferFrom}${addressWord(from)}${expectedWords}`)) {
    return { kind: 'transferFrom', argumentsEnd: 100 }
  }
  return undefined
}

/** True for calldata of either transfer function whose receiver is `to`, whatever the amount. */
export function isTransferTo(input: Uint8Array, to: Hex): boolean {
  const receiver = addressWord(to)
  if (startsWith(input, `0x${selectors.transfer}${receiver}`)) return input.length >= 68
  if (!startsWith(input, `0x${selectors.transferFrom}`)) return false
  // The second argument is the receiver.
  return input.length >= 100 && bytesToHex(input.subarray(36, 68)) === `0x${receiver}`
}

function startsWith(input: Uint8Array, start: Hex): boolean {
  return hexToBytes(start).every((byte, index) => input[index] === byte)
}
