// Goal: callers learn why nobody pays for them, and nothing where somebody does.
import type { HoldOutcome } from '@causeway/core'
import { expect, test } from 'vitest'
import { refusalReason } from './sponsorshipOutcome.ts'

const holdId = 'hold'
const outcomes: readonly (readonly [HoldOutcome, string | undefined])[] = [
  [{ status: 'reserved', holdId }, undefined],
  [{ status: 'already_reserved', holdId }, undefined],
  [{ status: 'at_deposit' }, undefined],
  [{ status: 'insufficient_balance' }, 'INSUFFICIENT_BALANCE'],
  [{ status: 'sponsor_frozen' }, 'POLICY_SPONSOR_FROZEN'],
  [{ status: 'policy_refused', rule: 'MAX_PER_USER_24H' }, 'POLICY_MAX_PER_USER_24H'],
]

test.each(outcomes)('L-50: a reservation that ends as %o has the reason %s', (outcome, reason) => {
  expect(refusalReason(outcome)).toBe(reason)
})

test.each(['conflict', 'already_resolved', 'unknown_hold'] as const)(
  'a new hold that is answered with %s is a bug',
  (status) => {
    expect(() => refusalReason({ status })).toThrow(`a new hold was answered with ${status}`)
  },
)
