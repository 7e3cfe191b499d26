import type { Hex } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { judgeRecovery, type PaymentMark, type RecoveryFacts } from './judgeRecovery.ts'

const orderId: Hex = `0x${'1'.repeat(64)}`
const refund: Hex = `0x${'2'.repeat(64)}`
const closed: PaymentMark = {
  id: orderId,
  isOwn: true,
  state: 'closed',
  timestampSeconds: 100,
  endSeconds: 200,
}
const open: PaymentMark = { ...closed, state: 'open' }
const paid: PaymentMark = { ...closed, state: 'paid' }
const facts: RecoveryFacts = {
  orderId,
  fillWallet: '0xwallet',
  isRefundable: true,
  deposit: { orderId, depositor: '0xuser' },
  signed: [{ kind: 'fill', outcome: 'cancelled', isSettled: false }],
  marks: [closed, { ...closed, id: refund }],
}

describe('a solver', () => {
  const cases: readonly (readonly [string, RecoveryFacts, ReturnType<typeof judgeRecovery>['kind']])[] = [
    ['enters an order for which nothing was paid and nothing can be', facts, 'enter'],
    [
      'enters it after the deadline that the chain holds it to',
      { ...facts, marks: [{ ...open, timestampSeconds: 201 }] },
      'enter',
    ],
    [
      'enters the second deposit of an order whose fill the hub settled',
      {
        ...facts,
        signed: [{ kind: 'fill', outcome: 'done', isSettled: true }],
        marks: [paid, { ...closed, id: refund }],
      },
      'enter',
    ],
    [
      'refuses a deposit that it gave back, though the fill is settled',
      {
        ...facts,
        signed: [{ kind: 'fill', outcome: 'done', isSettled: true }],
        marks: [paid, { ...paid, id: refund }],
      },
      'refuse',
    ],
    [
      'closes at the very deadline, when a block may still take what was signed',
      { ...facts, marks: [{ ...open, timestampSeconds: 200 }] },
      'close',
    ],
    [
      'refuses an order that was filled, though the hub settled a refund of it',
      { ...facts, signed: [{ kind: 'refund', outcome: 'done', isSettled: true }], marks: [paid] },
      'refuse',
    ],
    [
      'closes what it could still pay',
      { ...facts, marks: [closed, { ...open, id: refund, endSeconds: undefined }] },
      'close',
    ],
    ['waits for another fill wallet', { ...facts, marks: [closed, { ...open, isOwn: false }] }, 'wait'],
    [
      'waits for what it signed before',
      { ...facts, signed: [{ kind: 'refund', outcome: 'open', isSettled: false }] },
      'wait',
    ],
    [
      'refuses what it filled once, whatever became of its other fills',
      { ...facts, signed: [...facts.signed, { kind: 'fill', outcome: 'done', isSettled: false }] },
      'refuse',
    ],
    [
      'enters what is settled beside a fill that failed',
      {
        ...facts,
        signed: [...facts.signed, { kind: 'fill', outcome: 'done', isSettled: true }],
        marks: [paid, { ...closed, id: refund }],
      },
      'enter',
    ],
    [
      'waits for one of several that it signed before',
      { ...facts, signed: [...facts.signed, { kind: 'refund', outcome: 'open', isSettled: false }] },
      'wait',
    ],
    ['waits for a deposit that is not final', { ...facts, deposit: undefined }, 'wait'],
    [
      'refuses an order that it filled or refunded',
      { ...facts, signed: [{ kind: 'refund', outcome: 'done', isSettled: false }] },
      'refuse',
    ],
    [
      'refuses one that its lost books do not show, and the chain does',
      { ...facts, marks: [closed, { ...paid, id: refund }] },
      'refuse',
    ],
    [
      'refuses one that another fill wallet paid',
      { ...facts, marks: [closed, { ...paid, isOwn: false }] },
      'refuse',
    ],
    [
      'refuses a deposit of another order',
      { ...facts, deposit: { orderId: refund, depositor: '0xuser' } },
      'refuse',
    ],
    [
      'refuses its own deposit, which the hub would give to it',
      { ...facts, deposit: { orderId, depositor: '0xwallet' } },
      'refuse',
    ],
    [
      'enters its own deposit where the order refunds an account that nobody holds',
      { ...facts, isRefundable: false, deposit: { orderId, depositor: '0xwallet' } },
      'enter',
    ],
  ]
  for (const [name, known, kind] of cases)
    test(`P-72: ${name}`, () => expect(judgeRecovery(known).kind).toBe(kind))

  test('P-72: closes its own ids, and no others', () => {
    const marks = [open, { ...open, id: refund, endSeconds: undefined }, { ...open, isOwn: false }]
    expect(judgeRecovery({ ...facts, marks })).toEqual({ kind: 'close', ids: [orderId, refund] })
  })
})
