/** Reads big-endian binary data from front to back. Every method throws RangeError where the bytes end. */
export class BigEndianReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  get isDone(): boolean {
    return this.#offset === this.#bytes.length
  }

  take(byteCount: number): Uint8Array {
    const start = this.#advance(byteCount)
    return this.#bytes.subarray(start, start + byteCount)
  }

  /** Everything that is left. */
  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#offset)
  }

  byte(): number {
    return this.#view.getUint8(this.#advance(1))
  }

  uint16(): number {
    return this.#view.getUint16(this.#advance(2))
  }

  uint32(): number {
    return this.#view.getUint32(this.#advance(4))
  }

  int32(): number {
    return this.#view.getInt32(this.#advance(4))
  }

  uint64(): bigint {
    return this.#view.getBigUint64(this.#advance(8))
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.#advance(8))
  }

  /** Moves behind the next bytes. @returns the offset at which they start */
  #advance(byteCount: number): number {
    const start = this.#offset
    if (start + byteCount > this.#bytes.length) throw new RangeError('the bytes end too early')
    this.#offset = start + byteCount
    return start
  }
}
