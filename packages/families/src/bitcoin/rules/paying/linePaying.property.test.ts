// Goal: no unit is lost in a transaction of a fill wallet on Bitcoin, all of a line exclude each other where they
// should, and a replacement is one that nodes take. Who gains by breaking it: a user who is paid twice; nobody but a
// miner by a fee that is not meant. Method: random plans and bids; what is signed is read again from its bytes.

import type { Hex } from '@causeway/core'
import { hexToBytes } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bitcoinLibrary } from '../library.ts'
import { feeAt } from '../quoting/bitcoinFees.ts'
import { outputScript } from '../script.ts'
import { parseBitcoinTransaction } from '../transaction.ts'
import { incrementalSatPerKvb, type LineBid, lineFee } from './lineFees.ts'
import {
  type LinePlan,
  lineDust,
  lineLeft,
  lineVirtualBytes,
  lineWallet,
  readLineStep,
  signLineTransaction,
} from './lineTransaction.ts'
import { type LineMark, paymentTag, readPaymentTag, tagText, untagged } from './paymentTag.ts'

const wallet = lineWallet(Uint8Array.from(Buffer.alloc(32, 0x42)), bitcoinNetworkOf('regtest'))
const recipients = [
  'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6',
  'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
].map((address) => outputScript(address, bitcoinNetworkOf('regtest')))

const id = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const mark = fc.constantFrom<LineMark>('paid', 'closed')
const own = fc.record({
  txid: id.map((text) => text.slice(2)),
  vout: fc.nat(5),
  value: fc.bigInt(330n, 50n * 10n ** 8n),
})
const plan: fc.Arbitrary<LinePlan> = fc.record({
  parent: own,
  gathered: fc.uniqueArray(own, { maxLength: 3, selector: ({ txid }) => txid }),
  payments: fc.array(
    fc.record({ script: fc.constantFrom(...recipients), value: fc.bigInt(546n, 10n ** 8n) }),
    { maxLength: 3 },
  ),
  orderId: fc.option(id, { nil: undefined }),
  tag: fc.oneof(
    fc.constant(untagged),
    fc.tuple(mark, id).map(([one, of]) => paymentTag(wallet.key, one, of)),
  ),
})
const bytesOf = (raw: Hex) => parseBitcoinTransaction(hexToBytes(raw))

describe('a transaction of a line', () => {
  test('spends its parent first, pays what was planned, gives the rest back, and loses nothing but its fee', () => {
    fc.assert(
      fc.property(plan, fc.bigInt(0n, 200_000n), (planned, fee) => {
        const left = lineLeft(planned, fee)
        if (left < lineDust) {
          expect(() => signLineTransaction(wallet, planned, fee)).toThrow('leaves its line nothing')
          return
        }
        const signed = signLineTransaction(wallet, planned, fee)
        const read = bytesOf(signed.raw)
        if (read === undefined) throw new Error('it is a transaction')
        const given = [planned.parent, ...planned.gathered].reduce((sum, { value }) => sum + value, 0n)
        const taken = read.outputs.reduce((sum, { value }) => sum + value, 0n)
        expect(given - taken).toBe(fee)
        expect(read.outputs.slice(1, 1 + planned.payments.length)).toEqual(planned.payments)
        expect(read.outputs).toHaveLength(
          1 + planned.payments.length + (planned.orderId === undefined ? 0 : 1),
        )
        expect(readLineStep(read, wallet)).toEqual({
          hash: signed.hash,
          parent: { txid: planned.parent.txid, vout: planned.parent.vout },
          tag: planned.tag === untagged ? undefined : planned.tag,
          left: signed.left,
        })
      }),
      { numRuns: 40 },
    )
  })

  test('is no larger than it was reckoned, and by a byte for each signature at most larger', () => {
    fc.assert(
      fc.property(plan, (planned) => {
        if (lineLeft(planned, 0n) < lineDust) return
        const { raw } = signLineTransaction(wallet, planned, 0n)
        const real = bitcoinLibrary().Transaction.fromHex(raw.slice(2)).virtualSize()
        const reckoned = lineVirtualBytes(wallet, planned)
        expect(reckoned).toBeGreaterThanOrEqual(real)
        expect(reckoned - real).toBeLessThanOrEqual(1 + planned.gathered.length)
      }),
      { numRuns: 40 },
    )
  })

  test('of one payment to P2WPKH has the size that quotes charge', () => {
    const [script = new Uint8Array()] = recipients
    const planned: LinePlan = {
      parent: { txid: 'aa'.repeat(32), vout: 0, value: 10n ** 8n },
      gathered: [],
      payments: [{ script, value: 1_000n }],
      orderId: `0x${'ab'.repeat(32)}`,
      tag: untagged,
    }
    expect(lineVirtualBytes(wallet, planned)).toBe(218)
  })

  test('is replaceable, and its signatures are those of the wallet', () => {
    fc.assert(
      fc.property(plan, (planned) => {
        if (lineLeft(planned, 0n) < lineDust) return
        const read = bytesOf(signLineTransaction(wallet, planned, 0n).raw)
        for (const { sequence, witness } of read?.inputs ?? []) {
          expect(sequence).toBeLessThan(0xffff_fffe)
          expect(Buffer.from(witness[1] ?? [])).toEqual(Buffer.from(wallet.publicKey))
        }
      }),
      { numRuns: 30 },
    )
  })
})

