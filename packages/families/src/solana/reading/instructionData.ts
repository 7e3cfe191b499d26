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

  /** Hex digits without `0x`. */
  digits(at: number, length: number): string {
    return this.#digits.slice(2 * at, 2 * (at + length))
  }

  from(at: number): Hex {
    return `0x${this.#digits.slice(2 * at)}`
  }

  /** Little-endian. */
  uint64(at: number): bigint {
    return Buffer.from(this.digits(at, 8), 'hex').readBigUInt64LE()
  }
}
