import { DomainError, type Hex } from '@causeway/core'

/** Place in a list that is sorted by time, then by id: what comes after it is the next page. */
export type Keyset = {
  /** Microseconds since 1970. */
  readonly atMicros: bigint
  /** 32 bytes. */
  readonly id: Hex
}

/** A `continuation` that this service never gave out. */
class InvalidCursorError extends DomainError {
  readonly code = 'INVALID_CURSOR'
  readonly kind = 'invalid_request'

  constructor() {
    super('continuation is not one of this list; start again without it.', {
      data: { field: 'continuation' },
    })
  }
}

const timeBytes = 8
const idBytes = 32
/** PostgreSQL's last timestamp is later than anything that was stored. */
const microsMax = 253_402_300_799_999_999n

/** Opaque text of a place; the client sends it back unread. */
export function encodeCursor({ atMicros, id }: Keyset): string {
  const bytes = Buffer.alloc(timeBytes + idBytes)
  bytes.writeBigUInt64BE(atMicros)
  bytes.write(id.slice(2), timeBytes, 'hex')
  return bytes.toString('base64url')
}

/** @throws InvalidCursorError */
export function decodeCursor(text: string): Keyset {
  const bytes = Buffer.from(text, 'base64url')
  // Decoding skips what it does not know; only our own spelling comes out again as it went in.
  if (bytes.length !== timeBytes + idBytes || bytes.toString('base64url') !== text) {
    throw new InvalidCursorError()
  }
  const atMicros = bytes.readBigUInt64BE()
  if (atMicros > microsMax) throw new InvalidCursorError()
  return { atMicros, id: `0x${bytes.toString('hex', timeBytes)}` }
}

/** Opaque text of a place in a numbered list. */
export function encodeSequence(sequence: bigint): string {
  const bytes = Buffer.alloc(timeBytes)
  bytes.writeBigUInt64BE(sequence)
  return bytes.toString('base64url')
}

/** PostgreSQL's largest `bigint`, less the room that a list needs to look past a place. */
const sequenceMax = 2n ** 62n

/** @throws InvalidCursorError */
export function decodeSequence(text: string): bigint {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== timeBytes || bytes.toString('base64url') !== text) throw new InvalidCursorError()
  const sequence = bytes.readBigUInt64BE()
  if (sequence > sequenceMax) throw new InvalidCursorError()
  return sequence
}
