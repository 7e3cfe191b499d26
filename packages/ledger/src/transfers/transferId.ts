import { bytesToHex, sha256 } from '@causeway/core'

/**
 * Id of a transfer: a UUID of version 8 from SHA-256 of `tag:fact`. If any process repeats the transfer of a fact, its
 * id collides on the primary key, so nothing is booked twice. The SQL function `ledger_transfer_id` computes the same.
 * @source rule L-41
 */
export function transferId(tag: string, fact: string): string {
  const digest = sha256(new TextEncoder().encode(`${tag}:${fact}`)).subarray(0, 16)
  // Bits of a UUID: version 8 in the upper half of byte 6, variant 10 in the upper two bits of byte 8.
  const uuidBytes = digest.map((byte, index) => {
    if (index === 6) return (byte & 15) | 128
    return index === 8 ? (byte & 63) | 128 : byte
  })
  const hex = bytesToHex(uuidBytes).slice(2)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
