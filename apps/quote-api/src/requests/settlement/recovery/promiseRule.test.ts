import { describe, expect, test } from 'vitest'
import {
  type DecisionFacts,
  mayRecover,
  type PaymentRecord,
  type PromiseFacts,
  promiseObstacle,
  type RecoveredDeposit,
  recoveredDeposits,
} from './promiseRule.ts'

const open: PaymentRecord = { state: 'open', finalSeconds: 100, endSeconds: 200 }
const past: PaymentRecord = { state: 'open', finalSeconds: 201, endSeconds: 200 }
const closed: PaymentRecord = { state: 'closed', finalSeconds: 100, endSeconds: 200 }
const paid: PaymentRecord = { state: 'paid', finalSeconds: 100, endSeconds: 200 }
const held: RecoveredDeposit = {
  id: 1n,
  isFinal: true,
  isSettled: false,
  isBound: true,
  isRefunded: false,
  refunds: [closed],
}
const stuck: PromiseFacts = { deposits: [held], hasWork: false, fills: [closed] }

describe('a promise is given', () => {
  const given: Readonly<Record<string, PromiseFacts>> = {
    'for a deposit that nobody paid out, with everything closed': stuck,
    'after the ends of what was not closed': {
      ...stuck,
      fills: [past],
      deposits: [{ ...held, refunds: [past] }],
    },
    'for the second deposit of an order whose fill the hub settled': {
      hasWork: false,
      fills: [paid],
      deposits: [
        { ...held, isSettled: true },
        { ...held, id: 2n, isBound: false },
      ],
    },
    'beside a deposit whose refund the hub settled': {
      ...stuck,
      deposits: [
        { ...held, isSettled: true, isRefunded: true, refunds: [paid] },
        { ...held, id: 2n, isBound: false },
      ],
    },
  }
  for (const [name, facts] of Object.entries(given))
    test(`P-70: ${name}`, () => expect(promiseObstacle(facts)).toBeUndefined())
})

describe('no promise is given', () => {
  const other = { ...held, id: 2n, isBound: false }
  const refused: Readonly<Record<string, readonly [PromiseFacts, string]>> = {
    'while a fill or a refund is offered or sent': [{ ...stuck, hasWork: true }, 'WORK_UNDER_WAY'],
    'for an order without a deposit': [{ ...stuck, deposits: [] }, 'NO_DEPOSIT'],
    'while its chain can take a deposit back': [
      { ...stuck, deposits: [{ ...held, isFinal: false }] },
      'DEPOSIT_NOT_FINAL',
    ],
    'while a late deposit is not final': [
      { ...stuck, deposits: [held, { ...other, isFinal: false }] },
      'DEPOSIT_NOT_FINAL',
    ],
    'for a filled order that the hub has not settled': [{ ...stuck, fills: [paid] }, 'PAID_OUT'],
    'for an order that an earlier fill wallet filled': [{ ...stuck, fills: [closed, paid] }, 'PAID_OUT'],
    'for a filled order of which the hub settled another deposit': [
      { ...stuck, fills: [paid], deposits: [held, { ...other, isSettled: true }] },
      'PAID_OUT',
    ],
    'for a deposit that was given back': [
      { ...stuck, deposits: [{ ...held, isRefunded: true }] },
      'PAID_OUT',
    ],
    'for a deposit whose refund the chain shows and nobody reported': [
      { ...stuck, deposits: [{ ...held, refunds: [paid] }] },
      'PAID_OUT',
    ],
    'beside another deposit that was given back': [
      { ...stuck, deposits: [held, { ...other, isRefunded: true }] },
      'PAID_OUT',
    ],
    'while the current fill wallet can fill': [{ ...stuck, fills: [open] }, 'MAY_BE_PAID'],
    'while an earlier fill wallet can fill': [{ ...stuck, fills: [closed, open] }, 'MAY_BE_PAID'],
    'while a signed refund can land': [{ ...stuck, deposits: [{ ...held, refunds: [open] }] }, 'MAY_BE_PAID'],
    'at the very end of a deadline': [{ ...stuck, fills: [{ ...open, finalSeconds: 200 }] }, 'MAY_BE_PAID'],
  }
  for (const [name, [facts, obstacle]] of Object.entries(refused))
    test(`P-70: not ${name}`, () => expect(promiseObstacle(facts)).toBe(obstacle))
})

describe('an operator', () => {
  const deposit = { id: 1n, state: 'refund_due', reason: undefined, hasFailedRefund: true }
  const parked: DecisionFacts = {
    isFilled: false,
    isRecovered: false,
    hasWorkUnderWay: false,
    sweepsToFillWallet: false,
    isRefundable: true,
    deposits: [deposit],
  }
  const cases: readonly (readonly [string, DecisionFacts, boolean])[] = [
    ['gives an order up whose refund failed', parked, true],
    ['gives the second deposit of a filled order up', { ...parked, isFilled: true }, true],
    [
      'gives no filled order up',
      { ...parked, isFilled: true, deposits: [{ ...deposit, hasFailedRefund: false }] },
      false,
    ],
    ['gives no order up twice', { ...parked, isRecovered: true }, false],
    ['gives none up while something is sent', { ...parked, hasWorkUnderWay: true }, false],
    [
      'gives none up whose money the fill wallet swept to itself',
      { ...parked, sweepsToFillWallet: true },
      false,
    ],
    [
      'gives one up whose money the fill wallet swept, where nobody holds the account of its refund',
      { ...parked, sweepsToFillWallet: true, isRefundable: false },
      true,
    ],
    [
      'gives none up whose deposits were all given back',
      { ...parked, deposits: [{ ...deposit, state: 'refunded' }] },
      false,
    ],
    [
      'gives none up of which a deposit went back in another currency',
      {
        ...parked,
        deposits: [deposit, { ...deposit, id: 2n, state: 'refunded', reason: 'INCORRECT_DEPOSIT_CURRENCY' }],
      },
      false,
    ],
  ]
  for (const [name, facts, expected] of cases)
    test(`Q-71: ${name}`, () => expect(mayRecover(facts)).toBe(expected))

  test('Q-71: has those deposits recovered that nobody gave back or was filled for', () => {
    const refunded = { ...deposit, id: 2n, state: 'refunded' }
    const bound = { ...deposit, id: 3n, state: 'taken', hasFailedRefund: false }
    const deposits = [deposit, refunded, bound]
    expect(recoveredDeposits({ ...parked, deposits })).toEqual([1n, 3n])
    expect(recoveredDeposits({ ...parked, deposits, isFilled: true })).toEqual([1n])
  })
})
