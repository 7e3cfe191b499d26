import { DomainError, type Hex } from '@causeway/core'
import type { SortKey } from './requestFilter.ts'

/** Last entry of a page in a list that is sorted by time, then by id; the next page begins after it. */
export type Keyset = {
  /** Time by which the list is sorted. */
  readonly sortBy: SortKey
  /** That time of the entry, in microseconds since 1970. */
  readonly atMicros: bigint
  /** 32 bytes. */
  readonly id: Hex
}

/** A `continuation` that this service never returned for this list. */
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
/** End of the year 9999, which PostgreSQL can represent and no entry reaches. */
const microsMax = 253_402_300_799_999_999n

/** Last byte of cursors of lists sorted by `updatedAt`; others have none. */
const updatedAtTail = Buffer.of(1)

/** Makes the opaque `continuation` text that a client sends back for the next page. */
export function encodeCursor({ sortBy, atMicros, id }: Keyset): string {
  const bytes = Buffer.alloc(timeBytes + idBytes)
  bytes.writeBigUInt64BE(atMicros)
  bytes.write(id.slice(2), timeBytes, 'hex')
  return (sortBy === 'updatedAt' ? Buffer.concat([bytes, updatedAtTail]) : bytes).toString('base64url')
}

/** @throws InvalidCursorError for any other text, also for a cursor of a list that is sorted otherwise */
export function decodeCursor(text: string, sortBy: SortKey): Keyset {
  const bytes = Buffer.from(text, 'base64url')
  const tail = bytes.subarray(timeBytes + idBytes)
  // Buffer.from ignores foreign characters, so the bytes are encoded again and compared.
  if (
    !tail.equals(sortBy === 'updatedAt' ? updatedAtTail : Buffer.of()) ||
    bytes.toString('base64url') !== text
  )
    throw new InvalidCursorError()
  const id: Hex = `0x${bytes.toString('hex', timeBytes, timeBytes + idBytes)}`
  if (id.length !== 2 + 2 * idBytes) throw new InvalidCursorError()
  const atMicros = bytes.readBigUInt64BE()
  if (atMicros > microsMax) throw new InvalidCursorError()
  return { sortBy, atMicros, id }
}

/** Makes the `continuation` text of a list whose entries are numbered. */
export function encodeSequence(sequence: bigint): string {
  const bytes = Buffer.alloc(timeBytes)
  bytes.writeBigUInt64BE(sequence)
  return bytes.toString('base64url')
}

/** Well below PostgreSQL's largest `bigint`, so that adding a page size never overflows. */
const sequenceMax = 2n ** 62n

/** @throws InvalidCursorError */
export function decodeSequence(text: string): bigint {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== timeBytes || bytes.toString('base64url') !== text) throw new InvalidCursorError()
  const sequence = bytes.readBigUInt64BE()
  if (sequence > sequenceMax) throw new InvalidCursorError()
  return sequence
}
