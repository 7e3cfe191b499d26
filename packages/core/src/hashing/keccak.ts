import { createKeccak } from 'hash-wasm'
import type { Hex } from '../hex.ts'

// One shared instance. Each hash runs from reset to digest without yielding, so calls cannot mix.
const hasher = await createKeccak(256)

/** Keccak-256 as Ethereum has it (not SHA-3), 32 bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest('binary')
}

/** See `keccak256`. */
export function keccak256Hex(bytes: Uint8Array): Hex {
  return `0x${hasher.init().update(bytes).digest('hex')}`
}
