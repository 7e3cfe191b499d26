import type { Hex } from '@causeway/core'
import { bytesToHex } from '@causeway/core'

/** Bytes around the credited address in a top-up's calldata. @source rule Q-topup-03 */
export const tailMarker = '012345abcdef'

const markerBytes = Uint8Array.from(Buffer.from(tailMarker, 'hex'))
const ownerBytes = 20
export const tailBytes = 2 * markerBytes.length + ownerBytes

/** Content behind the arguments of a token call. */
export type Tail =
  /** `isTrailed`: more bytes follow the tail. */
  | { readonly kind: 'named'; readonly owner: Hex; readonly isTrailed: boolean }
  | { readonly kind: 'broken' }
  | { readonly kind: 'absent' }

/**
 * Reads the tail that begins at `offset`, where the arguments of a token call end. It is never searched from the end of
 * the calldata, so that bytes appended by a wallet do not hide it. @source rules Q-topup-02, L-57
 */
export function readTail(input: Uint8Array, offset: number): Tail {
  const length = input.length - offset
  if (length <= 0) return { kind: 'absent' }
  if (length < tailBytes) return { kind: 'broken' }
  const ownerAt = offset + markerBytes.length
  const hasPrefix = isMarkerAt(input, offset)
  const hasSuffix = isMarkerAt(input, ownerAt + ownerBytes)
  if (hasPrefix && hasSuffix) {
    const owner = bytesToHex(input.subarray(ownerAt, ownerAt + ownerBytes))
    return { kind: 'named', owner, isTrailed: length > tailBytes }
  }
  return { kind: hasPrefix || hasSuffix ? 'broken' : 'absent' }
}

function isMarkerAt(input: Uint8Array, offset: number): boolean {
  return markerBytes.every((byte, index) => input[offset + index] === byte)
}
