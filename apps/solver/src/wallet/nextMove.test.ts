import { firstBid, replacementBid } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import { nextMove as nextMoveOf, type RecordFacts } from './nextMove.ts'
import type { SignedRecord } from './signedRecord.ts'

const hash = `0x${'11'.repeat(32)}` as const
const signed = {
  raw: '0x02',
  hash,
  maxFeePerGasWei: 100n,
  maxPriorityFeePerGasWei: 10n,
  signedAtMs: 1_000,
} as const
const record: SignedRecord = {
  id: 'item',
  attempt: 0,
  kind: 'fill',
  orderId: `0x${'0d'.repeat(32)}`,
  chainId: 10,
  deadline: 1_000,
  nonce: 5,
  wallet: `0x${'aa'.repeat(20)}`,
  plan: { to: `0x${'bb'.repeat(20)}`, data: '0x', valueWei: 0n, gas: 21_000n },
  transactions: [signed],
  toldHash: hash,
  cancellations: [],
  payments: [],
  deposits: [],
  release: 'given',
  outcome: 'open',
  failureReported: false,
}
const facts: RecordFacts = {
  mined: undefined,
  cancelled: undefined,
  latestCount: 5,
  finalCount: 4,
  chainTime: 900,
  nowMs: 2_000,
}
const rules = { bumpAfterMs: 30_000, maxFeePerGasWei: 1_000n }
const nextMove = (one: SignedRecord, seen: RecordFacts) => nextMoveOf(one, seen, rules)

describe('nextMove', () => {
  test('sends the kept bytes while their nonce is free', () => {
    expect(nextMove(record, facts)).toEqual({ kind: 'broadcast', what: 'transaction' })
  })

  test('sends nothing before the service agreed, and nothing ever when it did not', () => {
    expect(nextMove({ ...record, release: 'asked' }, facts)).toEqual({ kind: 'wait' })
    expect(nextMove({ ...record, release: 'refused' }, facts)).toEqual({ kind: 'sign', what: 'cancellation' })
    expect(nextMove({ ...record, release: 'asked' }, { ...facts, chainTime: 1_001 })).toEqual({
      kind: 'sign',
      what: 'cancellation',
    })
  })

  test('waits until what was mined is final', () => {
    const mined = { hash, costWei: 7n, succeeded: true, isFinal: false }
    expect(nextMove(record, { ...facts, latestCount: 6, mined })).toEqual({ kind: 'wait' })
  })

  test.each([
    [true, 'done'],
    [false, 'reverted'],
  ] as const)('keeps what is final: success %s is %s', (succeeded, outcome) => {
    const mined = { hash, costWei: 7n, succeeded, isFinal: true }
    expect(nextMove(record, { ...facts, mined })).toEqual({ kind: 'settle', outcome, cost: 7n })
    expect(nextMove({ ...record, outcome }, { ...facts, mined })).toEqual({ kind: 'wait' })
  })

  test('keeps a record open until the service was told which of its transactions was mined', () => {
    const raised = { ...signed, hash: `0x${'22'.repeat(32)}` } as const
    const told = { ...record, transactions: [signed, raised], toldHash: raised.hash }
    const mined = { hash, costWei: 7n, succeeded: true, isFinal: true }
    expect(nextMove(told, { ...facts, finalCount: 6, mined })).toEqual({ kind: 'wait' })
    const settled = { kind: 'settle', outcome: 'done', cost: 7n }
    expect(nextMove({ ...told, toldHash: hash }, { ...facts, finalCount: 6, mined })).toEqual(settled)
    const unsure = { ...told, toldHash: hash, tellingHash: raised.hash }
    expect(nextMove(unsure, { ...facts, finalCount: 6, mined })).toEqual({ kind: 'wait' })
    expect(nextMove({ ...told, kind: 'close' }, { ...facts, finalCount: 6, mined })).toEqual(settled)
  })

  test('takes the nonce for nothing when the deadline passed before it was used', () => {
    const late = { ...facts, chainTime: 1_001 }
    expect(nextMove(record, late)).toEqual({ kind: 'sign', what: 'cancellation' })
    const cancelling = { ...record, cancellations: [signed] }
    expect(nextMove(cancelling, late)).toEqual({ kind: 'broadcast', what: 'cancellation' })
    expect(
      nextMove(cancelling, { ...late, cancelled: { hash, costWei: 7n, succeeded: true, isFinal: true } }),
    ).toEqual({
      kind: 'settle',
      outcome: 'cancelled',
      cost: 7n,
    })
  })

  test('believes the transaction and not the clock when both were sent', () => {
    const mined = { hash, costWei: 7n, succeeded: true, isFinal: true }
    const cancelling = { ...record, cancellations: [signed] }
    expect(nextMove(cancelling, { ...facts, chainTime: 2_000, mined })).toEqual({
      kind: 'settle',
      outcome: 'done',
      cost: 7n,
    })
  })

  test('gives a record up only when its nonce is used for good by another transaction', () => {
    expect(nextMove(record, { ...facts, latestCount: 6, finalCount: 5 })).toEqual({ kind: 'wait' })
    expect(nextMove(record, { ...facts, latestCount: 6, finalCount: 6 })).toEqual({
      kind: 'settle',
      outcome: 'lost',
      cost: undefined,
    })
  })

  test('sends a finished payment again when the chain forgot it, and never a failed one', () => {
    expect(nextMove({ ...record, outcome: 'done' }, facts)).toEqual({
      kind: 'broadcast',
      what: 'transaction',
    })
    for (const outcome of ['reverted', 'lost'] as const)
      expect(nextMove({ ...record, outcome }, facts)).toEqual({ kind: 'sign', what: 'cancellation' })
  })
})

