import type { Hex } from '../hex.ts'
import { bytesToHex, hexDigits } from './hexBytes.ts'

const wordBytes = 32

/**
 * Reads the parts of an ABI encoding in the order of the canonical one. It checks nothing: callers skip offsets, and
 * bytes beyond the end read as none. So the caller must encode what it read and compare that with the input, which
 * refuses every other encoding. Work is bounded by the length of the input.
 */
export class AbiReader {
  readonly #bytes: Uint8Array
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** True when exactly all bytes were read. */
  get isDone(): boolean {
    return this.#offset === this.#bytes.length
  }

  uint(): bigint {
    // With the leading zero an empty list of bytes reads as 0.
    return BigInt(`0x0${hexDigits(this.#take(wordBytes))}`)
  }

  /** The last 20 bytes of a word. */
  address(): Hex {
    return bytesToHex(this.#take(wordBytes).subarray(12))
  }

  word(): Hex {
    return bytesToHex(this.#take(wordBytes))
  }

  /** A length word, then as many bytes and their padding. */
  bytes(): Uint8Array {
    const length = Number(this.uint())
    const bytes = this.#take(length)
    this.#offset = Math.ceil(this.#offset / wordBytes) * wordBytes
    return bytes
  }

  /** Invalid UTF-8 reads as replacement characters, so the caller's comparison refuses it. */
  text(): string {
    return Buffer.from(this.bytes()).toString('utf8')
  }

  skipWords(wordCount: number): this {
    this.#offset += wordCount * wordBytes
    return this
  }

  #take(byteCount: number): Uint8Array {
    this.#offset += byteCount
    return this.#bytes.subarray(this.#offset - byteCount, this.#offset)
  }
}
