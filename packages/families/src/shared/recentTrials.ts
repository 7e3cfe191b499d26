import type { MaybePromise } from '@causeway/core'
import type { PaymentTrial, TriedPayment } from './quotingChain.ts'
import { createRecent, recentMs } from './recent.ts'

/**
 * A cache of trials of payments. A token judges the account alone, so one answer serves all amounts; code may accept
 * some amounts of coin and refuse others.
 * @param now milliseconds
 * @returns a function that takes a payment of a token or of coin, and the trial, which must not reject
 * @source Q-62
 */
export function createRecentTrials(now: () => number) {
  // A trial without units ended early, for want of funds, and says little.
  const isAccepted = ({ refusal, units }: PaymentTrial) => refusal === undefined && units !== undefined
  const ofTokens = createRecent<PaymentTrial>(now, {
    forMs: (trial) => (isAccepted(trial) ? recentMs.accepted : recentMs.steady),
  })
  const ofCoin = createRecent<PaymentTrial>(now, { forMs: () => recentMs.steady })
  return (
    { account, currency, amount }: TriedPayment,
    { isToken, run }: { readonly isToken: boolean; readonly run: () => Promise<PaymentTrial | undefined> },
  ): MaybePromise<PaymentTrial | undefined> =>
    isToken ? ofTokens(`${account} ${currency}`, run) : ofCoin(`${account} ${amount}`, run)
}
