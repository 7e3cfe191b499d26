import type { Hex } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeTransfer } from '../rules/abi.ts'
import { findTransferCalls } from './transferCalldata.ts'

const digit = fc.constantFrom(...'0123456789abcdef')
const digits = (length: number) => fc.string({ unit: digit, minLength: length, maxLength: length })
/** No selector can begin in it. */
const filler = fc.string({ unit: fc.constantFrom(...'0145678'), maxLength: 40 })
const address = digits(40).map((text): Hex => `0x${text}`)
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

/** The protocol's own words, as one expression. */
const pattern =
  /a9059cbb([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{64})?|23b872dd[0-9a-f]{64}([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{64})?/g

function byPattern(input: Hex) {
  return [...input.slice(2).matchAll(pattern)].map(([, to, sum, id, fromTo, fromSum, fromId]) => ({
    to: `0x${(to ?? fromTo ?? '').slice(24)}`,
    amount: BigInt(`0x${sum ?? fromSum}`),
    appended: (id ?? fromId) === undefined ? undefined : `0x${id ?? fromId}`,
  }))
}

describe('findTransferCalls', () => {
  test('finds a transfer at any position, whole bytes or not, with the word behind it', () => {
    fc.assert(
      fc.property(filler, address, amount, digits(64), filler, (before, to, value, id, after) => {
        const input: Hex = `0x${before}${encodeTransfer(to, value).slice(2)}${id}${after}`
        expect(findTransferCalls(input)[0]).toEqual({ to, amount: value, appended: `0x${id}` })
      }),
      { endOnFailure: true },
    )
  })

  test('finds what the expression of the protocol finds, in anything', () => {
    const piece = fc.oneof(
      fc.constantFrom('a9059cbb', '23b872dd', 'a9059cb', '3b872dd'),
      digits(64),
      digits(1),
      digits(7),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const input: Hex = `0x${pieces.join('')}`
        expect(findTransferCalls(input)).toEqual(byPattern(input))
      }),
      { endOnFailure: true, numRuns: 2_000 },
    )
  })

  test('reads the largest calldata in one pass', () => {
    const input: Hex = `0x${'a9059cbb'.repeat(32_768)}`
    expect(findTransferCalls(input).length).toBeGreaterThan(1_000)
  })
})
