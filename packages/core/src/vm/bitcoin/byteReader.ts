/** Reads Bitcoin's serialisation. Every method throws RangeError where the bytes end too early. */
export class ByteReader {
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

  get offset(): number {
    return this.#offset
  }

  take(byteCount: number): Uint8Array {
    const end = this.#offset + byteCount
    if (end > this.#bytes.length) throw new RangeError('the bytes end too early')
    const taken = this.#bytes.subarray(this.#offset, end)
    this.#offset = end
    return taken
  }

  /** The bytes to come, without taking them. */
  startsWith(expected: readonly number[]): boolean {
    return expected.every((byte, index) => this.#bytes[this.#offset + index] === byte)
  }

  byte(): number {
    return this.#view.getUint8(this.#advance(1))
  }

  uint32(): number {
    return this.#view.getUint32(this.#advance(4), true)
  }

  uint64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true)
  }

  /** A count or a length in its shortest form, the only one that nodes accept. */
  compactSize(): number {
    const first = this.byte()
    if (first < 0xfd) return first
    const [value, min] =
      first === 0xfd
        ? [BigInt(this.#view.getUint16(this.#advance(2), true)), 0xfdn]
        : first === 0xfe
          ? [BigInt(this.uint32()), 0x1_0000n]
          : [this.uint64(), 0x1_0000_0000n]
    if (value < min || value > BigInt(this.#bytes.length)) throw new RangeError('the length is wrong')
    return Number(value)
  }

  variableBytes(): Uint8Array {
    return this.take(this.compactSize())
  }

  /** A list of `readOne` behind its length. */
  list<Element>(readOne: () => Element): Element[] {
    const elements: Element[] = []
    for (let left = this.compactSize(); left > 0; left -= 1) elements.push(readOne())
    return elements
  }

  #advance(byteCount: number): number {
    this.#offset += byteCount
    return this.#offset - byteCount
  }
}

/** What `read` returns; `undefined` when the bytes end too early or go on behind it. */
export function readWholly<Value>(
  bytes: Uint8Array,
  read: (reader: ByteReader) => Value | undefined,
): Value | undefined {
  const reader = new ByteReader(bytes)
  try {
    const value = read(reader)
    return reader.isDone ? value : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
