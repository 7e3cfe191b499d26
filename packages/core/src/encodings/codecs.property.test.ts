// Goal: codecs agree with encodings built from bytes by other code, refuse damaged addresses, and
// throw nothing but their two errors whatever the string.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accounts, currencies, transactionIds } from '../../test/arbitraries/addresses.ts'
import { codecOf, mainNetwork, type VmType, vmTypes } from './codecs.ts'
import { InvalidAddressError, InvalidTransactionIdError } from './errors.ts'

const caseless: ReadonlySet<VmType> = new Set(['ethereum-vm', 'hyperliquid-vm'])

describe.each(vmTypes)('%s', (vmType) => {
  const codec = codecOf(mainNetwork(vmType))

  test('encodes every account to its bytes', () => {
    fc.assert(
      fc.property(accounts[vmType], ({ text, bytes }) => {
        expect(codec.isAddress(text)).toBe(true)
        // Writes into a returned array must not affect later results.
        codec.encodeAddress(text).fill(0xff)
        codec.encodeAddress(text).fill(0xff)
        expect(codec.encodeAddress(text)).toEqual(bytes)
      }),
    )
  })

  test('encodes every currency to its bytes', () => {
    fc.assert(
      fc.property(currencies[vmType], ({ text, bytes }) => {
        expect(codec.encodeCurrency(text)).toEqual(bytes)
      }),
    )
  })

  test('spells equal addresses alike and others apart', () => {
    const both = fc.oneof(accounts[vmType], currencies[vmType])
    fc.assert(
      fc.property(both, both, (one, other) => {
        const canonical = codec.canonicalAddress(one.text)
        expect(codec.canonicalAddress(canonical)).toBe(canonical)
        expect(codec.spellAddress(one.text)).toBe(canonical)
        if (caseless.has(vmType)) {
          expect(codec.canonicalAddress(`0x${one.text.slice(2).toUpperCase()}`)).toBe(canonical)
        }
        const areEqual = Buffer.compare(one.bytes, other.bytes) === 0
        expect(codec.canonicalAddress(other.text) === canonical).toBe(areEqual)
      }),
    )
  })

  test('gives every spelling of a transaction id one form and the same bytes', () => {
    fc.assert(
      fc.property(transactionIds[vmType], ({ text, canonical, bytes }) => {
        expect(codec.canonicalTransactionId(text)).toBe(canonical)
        expect(codec.canonicalTransactionId(canonical)).toBe(canonical)
        expect(codec.encodeTransactionId(text)).toEqual(bytes)
      }),
    )
  })

  test('throws nothing but its own errors on arbitrary and on damaged strings', () => {
    const damaged = fc
      .tuple(fc.oneof(accounts[vmType], currencies[vmType], transactionIds[vmType]), fc.nat(), fc.string())
      .map(([{ text }, at, insert]) => {
        const position = at % (text.length + 1)
        return text.slice(0, position) + insert + text.slice(position + insert.length)
      })
    const strings = fc.oneof(fc.string({ unit: 'binary', maxLength: 120 }), fc.string(), damaged)
    fc.assert(
      fc.property(strings, (text) => {
        const isAddress = codec.isAddress(text)
        const accepted = outcome(() => codec.encodeAddress(text), InvalidAddressError)
        if (isAddress) expect(accepted).toBe(true)
        const asCurrency = outcome(() => codec.encodeCurrency(text), InvalidAddressError)
        expect(outcome(() => codec.canonicalAddress(text), InvalidAddressError)).toBe(accepted || asCurrency)
        const asId = outcome(() => codec.encodeTransactionId(text), InvalidTransactionIdError)
        expect(outcome(() => codec.canonicalTransactionId(text), InvalidTransactionIdError)).toBe(asId)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe.each(['bitcoin-vm', 'tron-vm'] as const)('the checksum of %s', (vmType) => {
  test('catches any one character that was changed', () => {
    const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0'
    fc.assert(
      fc.property(accounts[vmType], fc.nat(), fc.constantFrom(...alphabet), ({ text }, at, character) => {
        const position = at % text.length
        fc.pre(text[position]?.toLowerCase() !== character.toLowerCase())
        const mutated = text.slice(0, position) + character + text.slice(position + 1)
        expect(() => codecOf(mainNetwork(vmType)).encodeAddress(mutated)).toThrow(InvalidAddressError)
      }),
      { numRuns: 1_000 },
    )
  })
})

/** True when `run` returns, false when it throws an `expected`; anything else fails the test. */
function outcome(
  run: () => unknown,
  expected: typeof InvalidAddressError | typeof InvalidTransactionIdError,
): boolean {
  try {
    run()
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(expected)
    return false
  }
}
