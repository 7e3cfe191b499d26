import { type MaybePromise, UpstreamUnavailableError } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import type { PaymentTrial, TriedPayment } from '../../shared/quotingChain.ts'
import { createRecentTrials } from '../../shared/recentTrials.ts'
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
 * Simulates for a quote the payment that the fill wallet would send, by agreement of endpoints, to see whether the
 * recipient accepts it. Native coin to an account without code always arrives, so nothing is simulated. The solver's
 * own trial before it pays is `tryTransaction`: that finds a gas limit, in a second round trip, and assumes no funds.
 * @returns a function that never rejects; undefined if enough endpoints do not agree in time
 * @source Q-62; rule P-46
 */
export function createPaymentTrials({ code, fills, now, onFailure }: PaymentTrialOptions) {
  const recent = createRecentTrials(now)

  async function run({ fill }: TriedPayment): Promise<PaymentTrial | undefined> {
    try {
      return { refusal: undefined, units: await fills.gasOfFill(fill()) }
    } catch (error) {
      if (error instanceof DestinationCallFailedError) return { refusal: String(error.data?.['reason']) }
      // The fill wallet has too little of the token, and its funds cannot be simulated: no evidence against the
      // recipient.
      const isShort =
        error instanceof UpstreamUnavailableError && error.cause instanceof DestinationCallFailedError
      if (isShort) return acceptedTrial
      onFailure(error)
      return undefined
    }
  }

  return (
    payment: TriedPayment,
    budget: { readonly budgetMs: number },
  ): MaybePromise<PaymentTrial | undefined> => {
    if (payment.currency !== ethereumCodec.nativeCurrency)
      return recent(payment, { isToken: true, run: () => run(payment) })
    const tryCode = (hasCode: boolean | undefined) => {
      if (hasCode === undefined) return undefined
      return hasCode ? recent(payment, { isToken: false, run: () => run(payment) }) : acceptedTrial
    }
    const hasCode = code.hasCode(payment.account, budget)
    return hasCode instanceof Promise ? hasCode.then(tryCode) : tryCode(hasCode)
  }
}
