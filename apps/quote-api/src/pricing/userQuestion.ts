import type { LegPlan } from './legs/legs.ts'
import { type PricedRoute, wayOfRoute } from './pricedRoute.ts'
import type { PricingDependencies } from './pricingDependencies.ts'
import type { QuoteRequest } from './request.ts'
import { permitKindOf } from './routes/permit.ts'
import type { Route } from './routes/route.ts'

/** The question to the origin about the user, asked by `userFacts` before the route is priced. */
export type UserQuestion = ReturnType<typeof userQuestion>

/** Asks for the input's balance and allowance, and for all holdings that the user's transactions write. */
export function userQuestion(route: Route, plans: readonly LegPlan[], request: QuoteRequest) {
  const { origin, currencyIn, currencyOut, user, recipient } = route
  const by = wayOfRoute(route, { isSolved: !route.selfExecuted }, request)
  const deposited = [...new Set(plans.map(({ feeCurrency }) => feeCurrency))]
  const feePayer = request.depositFeePayer ?? user
  return {
    chainId: origin.chainId,
    user,
    currency: currencyIn.address,
    spender: spenderOf(route, plans, request),
    // Unknown where any wallet may pay a deposit address, or before a wallet is connected.
    feePayer: request.useDepositAddress || !isHeld(origin, feePayer) ? undefined : feePayer,
    touched: origin.quoting.touched({ user, recipient, by, currencyOut, deposited }),
  }
}

/** Contract that the user must allow to take the input; undefined where nothing needs an allowance. */
function spenderOf(
  route: Route,
  plans: readonly Pick<LegPlan, 'origin'>[],
  request: Pick<QuoteRequest, 'explicitDeposit' | 'usePermit' | 'useDepositAddress'>,
): string | undefined {
  const { origin, currencyIn, operation } = route
  if (request.useDepositAddress) return undefined
  if (request.usePermit)
    return permitKindOf(origin, currencyIn) === 'permit2'
      ? origin.quoting.spenderOf('permit2', currencyIn)
      : undefined
  if (route.selfExecuted)
    return operation === 'swap' ? origin.quoting.spenderOf('swap', currencyIn) : undefined
  // Either all plans of a route swap on the origin or none does.
  if (plans.some((plan) => plan.origin !== undefined))
    return origin.quoting.spenderOf('swap-deposit', currencyIn)
  return request.explicitDeposit ? origin.quoting.spenderOf('deposit', currencyIn) : undefined
}

/** False for a placeholder that pages send before a wallet is connected, and for an account that nobody holds. */
export const isHeld = ({ quoting, payees }: Route['origin'], user: string): boolean =>
  !quoting.isNobody(user) && !payees.isBurnt(user)

/**
 * Counts the allowance that this quote spends, where the quote needs one.
 * @param allowance on the chain now; undefined where it did not answer in time
 * @returns the part of the allowance that other open quotes of the user may take
 * @source Q-53
 */
export function takeAllowance(
  { openSpending }: Pick<PricingDependencies, 'openSpending'>,
  { route, amountInMax }: Pick<PricedRoute, 'route' | 'amountInMax'>,
  { tradeType, amount }: Pick<QuoteRequest, 'tradeType' | 'amount'>,
  { chainId, user, currency, spender }: UserQuestion,
  allowance: bigint | undefined,
): bigint {
  if (openSpending === undefined || spender === undefined || !isHeld(route.origin, user)) return 0n
  const { origin, currencyOut, recipient } = route
  const purchase = [currencyOut.chainId, currencyOut.address, recipient, tradeType, amount].join(' ')
  const holder = origin.codec.canonicalAddress(user)
  return openSpending({ chainId, currency, spender, user: holder, purchase, amount: amountInMax, allowance })
}
