import type { Hex } from '@causeway/core'
import { callData, type Frame, Revert } from './contractModel.ts'

const transferFrom = callData('function transferFrom(address from, address to, uint256 amount)')

/** Transfers.sol: what fails inside fails here under the name that the library gives it. */
export function pullToken(frame: Frame, token: Hex, from: Hex, to: Hex, amount: bigint): void {
  const result = renamed(() => frame.call(token, transferFrom(from, to, amount)), 'TokenCallFailed')
  const accepted = result === '0x' ? frame.hasCode(token) : BigInt(result) === 1n
  if (!accepted) throw new Revert('TokenCallFailed')
}

export function pushNative(frame: Frame, to: Hex, amount: bigint): void {
  renamed(() => frame.call(to, '0x', amount), 'NativeTransferFailed')
}

function renamed<Result>(run: () => Result, errorName: string): Result {
  try {
    return run()
  } catch (error) {
    if (error instanceof Revert) throw new Revert(errorName)
    throw error
  }
}
