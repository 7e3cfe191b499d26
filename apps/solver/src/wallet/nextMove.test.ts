import { describe, expect, test } from 'vitest'
import { activeRecords, nextMove, nextNonce, type RecordFacts } from './nextMove.ts'
import type { SignedRecord } from './signedRecord.ts'

const signed = { raw: '0x02', hash: `0x${'11'.repeat(32)}` } as const
const record: SignedRecord = {
  id: 'item',
  attempt: 0,
  kind: 'fill',
  orderId: `0x${'0d'.repeat(32)}`,
  chainId: 10,
  deadline: 1_000,
  nonce: 5,
  transaction: signed,
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
}

describe('nextMove', () => {
  test('sends the kept bytes while their nonce is free', () => {
    expect(nextMove(record, facts)).toEqual({ kind: 'broadcast', what: 'transaction' })
  })

  test('sends nothing before the service agreed, and nothing ever when it did not', () => {
    expect(nextMove({ ...record, release: 'asked' }, facts)).toEqual({ kind: 'wait' })
    expect(nextMove({ ...record, release: 'refused' }, facts)).toEqual({ kind: 'cancel' })
    expect(nextMove({ ...record, release: 'asked' }, { ...facts, chainTime: 1_001 })).toEqual({
      kind: 'cancel',
    })
  })

  test('waits until what was mined is final', () => {
    const mined = { succeeded: true, isFinal: false }
    expect(nextMove(record, { ...facts, latestCount: 6, mined })).toEqual({ kind: 'wait' })
  })

  test.each([
    [true, 'done'],
    [false, 'reverted'],
  ] as const)('keeps what is final: success %s is %s', (succeeded, outcome) => {
    const mined = { succeeded, isFinal: true }
    expect(nextMove(record, { ...facts, mined })).toEqual({ kind: 'settle', outcome })
    expect(nextMove({ ...record, outcome }, { ...facts, mined })).toEqual({ kind: 'wait' })
  })

  test('takes the nonce for nothing when the deadline passed before it was used', () => {
    const late = { ...facts, chainTime: 1_001 }
    expect(nextMove(record, late)).toEqual({ kind: 'cancel' })
    const cancelling = { ...record, cancellation: signed }
    expect(nextMove(cancelling, late)).toEqual({ kind: 'broadcast', what: 'cancellation' })
    expect(nextMove(cancelling, { ...late, cancelled: { succeeded: true, isFinal: true } })).toEqual({
      kind: 'settle',
      outcome: 'cancelled',
    })
  })

  test('believes the transaction and not the clock when both were sent', () => {
    const mined = { succeeded: true, isFinal: true }
    const cancelling = { ...record, cancellation: signed }
    expect(nextMove(cancelling, { ...facts, chainTime: 2_000, mined })).toEqual({
      kind: 'settle',
      outcome: 'done',
    })
  })

  test('gives a record up only when its nonce is used for good by another transaction', () => {
    expect(nextMove(record, { ...facts, latestCount: 6, finalCount: 5 })).toEqual({ kind: 'wait' })
    expect(nextMove(record, { ...facts, latestCount: 6, finalCount: 6 })).toEqual({
      kind: 'settle',
      outcome: 'lost',
    })
  })

  test('sends a finished payment again when the chain forgot it, and never a failed one', () => {
    expect(nextMove({ ...record, outcome: 'done' }, facts)).toEqual({
      kind: 'broadcast',
      what: 'transaction',
    })
    for (const outcome of ['reverted', 'lost'] as const)
      expect(nextMove({ ...record, outcome }, facts)).toEqual({ kind: 'cancel' })
  })
})

describe('nonces', () => {
  test('the next one is free on the chain and among the records', () => {
    expect(nextNonce([], 7)).toBe(7)
    expect(nextNonce([record, { ...record, nonce: 9 }], 7)).toBe(10)
    expect(nextNonce([record], 7)).toBe(7)
  })

  test('records are looked at in the order of their nonces, finished ones only when a nonce is free again', () => {
    const done: SignedRecord = { ...record, outcome: 'done' }
    const records = [{ ...record, nonce: 8 }, { ...done, nonce: 6 }, { ...done, nonce: 7 }, record]
    expect(activeRecords(records, 7).map(({ nonce }) => nonce)).toEqual([5, 7, 8])
  })
})
