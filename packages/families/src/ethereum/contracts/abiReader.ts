import type { Hex } from '@causeway/core'
import { MalformedAnswerError } from '@causeway/rpc'

/**
 * Reads ABI-encoded return data. Every offset and length comes from a node, so each is checked against
 * the data before it is followed. @throws MalformedAnswerError
 */
export type AbiReader = {
  /** Bytes of data. */
  readonly byteLength: number
  /** The 32-byte word at a byte offset, as an unsigned integer. */
  uint(offset: number): bigint
  /** The word at a byte offset as an offset or a length, which the data must be long enough for. */
  position(offset: number): number
  /** `length` bytes from a byte offset. */
  slice(offset: number, length: number): Hex
}

const wordDigits = 64

/** @param data lower-case whole bytes, see `parseBytes` @param subject the call's name, for errors */
export function readAbi(data: Hex, subject: string): AbiReader {
  const byteLength = (data.length - 2) / 2
  const uint = (offset: number): bigint => {
    if (offset < 0 || offset + 32 > byteLength) throw new MalformedAnswerError(subject)
    const start = 2 + 2 * offset
    return BigInt(`0x${data.slice(start, start + wordDigits)}`)
  }
  return {
    byteLength,
    uint,
    position(offset) {
      const value = uint(offset)
      if (value > BigInt(byteLength)) throw new MalformedAnswerError(subject)
      return Number(value)
    },
    slice(offset, length) {
      if (offset < 0 || length < 0 || offset + length > byteLength) throw new MalformedAnswerError(subject)
      return `0x${data.slice(2 + 2 * offset, 2 + 2 * (offset + length))}`
    },
  }
}

/** The first word of return data as an unsigned integer. @throws MalformedAnswerError when there is none */
export function readUintResult(data: Hex, subject: string): bigint {
  return readAbi(data, subject).uint(0)
}

/** A returned `string`, as UTF-8. @throws MalformedAnswerError */
export function readStringResult(data: Hex, subject: string): string {
  const reader = readAbi(data, subject)
  const start = reader.position(0)
  const length = reader.position(start)
  return Buffer.from(reader.slice(start + 32, length).slice(2), 'hex').toString('utf8')
}

/**
 * Result of `read`, which decodes return data by a contract's interface.
 * @throws MalformedAnswerError in place of the RangeError of data that does not fit
 */
export function unlessMalformed<Value>(subject: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw new MalformedAnswerError(subject)
    throw error
  }
}
