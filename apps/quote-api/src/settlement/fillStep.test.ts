// Goal: money goes back only when nothing can be filled any more, and success is told only for what is paid.
import { describe, expect, test } from 'vitest'
import type { WorkState } from '../solver/workItem.ts'
import { type FillReading, type FillStep, fillStep } from './fillStep.ts'

const deadlineSeconds = 1_000
const none: FillReading = { state: 'none' }
const reverted: FillReading = { state: 'reverted', isFinal: true }
const paid = (confirmations: number): FillReading => ({
  state: 'included',
  confirmations,
  problem: undefined,
})

function step(
  state: WorkState,
  reading: FillReading,
  { nowSeconds = 500, mayTryAgain = true }: { nowSeconds?: number; mayTryAgain?: boolean } = {},
): FillStep {
  return fillStep({
    work: { state, mayTryAgain },
    reading,
    confirmationsMin: 2,
    nowSeconds,
    deadlineSeconds,
  })
}
const refund = (reason: string) => ({ action: 'refund', reason })

describe('a request that waits for its fill', () => {
  test.each<[string, FillStep, object]>([
    ['nobody fills it yet', step('open', none), { action: 'wait' }],
    ['nobody filled it by the deadline', step('open', none, { nowSeconds: 1_000 }), refund('TTL_EXPIRED')],
    ['the solver gave up', step('failed', none), refund('TRANSACTION_SUBMISSION_FAILED')],
    ['reported and not found', step('reported', { state: 'missing' }), { action: 'wait' }],
    [
      'reported, not found, the deadline just over',
      step('reported', { state: 'missing' }, { nowSeconds: 1_059 }),
      { action: 'wait' },
    ],
    [
      'reported and never included',
      step('reported', { state: 'missing' }, { nowSeconds: 1_060 }),
      refund('TRANSACTION_NOT_INCLUDED'),
    ],
    ['reverted', step('reported', reverted), { action: 'offer_again' }],
    [
      'reverted, and a reorganization may make a success of it',
      step('reported', { state: 'reverted', isFinal: false }),
      { action: 'wait' },
    ],
    [
      'reverted after the deadline, not for good',
      step('reported', { state: 'reverted', isFinal: false }, { nowSeconds: 1_000 }),
      { action: 'wait' },
    ],
    [
      'reverted too often',
      step('reported', reverted, { mayTryAgain: false }),
      refund('TRANSACTION_REVERTED'),
    ],
    [
      'reverted after the deadline',
      step('reported', reverted, { nowSeconds: 1_000 }),
      refund('TRANSACTION_REVERTED'),
    ],
    ['paid and shallow', step('reported', paid(1)), { action: 'show_submitted' }],
    ['paid and deep', step('reported', paid(2)), { action: 'succeed', isLate: false }],
    [
      'paid, seen after the deadline',
      step('reported', paid(2), { nowSeconds: 9_999 }),
      { action: 'succeed', isLate: false },
    ],
    [
      'paid after the deadline',
      step('reported', { state: 'included', confirmations: 2, problem: 'late' }),
      { action: 'succeed', isLate: true },
    ],
    [
      'paid too little',
      step('reported', { state: 'included', confirmations: 2, problem: 'short' }),
      { action: 'park', reason: 'FILL_DOES_NOT_PAY' },
    ],
    [
      'paid too little and may still vanish',
      step('reported', { state: 'included', confirmations: 1, problem: 'short' }),
      { action: 'wait' },
    ],
  ])('%s', (_name, decided, expected) => {
    expect(decided).toEqual(expected)
  })
})
