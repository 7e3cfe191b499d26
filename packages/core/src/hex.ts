/** A `0x`-prefixed hex string. Lower case unless a field says otherwise. */
export type Hex = `0x${string}`

/** 32 bytes as this software writes them: an id, a hash, a key. */
export const hex32Pattern = /^0x[0-9a-f]{64}$/

/** 32 bytes as callers and nodes write them. */
export const anyCaseHex32Pattern = /^0x[0-9a-fA-F]{64}$/

/** See `hex32Pattern`. */
export function isHex32(value: unknown): value is Hex {
  return typeof value === 'string' && hex32Pattern.test(value)
}

/** See `anyCaseHex32Pattern`. */
export function isAnyCaseHex32(value: unknown): value is Hex {
  return typeof value === 'string' && anyCaseHex32Pattern.test(value)
}
