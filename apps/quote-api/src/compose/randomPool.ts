import { randomFillSync } from 'node:crypto'

const poolBytes = 8_192

/**
 * Cryptographically random bytes, drawn from the system many at a time: a system call for each id costs
 * more than the rest of making it. Bytes are handed out once and never again.
 */
export function createRandomPool(
  fill: (buffer: Buffer) => void = randomFillSync,
): (length: number) => Buffer {
  let pool = Buffer.alloc(0)
  return (length) => {
    if (length > poolBytes) throw new RangeError(`at most ${poolBytes} random bytes at once`)
    if (pool.length < length) {
      pool = Buffer.allocUnsafeSlow(poolBytes)
      fill(pool)
    }
    const bytes = pool.subarray(0, length)
    pool = pool.subarray(length)
    return bytes
  }
}
