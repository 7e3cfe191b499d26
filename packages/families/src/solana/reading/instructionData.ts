import type { Hex } from '@causeway/core'

/** Data of an instruction, read from its start. Trailing bytes are allowed: programs ignore them. */
export class InstructionData {
  readonly #digits: string

  constructor(data: Hex) {
    this.#digits = data.slice(2)
  }

  get byteLength(): number {
    return this.#digits.length / 2
  }

  /** Bytes at an offset, as hex digits without `0x`. */
  digits(offset: number, byteCount: number): string {
    return this.#digits.slice(2 * offset, 2 * (offset + byteCount))
  }

  /** All bytes from an offset on. */
  from(offset: number): Hex {
    return `0x${this.#digits.slice(2 * offset)}`
  }

  /** Little-endian. */
  uint64(offset: number): bigint {
    return Buffer.from(this.digits(offset, 8), 'hex').readBigUInt64LE()
  }
}
