// Goal: a reported sweep ends by what its chain shows, and one that never shows is given up in time.
// Method: the rule as a table.
import { expect, test } from 'vitest'
import { sweepOutcome } from './followSweeps.ts'

const orderId = `0x${'0d'.repeat(32)}` as const
const deposit = { depository: `0x${'d0'.repeat(20)}`, orderId, depositor: `0x${'11'.repeat(20)}` } as const
const deadline = 1_000
const facts = (depositId: `0x${string}`) => ({
  deposits: [
    {
      depositId,
      depositor: deposit.depositor,
      depository: deposit.depository,
      currency: '',
      amount: 1n,
      onchainIndex: '0',
    },
  ],
})

test.each([
  ['a deposit for the order', facts(orderId), deadline + 9_999, 'done'],
  ['a deposit for another order', facts(`0x${'0e'.repeat(32)}`), 0, 'no_sweep'],
  ['no deposit at all', { deposits: [] }, 0, 'no_sweep'],
  ['nothing yet', undefined, deadline + 59, 'wait'],
  ['nothing a minute after the deadline', undefined, deadline + 60, 'not_included'],
])('%s', (_what, seen, now, end) => {
  expect(sweepOutcome({ deposit, deadline }, seen, now)).toBe(end)
})
