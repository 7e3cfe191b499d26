/** Repeatable randomness: the same seed gives the same test. */
export type Random = {
  /** 0 ≤ result < 1 */
  unit(): number
  /** lowest ≤ result ≤ highest */
  integer(lowest: number, highest: number): number
  /** Evenly spread over the orders of magnitude between the bounds, both at least 1. */
  magnitude(lowest: bigint, highest: bigint): bigint
  /** Evenly spread between the bounds. */
  between(lowest: bigint, highest: bigint): bigint
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const unit = () => {
    // One round of a 32-bit mixing function per draw.
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
  const bits = (count: number) => {
    let value = 0n
    for (let drawn = 0; drawn < count; drawn += 32)
      value = (value << 32n) | BigInt(Math.floor(unit() * 2 ** 32))
    return value
  }
  const between = (lowest: bigint, highest: bigint) => lowest + (bits(288) % (highest - lowest + 1n))
  return {
    unit,
    integer: (lowest, highest) => lowest + Math.floor(unit() * (highest - lowest + 1)),
    between,
    magnitude(lowest, highest) {
      const [low, high] = [lowest.toString(2).length, highest.toString(2).length]
      const length = low + Math.floor(unit() * (high - low + 1))
      const value = (1n << BigInt(length - 1)) | (bits(length - 1 + 32) % (1n << BigInt(length - 1)))
      return value < lowest ? lowest : value > highest ? highest : value
    },
  }
}
