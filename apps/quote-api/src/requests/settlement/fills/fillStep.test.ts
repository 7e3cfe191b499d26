// Goal: money goes back only when nothing can be filled any more, and success is told only for what is paid.
import { describe, expect, test } from 'vitest'
import type { WorkState } from '../../work/workItem.ts'
import type { FillProblem } from '../payments/fillCheck.ts'
import { type FillReading, type FillStep, fillStep } from './fillStep.ts'

const deadlineSeconds = 1_000
const none: FillReading = { state: 'none' }
const missing: FillReading = { state: 'missing', isLapsed: false }
const lapsed: FillReading = { state: 'missing', isLapsed: true }
const reverted: FillReading = { state: 'reverted', isFinal: true }
const paid = (isDeep: boolean): FillReading => ({
  state: 'included',
  isDeep,
  problem: undefined,
  isFinal: false,
})
const wrong = (problem: FillProblem, isFinal = true): FillReading => ({
  state: 'included',
  isDeep: true,
  problem,
  isFinal,
})

function step(
  state: WorkState,
  reading: FillReading,
  {
    nowSeconds = 500,
    mayTryAgain = true,
    reason,
  }: { nowSeconds?: number; mayTryAgain?: boolean; reason?: string } = {},
): FillStep {
  return fillStep({
    work: { state, mayTryAgain, reason },
    reading,
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
    [
      'the solver gave up what would revert',
      step('failed', none, { reason: 'EXECUTION_REVERTED: the transaction would revert' }),
      refund('EXECUTION_REVERTED'),
    ],
    [
      'P-50: the solver gave up what costs more than was charged',
      step('failed', none, { reason: 'QUOTED_GAS_LIMIT_EXCEEDED: it takes 9 gas, more than 8' }),
      refund('QUOTED_GAS_LIMIT_EXCEEDED'),
    ],
    ['reported and not found', step('reported', missing), { action: 'wait' }],
    [
      'reported, not found, the deadline just over',
      step('reported', missing, { nowSeconds: 1_059 }),
      { action: 'wait' },
    ],
    [
      'reported and never included',
      step('reported', missing, { nowSeconds: 1_060 }),
      refund('TRANSACTION_NOT_INCLUDED'),
    ],
    [
      'L-72: reported by a solver that stalled, and refused by now wherever it lands',
      step('reported', lapsed),
      { action: 'offer_again', why: 'lapsed' },
    ],
    [
      'lapsed too often, before the deadline',
      step('reported', lapsed, { mayTryAgain: false }),
      { action: 'wait' },
    ],
    [
      'lapsed after the deadline',
      step('reported', lapsed, { nowSeconds: 1_060 }),
      refund('TRANSACTION_NOT_INCLUDED'),
    ],
    ['reverted', step('reported', reverted), { action: 'offer_again', why: 'reverted' }],
    [
      'L-71: reverted, and a reorganization may make a success of it',
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
    ['paid and shallow', step('reported', paid(false)), { action: 'show_submitted' }],
    ['paid and deep', step('reported', paid(true)), { action: 'succeed', isLate: false }],
    [
      'paid, seen after the deadline',
      step('reported', paid(true), { nowSeconds: 9_999 }),
      { action: 'succeed', isLate: false },
    ],
    ['paid after the deadline', step('reported', wrong('late', false)), { action: 'succeed', isLate: true }],
    ['paid too little for good', step('reported', wrong('short')), { action: 'offer_again', why: 'short' }],
    [
      'L-73: named for another order for good',
      step('reported', wrong('other_order')),
      { action: 'offer_again', why: 'other_order' },
    ],
    [
      'paid by somebody else for good',
      step('reported', wrong('payer_not_listed')),
      { action: 'offer_again', why: 'payer_not_listed' },
    ],
    [
      'L-73: paid too little, too often',
      step('reported', wrong('short'), { mayTryAgain: false }),
      refund('TRANSACTION_SUBMISSION_FAILED'),
    ],
    [
      'paid too little, and the deadline is over',
      step('reported', wrong('short'), { nowSeconds: 1_000 }),
      refund('TRANSACTION_SUBMISSION_FAILED'),
    ],
    ['paid too little and may still vanish', step('reported', wrong('short', false)), { action: 'wait' }],
  ])('%s', (_name, decided, expected) => {
    expect(decided).toEqual(expected)
  })
})
