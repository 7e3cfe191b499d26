import { formatAmount } from '@causeway/core'
import type { AccountLack, NetworkFees } from '@causeway/families/rules'
import { type AnswersOf, gather } from '../answers.ts'
import { QuoteError } from '../errors.ts'
import type { QuotableCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import { lackRefusal, type PayeePorts } from '../routes/mayBePaid.ts'
import type { Route } from '../routes/route.ts'

/** Account state that the recipient lacks for the output and a gas top-up; undefined if his chain does not tell. */
export function recipientLack(
  answers: AnswersOf<Pick<PayeePorts, 'lackOf'>>,
  { destination, currencyOut, recipient }: Route,
  { topupGas }: Pick<QuoteRequest, 'topupGas'>,
): AccountLack | undefined {
  const lackIn = ({ address: currency }: Pick<QuotableCurrency, 'address'>) =>
    answers.lackOf({ chainId: destination.chainId, account: recipient, currency })
  if (!topupGas) return lackIn(currencyOut)
  const [output, topup] = gather(
    () => lackIn(currencyOut),
    () => lackIn(destination.native),
  )
  return output && topup && { ...output, ...topup }
}

/**
 * Refuses a native payment that is too low for its network to keep it in an account that does not exist yet.
 * @throws QuoteError AMOUNT_TOO_LOW
 * @source rule F-144
 */
export function checkLeastPayment(
  fees: NetworkFees,
  paid: {
    readonly lack: AccountLack
    readonly currency: Pick<QuotableCurrency, 'isNative' | 'symbol' | 'decimals'>
    readonly amount: bigint
    /** The member of the request that sets the amount, where it is not `amount`. */
    readonly field?: string
  },
): void {
  const least = paid.currency.isNative ? fees.leastPayment(paid.lack) : 0n
  if (paid.amount >= least) return
  const { symbol, decimals } = paid.currency
  throw new QuoteError(
    'AMOUNT_TOO_LOW',
    `The recipient would keep no payment of less than ${formatAmount(least, decimals)} ${symbol}.`,
    paid.field === undefined ? {} : { data: { field: paid.field } },
  )
}

/**
 * The recipient's lack, if it is known and allows the payment.
 * @throws QuoteError SERVICE_UNAVAILABLE, retryable, where it is unknown, because rent is never guessed;
 * INVALID_RECIPIENT where nobody could make the payment, or prove it
 */
export function requireLack(
  lack: AccountLack | undefined,
  { destination, recipient }: Pick<Route, 'destination' | 'recipient'>,
): AccountLack {
  // `currency` is only named, in the refusal of an account whose native balance cannot be counted.
  // `makesState`: the user pays for what the fill makes, so a missing account is no refusal.
  const refusal =
    lack && lackRefusal(lack, { chain: destination, currency: destination.native, makesState: true })
  const { chainId } = destination
  if (refusal !== undefined)
    throw new QuoteError('INVALID_RECIPIENT', `recipient ${refusal}.`, {
      data: { field: 'recipient', chainId, recipient },
    })
  if (lack !== undefined) return lack
  throw new QuoteError('SERVICE_UNAVAILABLE', `Chain ${chainId} does not say what the recipient has.`, {
    data: { chainId, reason: 'recipient_unknown' },
  })
}
