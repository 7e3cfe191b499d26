import { QuoteError } from './errors.ts'
import type { KnowsLack } from './feeTerms.ts'
import type { LegPlan } from './legs.ts'
import type { PricedRoute } from './pricedRoute.ts'
import type { QuotableChain, QuotableCurrency } from './registry.ts'
import { type QuoteRequest, refundRecipient } from './request.ts'
import type { Route } from './route.ts'

/** What is known of accounts; `undefined` where it is not known in time. */
export type KnowsCode = (asked: {
  readonly chainId: number
  readonly account: string
}) => Promise<boolean | undefined>

/** A payment to an account that may be no wallet. */
type WalletPayment = {
  readonly what: 'output' | 'topup' | 'refund'
  /** The member of the request that names the account. */
  readonly field: 'recipient' | 'refundTo' | 'user'
  readonly chain: QuotableChain
  readonly account: string
  readonly currency: QuotableCurrency
}

/**
 * Refuses payments to accounts with code in families where nothing reaches them. Asks at once; what it returns is called
 * when the route is priced. What is not known in time is let through: the solver looks again before it pays.
 * @returns throws QuoteError RECIPIENT_HAS_CODE
 */
export function checkPaidWallets(
  hasCode: KnowsCode,
  asked: { readonly route: Route; readonly request: QuoteRequest; readonly plans: readonly LegPlan[] },
): (priced: PricedRoute) => Promise<void> {
  const looks = walletPayments(asked).map((payment) => ({
    payment,
    answer: hasCode({ chainId: payment.chain.chainId, account: payment.account }),
  }))
  return async (priced) => {
    for (const { payment, answer } of looks) {
      if (isPaid(payment, priced) && (await answer) === true) throw recipientHasCode(payment)
    }
  }
}

/**
 * Refuses a refund recipient who lacks what a refund in the currency of the deposit needs. It makes no state, such as a
 * token account, because nobody was charged for it, so it would fail; the user has it while he has what he deposits.
 * And nobody could prove coin for an account that holds more than can be counted. Asks at once, with the other
 * questions of the moment; what is not known in time is let through, and the solver looks again.
 * @returns throws QuoteError INVALID_RECIPIENT
 */
export function checkRefundable(
  lackOf: KnowsLack,
  { route, request, plans }: Parameters<typeof checkPaidWallets>[1],
): (priced: PricedRoute) => Promise<void> {
  const { origin, user } = route
  const { chainId } = origin
  const account = refundRecipient(request, origin, user)
  const currencies = new Set(plans.map(({ feeCurrency }) => feeCurrency))
  const looks = [...currencies]
    .filter(({ isNative }) => isNative || account !== user)
    .map(({ address }) => ({ address, answer: lackOf({ chainId, account, currency: address }) }))
  return async ({ solver, feeCurrency }) => {
    const look = looks.find(({ address }) => address === feeCurrency.address)
    const lack = solver === undefined ? undefined : await look?.answer
    const data = { field: 'refundTo', chainId, recipient: account }
    if (lack?.isUnpayable === true)
      throw new QuoteError(
        'INVALID_RECIPIENT',
        `Refunds go to ${account}, which is no account of chain ${chainId}: name another refundTo.`,
        { data },
      )
    if (lack?.isUncountable === true)
      throw new QuoteError(
        'INVALID_RECIPIENT',
        `Refunds go to ${account}, which holds more ${feeCurrency.symbol} than can be counted exactly: name another refundTo.`,
        { data },
      )
    // Who deposits has an account by then.
    if (account !== user && (lack?.accountFee ?? 0n) > 0n)
      throw new QuoteError(
        'INVALID_RECIPIENT',
        `Refunds go to ${account}, which has no account on chain ${chainId} yet: its first payment takes a fee that nobody is charged for refunds. Name a refundTo that has one, as user does.`,
        { data: { ...data, refundToInstead: user } },
      )
    if ((lack?.stateBytes ?? 0) > 0)
      throw new QuoteError(
        'INVALID_RECIPIENT',
        `Refunds go to ${account}, which has no account of ${feeCurrency.symbol} on chain ${chainId}: make it first, or name a refundTo that has it, as user has.`,
        { data: { ...data, refundToInstead: user } },
      )
  }
}

/** Payments of families that pay wallets only, whichever plan is taken. */
function walletPayments({
  route,
  request,
  plans,
}: Parameters<typeof checkPaidWallets>[1]): readonly WalletPayment[] {
  const { origin, destination, currencyOut, recipient, user } = route
  const field = request.recipient === undefined ? 'user' : 'recipient'
  const toRecipient = (what: 'output' | 'topup', currency: QuotableCurrency): WalletPayment => {
    return { what, field, chain: destination, account: recipient, currency }
  }
  const account = refundRecipient(request, origin, user)
  const [first] = plans
  const found: readonly WalletPayment[] = [
    toRecipient('output', currencyOut),
    ...(request.topupGas ? [toRecipient('topup', destination.native)] : []),
    ...(first === undefined
      ? []
      : [
          { what: 'refund', field: 'refundTo', chain: origin, account, currency: first.feeCurrency } as const,
        ]),
  ]
  return found.filter(({ chain }) => !chain.quoting.paysTokensToCode)
}

/** Whether the plan that was taken pays it. */
function isPaid({ what }: WalletPayment, priced: PricedRoute): boolean {
  switch (what) {
    case 'output':
      return priced.amountOut > 0n
    case 'topup':
      return priced.solver?.topup !== undefined
    case 'refund':
      return priced.solver !== undefined
  }
}

function recipientHasCode({ what, field, chain, account, currency }: WalletPayment): QuoteError {
  const { chainId } = chain
  return new QuoteError(
    'RECIPIENT_HAS_CODE',
    `${account} is no wallet on chain ${chainId}: ${currency.symbol} is paid to wallets only.`,
    { data: { field, chainId, recipient: account, payment: what } },
  )
}
