import { abiAddress, abiBytes, abiUint, encodeAbiTuple } from '../hashing/abiTuple.ts'
import { bytesToHex, hexToBytes } from '../hashing/hexBytes.ts'
import type { Hex } from '../hex.ts'

/**
 * One element of an order's `output.calls` on an ethereum-vm chain:
 * `abi.encode((address to),(bytes data),(uint256 value))`.
 * @throws RangeError when a part does not fit its type
 * @source oracle-protocol.md 1.5
 */
export function encodeOrderCall(call: { to: Hex; data: Hex; value: bigint }): Hex {
  const dataTuple = encodeAbiTuple([abiBytes(hexToBytes(call.data))])
  return bytesToHex(encodeAbiTuple([abiAddress(call.to), { tail: dataTuple }, abiUint(call.value)]))
}

/**
 * Extra data of an order's output or refund on ethereum-vm and tron-vm: `abi.encode((address))`.
 * Other families carry `0x`. @throws RangeError when `fillContract` is not 20 bytes
 * @source oracle-protocol.md 1.5
 */
export function encodeFillExtraData(fillContract: Hex): Hex {
  return bytesToHex(encodeAbiTuple([abiAddress(fillContract)]))
}
