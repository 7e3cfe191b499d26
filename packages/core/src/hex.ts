/** A `0x`-prefixed hex string. Lower case unless a field says otherwise. */
export type Hex = `0x${string}`
