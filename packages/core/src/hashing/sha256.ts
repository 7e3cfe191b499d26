import { hash } from 'node:crypto'
import type { Hex } from '../hex.ts'

/** SHA-256, 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}

/** SHA-256 of the UTF-8 of `text`. */
export function sha256TextHex(text: string): Hex {
  return `0x${hash('sha256', text, 'hex')}`
}
