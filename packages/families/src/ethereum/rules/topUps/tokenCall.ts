import type { Hex } from '@causeway/core'
import { bytesToHex, hexToBytes } from '@causeway/core'
import { addressWord, uintWord } from '../abi.ts'

/** @source ERC-20: `transfer(address,uint256)` and `transferFrom(address,address,uint256)` */
const selectors = { transfer: 'a9059cbb', transferFrom: '23b872dd' } as const

export type TokenCall = {
  readonly kind: keyof typeof selectors
  /** Index at which the arguments end and a tail would begin. */
  readonly argumentsEnd: number
}

export type ExpectedTransfer = {
  /** Account that made the call. */
  readonly caller: Hex
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
}

/**
 * The token call that moves exactly this amount between exactly these accounts; `undefined` for every
 * other calldata. Whole words are compared, so that dirty high bytes of an address match nothing.
 */
export function matchTokenCall(input: Uint8Array, expected: ExpectedTransfer): TokenCall | undefined {
  const { caller, from, to, value } = expected
  const ends = `${addressWord(to)}${uintWord(value)}`
  if (caller === from && startsWith(input, `0x${selectors.transfer}${ends}`)) {
    return { kind: 'transfer', argumentsEnd: 68 }
  }
  if (startsWith(input, `0x${selectors.transferFrom}${addressWord(from)}${ends}`)) {
    return { kind: 'transferFrom', argumentsEnd: 100 }
  }
  return undefined
}

/** True for calldata of either transfer function whose receiver is `to`, whatever the amount. */
export function isTransferTo(input: Uint8Array, to: Hex): boolean {
  const receiver = addressWord(to)
  if (startsWith(input, `0x${selectors.transfer}${receiver}`)) return input.length >= 68
  if (!startsWith(input, `0x${selectors.transferFrom}`)) return false
  return input.length >= 100 && bytesToHex(input.subarray(36, 68)) === `0x${receiver}`
}

function startsWith(input: Uint8Array, start: Hex): boolean {
  return hexToBytes(start).every((byte, index) => input[index] === byte)
}
