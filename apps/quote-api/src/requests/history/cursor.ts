import { DomainError, type Hex } from '@causeway/core'
import type { SortKey } from './requestFilter.ts'

/** Place in a list that is sorted by time, then by id: what comes after it is the next page. */
export type Keyset = {
  /** The list is sorted by it. */
  readonly sortBy: SortKey
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

/** Ends the places of lists that are sorted by the last change. */
const changedTail = Buffer.of(1)

/** Opaque text of a place; the client sends it back unread. */
export function encodeCursor({ sortBy, atMicros, id }: Keyset): string {
  const bytes = Buffer.alloc(timeBytes + idBytes)
  bytes.writeBigUInt64BE(atMicros)
  bytes.write(id.slice(2), timeBytes, 'hex')
  return (sortBy === 'updatedAt' ? Buffer.concat([bytes, changedTail]) : bytes).toString('base64url')
}

/** @throws InvalidCursorError also for a place of a list that is sorted otherwise */
export function decodeCursor(text: string, sortBy: SortKey): Keyset {
  const bytes = Buffer.from(text, 'base64url')
  const tail = bytes.subarray(timeBytes + idBytes)
  // Decoding skips what it does not know; only our own spelling comes out again as it went in.
  if (
    !tail.equals(sortBy === 'updatedAt' ? changedTail : Buffer.of()) ||
    bytes.toString('base64url') !== text
  )
    throw new InvalidCursorError()
  const id: Hex = `0x${bytes.toString('hex', timeBytes, timeBytes + idBytes)}`
  if (id.length !== 2 + 2 * idBytes) throw new InvalidCursorError()
  const atMicros = bytes.readBigUInt64BE()
  if (atMicros > microsMax) throw new InvalidCursorError()
  return { sortBy, atMicros, id }
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
