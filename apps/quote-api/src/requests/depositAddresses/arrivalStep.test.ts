// Goal: every payment to a deposit address has a defined end. Method: the rule as a table.
import { describe, expect, test } from 'vitest'
import { type Arrival, type ArrivalStep, arrivalStep, type NewestQuote, whenRefused } from './arrivalStep.ts'

const usdc = `0x${'dc'.repeat(20)}` as const
const tide = `0x${'7d'.repeat(20)}` as const
const nowSeconds = 1_000_000
const quote: NewestQuote = {
  amount: 10_000n,
  isWaiting: true,
  expiresAtSeconds: nowSeconds + 60,
  deadlineSeconds: nowSeconds + 3_600,
  refund: { inputAmount: 10_000n, refundMinimum: 9_900n },
}
const native = (nativeAmount: bigint): Arrival => ({ nativeAmount, tokens: [] })
const token = (isWorthRefund: boolean, currency = usdc) => ({ currency, amount: 5n, isWorthRefund })
const left = { action: 'leave', reason: 'AMOUNT_TOO_LOW_TO_REFUND' } as const

describe('what arrived', () => {
  test.each<[string, Arrival, Partial<NewestQuote>, ArrivalStep]>([
    ['nothing', native(0n), {}, { action: 'wait' }],
    ['the quoted amount', native(10_000n), {}, { action: 'sweep' }],
    ['too little', native(9_999n), {}, { action: 'requote', amount: 9_999n }],
    ['the quoted amount and dust', native(10_100n), {}, { action: 'sweep' }],
    ['too much', native(10_101n), {}, { action: 'requote', amount: 10_101n }],
    [
      'the amount a second time',
      native(10_000n),
      { isWaiting: false },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'the amount nine seconds before its price ends',
      native(10_000n),
      { expiresAtSeconds: nowSeconds + 9 },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'the amount after its price, long before the deadline',
      native(10_000n),
      { expiresAtSeconds: nowSeconds - 1 },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'the amount ten seconds before its price ends',
      native(10_000n),
      { expiresAtSeconds: nowSeconds + 10 },
      { action: 'sweep' },
    ],
    [
      'the amount shortly before the deadline',
      native(10_000n),
      { deadlineSeconds: nowSeconds + 120 },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'the amount after the deadline',
      native(10_000n),
      { deadlineSeconds: nowSeconds - 1 },
      { action: 'requote', amount: 10_000n },
    ],
    [
      'a token that is worth its refund',
      { nativeAmount: 0n, tokens: [token(false, tide), token(true)] },
      {},
      { action: 'sweep', token: usdc },
    ],
    ['a token that is not', { nativeAmount: 0n, tokens: [token(false)] }, {}, left],
    [
      'native coin beside a token: the coin first',
      { nativeAmount: 10_000n, tokens: [token(true)] },
      {},
      { action: 'sweep' },
    ],
  ])('%s', (_what, arrival, change, step) => {
    expect(arrivalStep({ arrival, quote: { ...quote, ...change }, nowSeconds })).toEqual(step)
  })

  test('one second more than the lead is in time', () => {
    const late = { ...quote, deadlineSeconds: nowSeconds + 121 }
    expect(arrivalStep({ arrival: native(10_000n), quote: late, nowSeconds })).toEqual({ action: 'sweep' })
  })
})

describe('what cannot be quoted', () => {
  test.each<[string, Arrival, ArrivalStep]>([
    ['goes back when it is more than the gas of that', native(101n), { action: 'sweep' }],
    ['stays when it is not', native(100n), left],
    [
      'goes along with a token that is worth its refund',
      { nativeAmount: 1n, tokens: [token(true)] },
      { action: 'sweep', token: usdc },
    ],
    ['stays beside a token that is not', { nativeAmount: 1n, tokens: [token(false)] }, left],
  ])('%s', (_what, arrival, step) => {
    expect(whenRefused(arrival, quote)).toEqual(step)
  })
})
