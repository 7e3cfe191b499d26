import type { Hex } from '@causeway/core'
import { bytesToHex, concatBytes, fixedHexToBytes, keccak256 } from '@causeway/core'

/**
 * Address of the first contract that a contract creates. A contract's nonce begins at 1, so the RLP of (address, nonce)
 * always is 0xd6, 0x94, the address and 0x01. @throws RangeError on an address that is not 20 bytes
 * @source EIP-161 (first nonce), Ethereum Yellow Paper (CREATE)
 */
export function firstCreatedAddress(creator: Hex): Hex {
  const rlp = concatBytes([Uint8Array.of(0xd6, 0x94), fixedHexToBytes(creator, 20), Uint8Array.of(0x01)])
  return bytesToHex(keccak256(rlp).subarray(12))
}

const create2Prefix = Uint8Array.of(0xff)

/** Address of code that `creator` deploys by CREATE2; lower case. @source EIP-1014 */
export function create2Address(creator: Hex, salt: Uint8Array, initCodeHash: Hex): Hex {
  const parts = [create2Prefix, fixedHexToBytes(creator, 20), salt, fixedHexToBytes(initCodeHash, 32)]
  return bytesToHex(keccak256(concatBytes(parts)).subarray(12))
}
