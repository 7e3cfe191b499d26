const wordBytes = 32
const uint64Max = 2n ** 64n - 1n
const uint256Max = 2n ** 256n - 1n
const int256Limit = 2n ** 255n

/** Number of words that `paddedBytes` takes for `byteLength` bytes, without the length word. */
export function paddedWordCount(byteLength: number): number {
  return Math.ceil(byteLength / wordBytes)
}

/**
 * Fills a fixed number of 32-byte words from first to last: ABI encodings and EIP-712 structs of
 * known shape. Every method throws RangeError on a value that does not fit, never cuts it.
 */
export class AbiWords {
  readonly #bytes: Buffer
  #offset = 0

  constructor(wordCount: number) {
    // Not zeroed, which would cost more than hashing it: `done` lets only fully written bytes out.
    this.#bytes = Buffer.allocUnsafe(wordCount * wordBytes)
  }

  /** One word as it is. */
  word(bytes: Uint8Array): this {
    if (bytes.length !== wordBytes) throw new RangeError(`a word has 32 bytes, got ${bytes.length}`)
    return this.#append(bytes)
  }

  /** An EVM address of 20 bytes, padded on the left. */
  address(bytes: Uint8Array): this {
    if (bytes.length !== 20) throw new RangeError(`an EVM address has 20 bytes, got ${bytes.length}`)
    this.#zeros(12)
    return this.#append(bytes)
  }

  uint(value: bigint): this {
    if (value < 0n || value > uint256Max) throw new RangeError('the value is not a uint256')
    // Most values fit in 8 bytes: one write is faster than four.
    if (value <= uint64Max) {
      this.#zeros(24)
      this.#offset = this.#bytes.writeBigUInt64BE(value, this.#offset)
      return this
    }
    for (let shift = 192n; shift >= 0n; shift -= 64n) {
      this.#offset = this.#bytes.writeBigUInt64BE((value >> shift) & uint64Max, this.#offset)
    }
    return this
  }

  /** Two's complement. */
  int(value: bigint): this {
    if (value < -int256Limit || value >= int256Limit) throw new RangeError('the value is not an int256')
    return this.uint(BigInt.asUintN(256, value))
  }

  /** A count, an index, an offset or a Unix time. */
  number(value: number): this {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError('the value is not a safe integer >= 0')
    return this.uint(BigInt(value))
  }

  /** ABI `bytes` in tail position: a length word, then the bytes padded on the right. */
  paddedBytes(bytes: Uint8Array): this {
    this.number(bytes.length)
    this.#append(bytes)
    return this.#zeros(paddedWordCount(bytes.length) * wordBytes - bytes.length)
  }

  /** @throws RangeError while words are missing */
  done(): Uint8Array {
    if (this.#offset !== this.#bytes.length) throw new RangeError('not every word was written')
    return this.#bytes
  }

  #append(bytes: Uint8Array): this {
    this.#bytes.set(bytes, this.#offset)
    this.#offset += bytes.length
    return this
  }

  #zeros(count: number): this {
    this.#bytes.fill(0, this.#offset, this.#offset + count)
    this.#offset += count
    return this
  }
}
