// Goal: every payment to a deposit address has a defined end. Method: the rule as a table.
import { describe, expect, test } from 'vitest'
import {
  type Arrival,
  type ArrivalStep,
  arrivalStep,
  judgedHeight,
  type NewestQuote,
  whenRefused,
} from './arrivalStep.ts'

const usdc = `0x${'dc'.repeat(20)}` as const
const tide = `0x${'7d'.repeat(20)}` as const
const nowSeconds = 1_000_000
const coin = `0x${'0'.repeat(40)}` as const
const quote: NewestQuote = {
  isStrict: false,
  amount: 10_000n,
  isWaiting: true,
  expiresAtSeconds: nowSeconds + 60,
  deadlineSeconds: nowSeconds + 3_600,
  leadSeconds: 120,
  refund: { inputAmount: 10_000n, refundMinimum: 9_900n },
  failedSwaps: undefined,
}
const paid = (amount: bigint): Arrival => ({ amount, others: [] })
const other = (isWorthRefund: boolean, currency: `0x${string}` = usdc) => ({ currency, isWorthRefund })
const left = { action: 'leave', reason: 'AMOUNT_TOO_LOW_TO_REFUND' } as const

describe('what arrived', () => {
  test.each<[string, Arrival, Partial<NewestQuote>, ArrivalStep]>([
    ['nothing', paid(0n), {}, { action: 'wait' }],
    ['the quoted amount', paid(10_000n), {}, { action: 'sweep' }],
    ['too little', paid(9_999n), {}, { action: 'requote', amount: 9_999n }],
    ['the quoted amount and dust', paid(10_100n), {}, { action: 'sweep' }],
    ['too much', paid(10_101n), {}, { action: 'requote', amount: 10_101n }],
    ['the amount a second time', paid(10_000n), { isWaiting: false }, { action: 'requote', amount: 10_000n }],
    [
      'the amount nine seconds before its price ends',
      paid(10_000n),
      { expiresAtSeconds: nowSeconds + 9 },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'the amount after its price, long before the deadline',
      paid(10_000n),
      { expiresAtSeconds: nowSeconds - 1 },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'the amount ten seconds before its price ends',
      paid(10_000n),
      { expiresAtSeconds: nowSeconds + 10 },
      { action: 'sweep' },
    ],
    [
      'the amount shortly before the deadline',
      paid(10_000n),
      { deadlineSeconds: nowSeconds + 120 },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'the amount after the deadline',
      paid(10_000n),
      { deadlineSeconds: nowSeconds - 1 },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'a token that is worth its refund',
      { amount: 0n, others: [other(false, tide), other(true)] },
      {},
      { action: 'sweep', other: usdc },
    ],
    ['a token that is not', { amount: 0n, others: [other(false)] }, {}, left],
    [
      'native coin at an address of a token: it goes back like any other currency',
      { amount: 0n, others: [other(true, coin)] },
      {},
      { action: 'sweep', other: coin },
    ],
    [
      'what was asked for beside another currency: that first',
      { amount: 10_000n, others: [other(true)] },
      {},
      { action: 'sweep' },
    ],
    [
      'what was asked for beside dust of a stranger in every other currency',
      { amount: 10_000n, others: [other(false, coin), other(false, tide)] },
      {},
      { action: 'sweep' },
    ],
  ])('Q-209: %s', (_what, arrival, change, step) => {
    expect(arrivalStep({ arrival, quote: { ...quote, ...change }, nowSeconds })).toEqual(step)
  })

  test('one second more than the lead is in time', () => {
    const late = { ...quote, deadlineSeconds: nowSeconds + 121 }
    expect(arrivalStep({ arrival: paid(10_000n), quote: late, nowSeconds })).toEqual({ action: 'sweep' })
  })
})

