import { bytesToHex, concatBytes, type Hex, hexToBytes } from '@causeway/core'

/** Members of an EIP-1559 transaction without access list, before it is signed. */
export type UnsignedTransaction = {
  readonly chainId: number
  readonly nonce: number
  readonly maxPriorityFeePerGas: bigint
  readonly maxFeePerGas: bigint
  readonly gas: bigint
  readonly to: Hex
  readonly value: bigint
  readonly data: Hex
}

const transactionType = Uint8Array.of(2)
const [textBase, listBase] = [0x80, 0xc0]
const shortMax = 55

/** The bytes whose hash would be signed. @source EIP-1559, EIP-2718 */
export function serializeUnsigned(transaction: UnsignedTransaction): Hex {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data } = transaction
  const numbers = [BigInt(chainId), BigInt(nonce), maxPriorityFeePerGas, maxFeePerGas, gas]
  const noAccessList = list([])
  const members = [...numbers.map(number), text(hexToBytes(to)), number(value), text(hexToBytes(data))]
  return bytesToHex(concatBytes([transactionType, list([...members, noAccessList])]))
}

/** Numbers are their bytes without leading zeros; zero is empty. */
function number(value: bigint): Uint8Array {
  return text(minimalBytes(value))
}

/** @source Ethereum yellow paper, appendix B */
function text(bytes: Uint8Array): Uint8Array {
  const [first = textBase] = bytes
  if (bytes.length === 1 && first < textBase) return bytes
  return concatBytes([prefix(textBase, bytes.length), bytes])
}

function list(members: readonly Uint8Array[]): Uint8Array {
  const bytes = concatBytes(members)
  return concatBytes([prefix(listBase, bytes.length), bytes])
}

function prefix(base: number, length: number): Uint8Array {
  if (length <= shortMax) return Uint8Array.of(base + length)
  const digits = minimalBytes(BigInt(length))
  return Uint8Array.of(base + shortMax + digits.length, ...digits)
}

function minimalBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array()
  const digits = value.toString(16)
  return hexToBytes(`0x${digits.padStart(digits.length + (digits.length % 2), '0')}`)
}