describe('a tag', () => {
  test('is read again, belongs to one mark and id, and is none of another key', () => {
    fc.assert(
      fc.property(id, id, mark, (one, other, of) => {
        const tag = paymentTag(wallet.key, of, one)
        const inputs = [
          { txid: '', vout: 0, scriptSig: new Uint8Array(), sequence: tag.sequence, witness: [] },
        ]
        expect(readPaymentTag({ inputs, lockTime: tag.lockTime })).toEqual(tag)
        const others = [
          ...(one === other ? [] : [paymentTag(wallet.key, of, other)]),
          paymentTag(wallet.key, of === 'paid' ? 'closed' : 'paid', one),
          paymentTag(Uint8Array.from(Buffer.alloc(32, 0x43)), of, one),
        ]
        for (const another of others) expect(tagText(another)).not.toBe(tagText(tag))
      }),
    )
  })

  test('locks nothing: its sequence has no relative lock and its time is past', () => {
    fc.assert(
      fc.property(id, mark, (of, one) => {
        const { sequence, lockTime } = paymentTag(wallet.key, one, of)
        expect(sequence).toBeGreaterThanOrEqual(2 ** 31)
        expect(lockTime).toBeGreaterThanOrEqual(500_000_000)
        expect(lockTime).toBeLessThan(Date.UTC(2020, 0, 1) / 1_000)
      }),
    )
  })

  test('is not seen in what says nothing', () => {
    const input = { txid: '', vout: 0, scriptSig: new Uint8Array(), witness: [] }
    const says = (sequence: number, lockTime: number) =>
      readPaymentTag({ inputs: [{ ...input, sequence }], lockTime })
    expect(says(untagged.sequence, untagged.lockTime)).toBeUndefined()
    expect(says(0xffff_ffff, 600_000_000)).toBeUndefined()
    expect(says(0x8000_0001, 840_000)).toBeUndefined()
    expect(readPaymentTag({ inputs: [], lockTime: 600_000_000 })).toBeUndefined()
  })
})

describe('the fee of a transaction of a line', () => {
  const share = fc.record({ fee: fc.bigInt(0n, 10_000n), virtualBytes: fc.integer({ min: 100, max: 400 }) })
  const bids = fc.record({
    virtualBytes: fc.integer({ min: 100, max: 600 }),
    before: fc.array(share, { maxLength: 5 }),
    replaced: fc.option(fc.bigInt(1n, 100_000n), { nil: undefined }),
    dropped: fc.array(fc.bigInt(1n, 100_000n), { maxLength: 4 }),
    satPerKvb: fc.bigInt(1n, 300_000n),
    ceilingSatPerKvb: fc.bigInt(1_000n, 200_000n),
  })
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)
  /** Fees that the ceiling allows for the transaction alone, and for the package with all transactions before it. */
  const allowed = ({
    before,
    dropped,
    virtualBytes,
    ceilingSatPerKvb: ceiling,
  }: LineBid): readonly bigint[] => {
    const size = before.reduce((total, one) => total + one.virtualBytes, virtualBytes)
    const missing = feeAt(ceiling, size) - sum(before.map(({ fee }) => fee))
    return [sum(dropped) + feeAt(ceiling, virtualBytes), sum(dropped) + missing]
  }

  test('L-39: exceeds all that it replaces by what nodes ask, and its ceiling by nothing', () => {
    fc.assert(
      fc.property(bids, (bid) => {
        const fee = lineFee(bid)
        const least = (bid.replaced ?? 0n) + sum(bid.dropped) + feeAt(incrementalSatPerKvb, bid.virtualBytes)
        if (fee === undefined) {
          expect(allowed(bid).every((most) => most < least)).toBe(true)
          return
        }
        if (bid.replaced !== undefined) expect(fee).toBeGreaterThanOrEqual(least)
        expect(allowed(bid).some((most) => fee <= most)).toBe(true)
      }),
    )
  })

  test('rises with each replacement and comes to an end at the ceiling', () => {
    fc.assert(
      fc.property(bids, (bid) => {
        let [replaced, count] = [bid.replaced, 0]
        for (;;) {
          const fee = lineFee({ ...bid, before: [], replaced, dropped: [] })
          if (fee === undefined) break
          expect(fee).toBeGreaterThan(replaced ?? -1n)
          replaced = fee
          count += 1
        }
        // By one satoshi per byte at least, up to two hundred.
        expect(count).toBeLessThanOrEqual(201)
      }),
      { numRuns: 50 },
    )
  })

  const bid: LineBid = {
    virtualBytes: 200,
    before: [],
    replaced: undefined,
    dropped: [],
    satPerKvb: 10_000n,
    ceilingSatPerKvb: 50_000n,
  }
  test('lifts what waits before it to the price of the market', () => {
    expect(lineFee({ ...bid, before: [{ fee: 200n, virtualBytes: 200 }] })).toBe(3_800n)
    expect(lineFee({ ...bid, before: [{ fee: 9_000n, virtualBytes: 200 }] })).toBe(2_000n)
  })

  test('is undefined where nodes ask more than the ceiling has', () => {
    const second = { ...bid, satPerKvb: 4_000n, replaced: 900n }
    expect(lineFee({ ...second, ceilingSatPerKvb: 5_500n })).toBe(1_100n)
    expect(lineFee({ ...second, ceilingSatPerKvb: 5_490n })).toBeUndefined()
  })
})
