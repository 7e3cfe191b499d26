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
// RLP: prefix bytes of strings and lists, and the most bytes whose length fits into the prefix itself.
const [stringBase, listBase] = [0x80, 0xc0]
const shortLengthMax = 55

/** The bytes whose hash would be signed. @source EIP-1559, EIP-2718 */
export function serializeUnsigned(transaction: UnsignedTransaction): Hex {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data } = transaction
  const numbers = [BigInt(chainId), BigInt(nonce), maxPriorityFeePerGas, maxFeePerGas, gas]
  const noAccessList = rlpList([])
  const members = [
    ...numbers.map(rlpNumber),
    rlpString(hexToBytes(to)),
    rlpNumber(value),
    rlpString(hexToBytes(data)),
  ]
  return bytesToHex(concatBytes([transactionType, rlpList([...members, noAccessList])]))
}

/** Numbers are their bytes without leading zeros; zero is empty. */
function rlpNumber(value: bigint): Uint8Array {
  return rlpString(minimalBytes(value))
}

/** RLP of a byte string. @source Ethereum yellow paper, appendix B */
function rlpString(bytes: Uint8Array): Uint8Array {
  const [first = stringBase] = bytes
  // A single byte below the prefixes is its own encoding.
  if (bytes.length === 1 && first < stringBase) return bytes
  return concatBytes([prefix(stringBase, bytes.length), bytes])
}

function rlpList(members: readonly Uint8Array[]): Uint8Array {
  const bytes = concatBytes(members)
  return concatBytes([prefix(listBase, bytes.length), bytes])
}

function prefix(base: number, length: number): Uint8Array {
  if (length <= shortLengthMax) return Uint8Array.of(base + length)
  const digits = minimalBytes(BigInt(length))
  return Uint8Array.of(base + shortLengthMax + digits.length, ...digits)
}

function minimalBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array()
  const digits = value.toString(16)
  return hexToBytes(`0x${digits.padStart(digits.length + (digits.length % 2), '0')}`)
}
