import { abiAddress, abiBytes, abiUint, encodeAbiTuple } from '../hashing/abiTuple.ts'
import { bytesToHex, hexToBytes } from '../hashing/hexBytes.ts'
import type { Hex } from '../hex.ts'

/**
 * One element of an order's `output.calls` on an ethereum-vm chain:
 * `abi.encode((address to),(bytes data),(uint256 value))`.
 * @throws RangeError when a part does not fit its type
 * @source github.com/relayprotocol/relay-settlement, packages/sdk/src/order/index.ts
 */
export function encodeOrderCall(call: { to: Hex; data: Hex; value: bigint }): Hex {
  const dataTuple = encodeAbiTuple([abiBytes(hexToBytes(call.data))])
  return bytesToHex(encodeAbiTuple([abiAddress(call.to), { tail: dataTuple }, abiUint(call.value)]))
}

/**
 * The reverse of `encodeOrderCall`, addresses in lower case.
 * @throws RangeError when `call` is not exactly what it writes
 */
export function decodeOrderCall(call: Hex): { to: Hex; data: Hex; value: bigint } {
  // Words: the target, an offset, the value, another offset, the length of the data, then the data.
  if (!/^0x([0-9a-f]{64}){5,}$/.test(call)) throw notACall()
  const word = (index: number) => call.slice(2 + index * 64, 66 + index * 64)
  const dataDigitCount = 2 * Number(`0x${word(4)}`)
  const decoded = {
    to: `0x${word(0).slice(24)}`,
    data: `0x${call.slice(2 + 5 * 64).slice(0, dataDigitCount)}`,
    value: BigInt(`0x${word(2)}`),
  } as const
  // Offsets and padding were not read: only the canonical encoding passes.
  if (encodeOrderCall(decoded) !== call) throw notACall()
  return decoded
}

const notACall = () => new RangeError('not a call of an order')

/**
 * Extra data of an order's output or refund on ethereum-vm and tron-vm: `abi.encode((address))`.
 * Other families carry `0x`. @throws RangeError when `fillContract` is not 20 bytes
 * @source github.com/relayprotocol/relay-settlement, packages/sdk/src/order/index.ts
 */
export function encodeFillExtraData(fillContract: Hex): Hex {
  return bytesToHex(encodeAbiTuple([abiAddress(fillContract)]))
}

/** The inverse of `encodeFillExtraData`, in lower case; `undefined` for any other data. @source rule L-29 */
export function fillContractOf(extraData: string): Hex | undefined {
  const digits = extraData.slice(2).toLowerCase()
  return digits.length === 64 && digits.startsWith('0'.repeat(24)) ? `0x${digits.slice(24)}` : undefined
}

/**
 * Start of a solver's reason for giving up a payment that reverted, in its trial or on chain.
 * @source docs/reference/solver-interface.md; rule P-52
 */
export const executionReverted = 'EXECUTION_REVERTED'

/** Start of a solver's reason for giving up a payment that would cost more gas than was charged. @source P-50 */
export const quotedGasExceeded = 'QUOTED_GAS_LIMIT_EXCEEDED'

/** Start of a solver's reason for giving up an order that its settings refuse at any price. @source rule O-85 */
export const orderRefused = 'ORDER_REFUSED'
