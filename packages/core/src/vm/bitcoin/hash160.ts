import { createRIPEMD160 } from 'hash-wasm'
import { sha256 } from '../../hashing/sha256.ts'

// Compiled once. Each hash runs from reset to digest without yielding, so calls cannot mix.
const hasher = await createRIPEMD160()

/** RIPEMD-160 of the SHA-256, 20 bytes: how addresses name keys and scripts. */
export function hash160(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(sha256(bytes)).digest('binary')
}
