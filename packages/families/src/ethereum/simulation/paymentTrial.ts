import { UpstreamUnavailableError } from '@causeway/core'
import type { PaymentTrial, TriedPayment } from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import type { AccountCodeReader } from './accountCode.ts'
import type { FillSimulator } from './fillSimulation.ts'
import { DestinationCallFailedError } from './simulationErrors.ts'

export type PaymentTrialOptions = {
  readonly code: AccountCodeReader
  readonly fills: FillSimulator
  /** Milliseconds. */
  readonly now: () => number
  readonly onFailure: (error: unknown) => void
}

const acceptedTrial: PaymentTrial = { refusal: undefined }

/**
 * Has enough endpoints run a payment as the fill wallet would send it: with its value and its price. Native coin to an
 * account without code arrives, so nobody is asked. A token's own list looks at who is paid and not at how much, so
 * that one answer serves all amounts for a while. The payer's own trial (`tryTransaction`) is another one: it finds a gas
 * limit, which takes a second round trip, and lends the wallet nothing, which a quote must.
 * @returns never rejects; undefined where enough endpoints do not say the same in time
 * @source Q-62; rule P-46
 */
export function createPaymentTrials({ code, fills, now, onFailure }: PaymentTrialOptions) {
  const recent = createRecent<PaymentTrial>(now, { forMs: recentMs.steady })

  async function run({ fill }: TriedPayment): Promise<PaymentTrial | undefined> {
    try {
      return { refusal: undefined, units: await fills.gasOfFill(fill) }
    } catch (error) {
      if (error instanceof DestinationCallFailedError) return { refusal: String(error.data?.['reason']) }
      // The fill wallet has too little of the token, and none can be lent to it: that says nothing of who is paid.
      const isShort =
        error instanceof UpstreamUnavailableError && error.cause instanceof DestinationCallFailedError
      if (isShort) return acceptedTrial
      onFailure(error)
      return undefined
    }
  }

  return async (payment: TriedPayment, budget: { readonly budgetMs: number }) => {
    const { account, currency, amount, fill } = payment
    const isToken = fill.token !== undefined
    const hasCode = isToken || (await code.hasCode(account, budget))
    if (hasCode === undefined) return undefined
    return hasCode
      ? recent(`${account} ${currency} ${isToken ? '' : amount}`, () => run(payment))
      : acceptedTrial
  }
}
