import { bytesToHex, concatBytes, fixedHexToBytes } from '../../hashing/hexBytes.ts'
import { keccak256 } from '../../hashing/keccak.ts'
import type { Hex } from '../../hex.ts'

/**
 * Address of the first contract that a contract creates: its nonce is 1, so the RLP list of
 * (address, nonce) has one fixed form. @throws RangeError on an address that is not 20 bytes
 * @source EIP-161 (first nonce), Ethereum Yellow Paper (CREATE)
 */
export function firstCreatedAddress(creator: Hex): Hex {
  const rlp = concatBytes([Uint8Array.of(0xd6, 0x94), fixedHexToBytes(creator, 20), Uint8Array.of(0x01)])
  return bytesToHex(keccak256(rlp).subarray(12))
}
