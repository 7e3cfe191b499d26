// Goal: a claim is paid by final facts alone, and given back only when nothing can be paid for it any more. Method:
// the whole table of what a solver said and what a chain shows.
import { describe, expect, test } from 'vitest'
import type { WorkState } from '../../requests/work/workItem.ts'
import { claimStep, type PayoutReading } from './claimStep.ts'

const deadlineSeconds = 1_000
const step = (work: WorkState, reading: PayoutReading, nowSeconds = 1) =>
  claimStep({ work, reading, nowSeconds, deadlineSeconds })
const wait = { action: 'wait' }

describe('the next step of a claim', () => {
  test.each<[WorkState, PayoutReading, object]>([
    ['open', 'none', wait],
    ['failed', 'none', { action: 'fail', reason: 'TRANSACTION_SUBMISSION_FAILED' }],
    ['reported', 'not_final', wait],
    ['reported', 'absent', wait],
    ['reported', 'paid', { action: 'pay' }],
    ['reported', 'pays_less', { action: 'call_operator' }],
    ['failed', 'not_final', wait],
    ['failed', 'absent', { action: 'fail', reason: 'TRANSACTION_NOT_INCLUDED' }],
    ['failed', 'paid', { action: 'pay' }],
    ['failed', 'pays_less', { action: 'call_operator' }],
  ])('L-79: %s and %s', (work, reading, expected) => {
    expect(step(work, reading)).toEqual(expected)
  })

  test('nobody began it by the deadline: the amount goes back', () => {
    expect(step('open', 'none', deadlineSeconds)).toEqual(wait)
    expect(step('open', 'none', deadlineSeconds + 1)).toEqual({ action: 'fail', reason: 'TTL_EXPIRED' })
  })

  test.each<PayoutReading>(['absent', 'not_final'])(
    'a transaction that was reported (%s) may land however late it is',
    (reading) => {
      expect(step('reported', reading, deadlineSeconds * 1_000)).toEqual(wait)
    },
  )
})
