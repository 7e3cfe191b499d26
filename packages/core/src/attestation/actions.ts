import { AbiWords } from '../hashing/abiWords.ts'
import { bytesToHex, fixedHexToBytes } from '../hashing/hexBytes.ts'
import type { Hex } from '../hex.ts'

/**
 * Actions of an execution, ABI-encoded with the type as first word. Addresses are accounts on the
 * hub; amounts are in the currency's smallest unit. All throw RangeError on a value that does not fit.
 * @source oracle-protocol.md 1.6
 */
const actionTypes = { mint: 0, burn: 1, transfer: 2 } as const

export function encodeMintAction(action: { hubTo: Hex; hubTokenId: bigint; amount: bigint }): Hex {
  return encodeAction(actionTypes.mint, [action.hubTo], action)
}

export function encodeBurnAction(action: { hubFrom: Hex; hubTokenId: bigint; amount: bigint }): Hex {
  return encodeAction(actionTypes.burn, [action.hubFrom], action)
}

export function encodeTransferAction(action: {
  hubFrom: Hex
  hubTo: Hex
  hubTokenId: bigint
  amount: bigint
}): Hex {
  return encodeAction(actionTypes.transfer, [action.hubFrom, action.hubTo], action)
}

function encodeAction(
  type: number,
  accounts: readonly Hex[],
  { hubTokenId, amount }: { hubTokenId: bigint; amount: bigint },
): Hex {
  const words = new AbiWords(3 + accounts.length).number(type)
  for (const account of accounts) words.address(fixedHexToBytes(account, 20))
  return bytesToHex(words.uint(hubTokenId).uint(amount).done())
}