describe('a price that nobody takes', () => {
  const slow = { ...facts, nowMs: 31_000 }

  test('is raised after a while, and never above the ceiling', () => {
    expect(nextMove(record, slow)).toEqual({ kind: 'sign', what: 'transaction' })
    const dearest = { ...record, transactions: [{ ...signed, maxFeePerGasWei: 1_000n }] }
    expect(nextMove(dearest, slow)).toEqual({ kind: 'broadcast', what: 'transaction' })
    expect(nextMove({ ...record, cancellations: [signed] }, slow)).toEqual({
      kind: 'sign',
      what: 'cancellation',
    })
  })

  test('is not raised again before the service was told of it', () => {
    const untold = { ...record, toldHash: `0x${'22'.repeat(32)}` as const }
    expect(nextMove(untold, slow)).toEqual({ kind: 'broadcast', what: 'transaction' })
    expect(nextMove({ ...untold, kind: 'chore' }, slow)).toEqual({ kind: 'sign', what: 'transaction' })
  })
})

describe('fees', () => {
  const last = { maxFeePerGasWei: 100n, maxPriorityFeePerGasWei: 10n }

  test('of a replacement are what nodes ask, or the market where it is dearer', () => {
    expect(replacementBid(last, { maxFeePerGasWei: 1n, maxPriorityFeePerGasWei: 1n }, 1_000n)).toEqual({
      maxFeePerGasWei: 113n,
      maxPriorityFeePerGasWei: 12n,
    })
    const market = { maxFeePerGasWei: 400n, maxPriorityFeePerGasWei: 40n }
    expect(replacementBid(last, market, 1_000n)).toEqual(market)
    expect(replacementBid(last, market, 300n)?.maxFeePerGasWei).toBe(300n)
  })

  test('never pass the ceiling', () => {
    expect(replacementBid(last, last, 112n)).toBeUndefined()
    expect(firstBid({ maxFeePerGasWei: 500n, maxPriorityFeePerGasWei: 400n }, 300n)).toEqual({
      maxFeePerGasWei: 300n,
      maxPriorityFeePerGasWei: 300n,
    })
  })
})
