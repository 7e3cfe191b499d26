import fc from 'fast-check'
import { expect } from 'vitest'
import { DomainError } from '../src/errors.ts'
import type { Hex } from '../src/hex.ts'

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

/** Arbitrary bytes, and valid ones that were cut, lengthened or changed, as a caller could send them. */
export function damaged(valid: fc.Arbitrary<Hex>): fc.Arbitrary<Hex> {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 4 }),
    fc.constantFrom(
      new Uint8Array(32).fill(0xff),
      new Uint8Array(32),
      Uint8Array.of(0xff),
      Uint8Array.of(0xfe),
    ),
  )
  const changed = fc.tuple(valid, fc.nat(), fc.nat(40), piece).map(([hex, at, removed, inserted]) => {
    const bytes = Buffer.from(hex.slice(2), 'hex')
    const start = at % (bytes.length + 1)
    return hexOf(Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)]))
  })
  const overwritten = fc.tuple(valid, fc.nat(), piece).map(([hex, at, written]) => {
    const bytes = Buffer.from(hex.slice(2), 'hex')
    bytes.set(written.subarray(0, bytes.length - (at % (bytes.length + 1))), at % (bytes.length + 1))
    return hexOf(bytes)
  })
  return fc.oneof(fc.uint8Array({ maxLength: 400 }).map(hexOf), changed, overwritten, overwritten, valid)
}

/** `read` gives back the bytes it was given, or refuses them with an error that callers can be shown. */
export function expectTypedOrSame(bytes: Hex, read: () => string): void {
  const outcome = outcomeOf(read)
  if (outcome !== undefined) expect(outcome).toBe(bytes)
}

/** `undefined` when `read` refuses with a `DomainError`; anything else that it throws fails the test. */
export function outcomeOf<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError)
    return undefined
  }
}
