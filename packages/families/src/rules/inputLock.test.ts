// Goal: nobody signs steps of a deposit that his own account cannot pay, and nobody else is kept from paying it.
import { expect, test } from 'vitest'
import { InputLockedError, refuseLocked } from './inputLock.ts'

const frozen = { why: 'has a frozen account of the token', isForCalls: false }
const guarded = { why: 'guards its account of the token against calls', isForCalls: true }
const transactions = [
  { kind: 'approve', isNative: false },
  { kind: 'deposit', isNative: false },
] as const

test.each([
  ['deposit', frozen, true],
  ['deposit', guarded, true],
  ['send', frozen, true],
  ['send', guarded, false],
  ['pay-address', frozen, false],
  ['deposit', undefined, false],
] as const)('F-99: %s of a user whose lock is %j is refused: %s', (by, lock, isRefused) => {
  const planned = refuseLocked(transactions, { by, amountIn: 7n }, lock)
  expect(planned.map(({ kind }) => kind)).toEqual(['approve', 'deposit'])
  for (const { refusal } of planned) expect(refusal instanceof InputLockedError).toBe(isRefused)
})

test('F-99: the refusal has the reason, and what is available', () => {
  const [planned] = refuseLocked(transactions, { by: 'deposit', amountIn: 7n }, frozen)
  expect(planned?.refusal?.message).toContain('user has a frozen account of the token')
  expect(planned?.refusal?.data).toEqual({ field: 'user', availableAmount: '0', neededAmount: '7' })
  expect([planned?.refusal?.code, planned?.refusal?.kind]).toEqual(['INSUFFICIENT_FUNDS', 'invalid_request'])
})
