// Goal: a page that renews its quote asks no chain again, and no refused account stays refused. Adversary: a recipient
// whose code takes some amounts and refuses others, and an issuer that blocks an account between two quotes.
import { expect, test } from 'vitest'
import type { PaymentTrial } from './quotingChain.ts'
import { recentMs } from './recent.ts'
import { createRecentTrials } from './recentTrials.ts'

const payment = { account: 'A', currency: 'T', amount: 5n, fill: () => ({}) as never }

/** Trials that were run for a payment of 5, then, at the end of `ms` milliseconds, for one of `amount`. */
async function runs(
  trial: PaymentTrial,
  { isToken, ms, amount }: Record<'ms' | 'amount', number> & { isToken: boolean },
) {
  let nowMs = 0
  let count = 0
  const trials = createRecentTrials(() => nowMs)
  const run = async () => {
    count += 1
    return trial
  }
  await trials(payment, { isToken, run })
  nowMs = ms
  expect(await trials({ ...payment, amount: BigInt(amount) }, { isToken, run })).toBe(trial)
  return count
}

const accepted = { refusal: undefined, units: 90_000n }
const short = { refusal: undefined }
const refused = { refusal: 'blocked' }

test.each<[string, PaymentTrial, boolean, number]>([
  ['a token that took the account', accepted, true, recentMs.accepted],
  ['a token that refused it', refused, true, recentMs.steady],
  ['a token of which the payer had too little', short, true, recentMs.steady],
  ['coin that code took', accepted, false, recentMs.steady],
])('Q-62: the trial of %s counts for its time', async (_trial, trial, isToken, forMs) => {
  expect(await runs(trial, { isToken, ms: forMs - 1, amount: 5 })).toBe(1)
  expect(await runs(trial, { isToken, ms: forMs, amount: 5 })).toBe(2)
})

test.each<[string, boolean, number]>([
  ['a token judges the account alone', true, 1],
  ['code judges an amount of coin', false, 2],
])('Q-62: %s', async (_rule, isToken, count) => {
  expect(await runs(accepted, { isToken, ms: 0, amount: 6 })).toBe(count)
})
