import type { AccountLack } from '@causeway/core'
import { QuoteError } from './errors.ts'
import type { Route } from './route.ts'

/**
 * What an account lacks before it can be paid in a currency of its chain; `undefined` where that is not known in
 * time. Never rejects and never takes longer than its own budget.
 */
export type KnowsLack = (asked: {
  readonly chainId: number
  readonly account: string
  readonly currency: string
}) => Promise<AccountLack | undefined>

/** What the recipient of a route lacks, as far as his chain says. */
export function recipientLack(
  lackOf: KnowsLack,
  { destination, currencyOut, recipient }: Route,
): Promise<AccountLack | undefined> {
  return lackOf({ chainId: destination.chainId, account: recipient, currency: currencyOut.address })
}

/** @throws QuoteError SERVICE_UNAVAILABLE, retryable: rent is never a guess */
export function requireLack(
  lack: AccountLack | undefined,
  { destination: { chainId } }: Pick<Route, 'destination'>,
): AccountLack {
  if (lack !== undefined) return lack
  throw new QuoteError('SERVICE_UNAVAILABLE', `Chain ${chainId} does not say what the recipient has.`, {
    data: { chainId, reason: 'recipient_unknown' },
  })
}
