// Goal: a payment spends the fewest outputs, the largest first, and never one that costs more than it brings; what is
// left is change or, below dust, part of the fee. Figures at 1 satoshi per virtual byte: 110 for one input and one
// output of P2WPKH, 31 for the output of change, 69 for an input of its own.

import { describe, expect, test } from 'vitest'
import type { SpendableOutput } from '../../../rules/plannedTransaction.ts'
import { BitcoinFees } from './bitcoinFees.ts'
import { fundPayment } from './fundTransaction.ts'
import { dustOf, inputKindOf, virtualBytesOf } from './virtualSize.ts'

const keyHash = Uint8Array.from([0, 20, ...new Uint8Array(20).fill(7)])
const payment = {
  amount: 10_000n,
  paid: [keyHash],
  change: keyHash,
  inputKind: 'witness',
  fees: new BitcoinFees({ satPerKvb: 1_000n }),
} as const
const output = (value: bigint, vout = 0, txid = 'aa'): SpendableOutput => ({
  txid: txid.repeat(32),
  vout,
  value,
  script: '0x',
})
const fund = (...values: readonly bigint[]) =>
  fundPayment(
    values.map((value, vout) => output(value, vout)),
    payment,
  )

describe('what is left of one output', () => {
  test.each([
    ['is change from dust on', 10_435n, { fee: 141n, change: 294n }],
    ['is fee below it', 10_434n, { fee: 434n, change: 0n }],
    ['is fee as long as that suffices', 10_110n, { fee: 110n, change: 0n }],
  ])('%s', (_what, value, settled) => {
    expect(fund(value)).toEqual({ kind: 'chosen', inputs: [output(value)], ...settled })
  })

  test('is missing where it does not pay for the smallest transaction', () => {
    expect(fund(10_109n)).toEqual({ kind: 'short', spendable: 10_109n, needed: 10_110n, isOfTooMany: false })
  })
})

describe('what is needed counts', () => {
  test.each<[string, readonly bigint[], bigint, bigint]>([
    ['one input where nothing is there', [], 0n, 10_110n],
    ['no output that brings no more than its input takes', [69n], 0n, 10_110n],
    ['each that brings a satoshi more', [70n], 70n, 10_110n],
    ['every input that was taken', [5_000n, 4_000n], 9_000n, 10_178n],
  ])('%s', (_what, values, spendable, needed) => {
    expect(fund(...values)).toEqual({ kind: 'short', spendable, needed, isOfTooMany: false })
  })
})

describe('outputs are taken', () => {
  const all = [
    output(9_000n, 5, 'cc'),
    output(500n, 9, 'aa'),
    output(500n, 1, 'bb'),
    output(500n, 2, 'bb'),
    output(400n, 0, 'aa'),
  ]
  test('by value, then transaction, then place, in whatever order they are named', () => {
    const orders = [all, all.toReversed(), [...all.slice(2), ...all.slice(0, 2)]]
    for (const order of orders) {
      const funding = fundPayment(order, { ...payment, amount: 10_400n })
      expect(funding).toMatchObject({ kind: 'chosen', inputs: all })
    }
  })

  test('until they suffice, and no further', () => {
    expect(fundPayment(all, { ...payment, amount: 5_000n })).toMatchObject({ inputs: all.slice(0, 1) })
  })

  test('as far as one transaction can show a million bytes', () => {
    // The two characters before the digits count as one more.
    const shown = (bytes: number) => `0x${'00'.repeat(bytes - 1)}` as const
    const two = (bytes: number) =>
      fundPayment(
        [
          { ...output(6_000n), transaction: shown(400_000) },
          { ...output(5_000n, 1), transaction: shown(bytes) },
        ],
        payment,
      )
    expect(two(600_000)).toMatchObject({ kind: 'chosen' })
    expect(two(600_001)).toMatchObject({ kind: 'short', spendable: 6_000n, isOfTooMany: true })
  })
})

describe('sizes', () => {
  const empty = new Uint8Array()
  const many = (count: number) => Array.from({ length: count }, () => empty)

  test('count lists and scripts of 253 and more in three bytes', () => {
    expect(virtualBytesOf({ inputs: [], outputs: many(252) })).toBe(10 + 252 * 9)
    expect(virtualBytesOf({ inputs: [], outputs: many(253) })).toBe(12 + 253 * 9)
    expect(virtualBytesOf({ inputs: [], outputs: [new Uint8Array(252)] })).toBe(10 + 9 + 252)
    expect(virtualBytesOf({ inputs: [], outputs: [new Uint8Array(253)] })).toBe(10 + 11 + 253)
  })

  test('have an empty witness for each input without one, where another has one', () => {
    const legacy = Array.from({ length: 4 }, () => 'public-key-hash' as const)
    expect(virtualBytesOf({ inputs: legacy, outputs: [] })).toBe(602)
    expect(virtualBytesOf({ inputs: [...legacy, 'witness'], outputs: [] })).toBe(672)
  })

  test.each<[string, readonly number[], number, string | undefined]>([
    ['a key of version 0', [0x00, 20], 20, 'witness'],
    ['a script of version 0', [0x00, 32], 32, undefined],
    ['taproot', [0x51, 32], 32, 'taproot'],
    ['version 1 of another length', [0x51, 20], 20, undefined],
    ['version 2', [0x52, 32], 32, undefined],
    ['no address', [0x6a], 0, undefined],
  ])('of inputs are known for what one key spends: %s', (_what, head, length, kind) => {
    expect(inputKindOf(Uint8Array.from([...head, ...new Uint8Array(length)]))).toBe(kind)
  })

  test('of dust are those of an output without a witness where there is no address', () => {
    expect(dustOf(Uint8Array.of(0x6a))).toBe(474n)
  })
})
