// Goal: a permit ends by its deposit, or once none can come of it, and never because somebody said so.
import { describe, expect, test } from 'vitest'
import type { WorkState } from '../work/workItem.ts'
import { type RelayReading, relayStep } from './relayStep.ts'

const deadlineSeconds = 1_000

function step(
  state: WorkState,
  reading: RelayReading,
  more: { isDeposited?: boolean; mayTryAgain?: boolean; nowSeconds?: number } = {},
) {
  const { isDeposited = false, mayTryAgain = true, nowSeconds = deadlineSeconds - 1 } = more
  return relayStep({ work: { state, mayTryAgain }, isDeposited, reading, nowSeconds, deadlineSeconds })
}

describe('a permit', () => {
  test.each(['open', 'reported', 'failed'] as const)('that is deposited is finished while %s', (state) => {
    const nowSeconds = deadlineSeconds * 2
    expect(step(state, 'missing', { isDeposited: true, nowSeconds })).toEqual({ action: 'finish' })
  })

  test('waits while its transaction may still come', () => {
    expect(step('open', 'none')).toEqual({ action: 'wait' })
    expect(step('reported', 'missing')).toEqual({ action: 'wait' })
    expect(step('reported', 'missing', { nowSeconds: deadlineSeconds + 59 })).toEqual({ action: 'wait' })
    expect(step('reported', 'included', { nowSeconds: deadlineSeconds * 2 })).toEqual({ action: 'wait' })
  })

  test('that ran for good without a deposit is given up with its time, and not before', () => {
    expect(step('reported', 'final')).toEqual({ action: 'wait' })
    const nowSeconds = deadlineSeconds * 2
    expect(step('reported', 'final', { isDeposited: true, nowSeconds })).toEqual({ action: 'finish' })
    const failed = { action: 'fail', reason: 'TRANSACTION_REVERTED' }
    expect(step('reported', 'final', { nowSeconds })).toEqual(failed)
  })

  test('is offered again after a failed transaction, while there is time and patience', () => {
    expect(step('reported', 'reverted')).toEqual({ action: 'offer_again' })
    const failed = { action: 'fail', reason: 'TRANSACTION_REVERTED' }
    expect(step('reported', 'reverted', { mayTryAgain: false })).toEqual(failed)
    expect(step('reported', 'reverted', { nowSeconds: deadlineSeconds })).toEqual(failed)
  })

  test('Q-194: fails once nobody can send it any more, or the solver gave it up', () => {
    const nowSeconds = deadlineSeconds + 60
    const expired = { action: 'fail', reason: 'SIGNATURE_EXPIRED' }
    expect(step('open', 'none', { nowSeconds })).toEqual(expired)
    expect(step('reported', 'missing', { nowSeconds })).toEqual(expired)
    expect(step('failed', 'none')).toEqual({ action: 'fail', reason: 'TRANSACTION_SUBMISSION_FAILED' })
  })
})