describe('what cannot be quoted', () => {
  test.each<[string, Arrival, ArrivalStep]>([
    ['goes back when it is more than the gas of that', paid(101n), { action: 'sweep' }],
    ['stays when it is not', paid(100n), left],
    [
      'goes along with a token that is worth its refund',
      { amount: 1n, others: [other(true)] },
      { action: 'sweep', other: usdc },
    ],
    ['stays beside a token that is not', { amount: 1n, others: [other(false)] }, left],
  ])('%s', (_what, arrival, step) => {
    expect(whenRefused(arrival, quote)).toEqual(step)
  })
})

// Attackers: a stranger who spends the only use of another user's address with dust, and a payer who waits until the
// price has moved before he pays.
describe('an address of one use', () => {
  const strict = { ...quote, isStrict: true }
  test.each<[string, Arrival, Partial<NewestQuote>, ArrivalStep]>([
    ['the quoted amount', paid(10_000n), {}, { action: 'sweep' }],
    ['too little is never quoted anew: its order refunds it', paid(9_999n), {}, { action: 'sweep' }],
    ['too much is never quoted anew: its order gives back the rest', paid(20_000n), {}, { action: 'sweep' }],
    ['the amount after its price', paid(10_000n), { expiresAtSeconds: nowSeconds - 1 }, { action: 'sweep' }],
    [
      'the amount after the deadline',
      paid(10_000n),
      { deadlineSeconds: nowSeconds - 1 },
      { action: 'sweep' },
    ],
    ['a second payment', paid(10_000n), { isWaiting: false }, { action: 'sweep' }],
    ['dust of a stranger before it is paid', paid(100n), {}, left],
    [
      'dust beside a token that is worth its refund',
      { amount: 100n, others: [other(true)] },
      {},
      { action: 'sweep', other: usdc },
    ],
    [
      'the quoted amount where a refund would cost more than that',
      paid(10_000n),
      { refund: { inputAmount: 10_000n, refundMinimum: 0n } },
      { action: 'sweep' },
    ],
    ['nothing', paid(0n), {}, { action: 'wait' }],
  ])('Q-210: %s', (_what, arrival, change, step) => {
    expect(arrivalStep({ arrival, quote: { ...strict, ...change }, nowSeconds })).toEqual(step)
  })
})

// Attacker: a manipulator of a pool, who makes a payment come back at the solver's cost, or stay for ever.
describe('what is swapped before its deposit', () => {
  test.each<[string, Partial<NewestQuote>, ArrivalStep]>([
    ['as quoted', { failedSwaps: 0 }, { action: 'sweep' }],
    ['once that failed is quoted anew', { failedSwaps: 1 }, { action: 'requote', amount: 10_000n }],
    ['twice failed as well', { failedSwaps: 2 }, { action: 'requote', amount: 10_000n }],
    ['three times failed goes back', { failedSwaps: 3 }, { action: 'withdraw' }],
    ['of one use is tried again', { failedSwaps: 2, isStrict: true }, { action: 'sweep' }],
    ['of one use goes back after three', { failedSwaps: 3, isStrict: true }, { action: 'withdraw' }],
    [
      'and is not worth its gas stays',
      { failedSwaps: 3, refund: { inputAmount: 10_000n, refundMinimum: 0n } },
      left,
    ],
  ])('Q-215: %s', (_what, change, step) => {
    expect(arrivalStep({ arrival: paid(10_000n), quote: { ...quote, ...change }, nowSeconds })).toEqual(step)
  })
})

test.each<[string, bigint, bigint | undefined, bigint]>([
  ['one block was not read yet: no look waits for it', 100n, 99n, 99n],
  ['all blocks were read', 100n, 100n, 100n],
  ['the chain became shorter', 98n, 100n, 98n],
  ['as far behind as nodes keep what was there', 164n, 100n, 100n],
  ['farther behind', 165n, 100n, 165n],
  ['no block was read yet', 100n, undefined, 100n],
])('addresses are judged at the newest block whose payments were read: %s', (_what, head, scannedTo, at) => {
  expect(judgedHeight(head, scannedTo)).toBe(at)
})
