import { deliveryOf } from './destinationCalls.ts'
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

/** A payment that nobody proves, or nobody gets, where the account has code. */
type UntracedPayment = {
  readonly what: 'output' | 'topup' | 'refund'
  /** The member of the request that names the account. */
  readonly field: 'recipient' | 'refundTo' | 'user'
  readonly chain: QuotableChain
  readonly account: string
  readonly currency: QuotableCurrency
}

/**
 * Refuses what no oracle would attest once it is paid: native coin to an account with code, an EIP-7702 delegation
 * included, on a chain that is not traced; and anything to one where tokens do not reach code. Asks at once; what it returns is called when the route is priced. What
 * is not known in time is let through: it is looked at again before the solver is asked to pay.
 * @returns throws QuoteError RECIPIENT_HAS_CODE
 * @source design.md 5.4, 7.2
 */
export function checkProvenPayments(
  hasCode: KnowsCode,
  asked: { readonly route: Route; readonly request: QuoteRequest; readonly plans: readonly LegPlan[] },
): (priced: PricedRoute) => Promise<void> {
  const looks = untracedPayments(asked).map((payment) => ({
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
  { route, request, plans }: Parameters<typeof checkProvenPayments>[1],
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

/** What may be paid so, whichever plan is taken. */
function untracedPayments({
  route,
  request,
  plans,
}: Parameters<typeof checkProvenPayments>[1]): readonly UntracedPayment[] {
  const { origin, destination, currencyOut, recipient, user } = route
  const { calls } = deliveryOf(route, request)
  const field = request.recipient === undefined ? 'user' : 'recipient'
  const toRecipient = (what: 'output' | 'topup', currency: QuotableCurrency): UntracedPayment => {
    return { what, field, chain: destination, account: recipient, currency }
  }
  const found: UntracedPayment[] = []
  // What a clone was paid is proven by what stands before its calls.
  if (calls.length === 0) found.push(toRecipient('output', currencyOut))
  if (request.topupGas) found.push(toRecipient('topup', destination.native))
  // Of two plans the coin is asked about: whichever is taken may be paid back in it.
  const deposited = plans.map(({ feeCurrency }) => feeCurrency)
  const refundedIn = deposited.find(({ isNative }) => isNative) ?? deposited[0]
  const account = refundRecipient(request, origin, user)
  if (refundedIn !== undefined)
    found.push({ what: 'refund', field: 'refundTo', chain: origin, account, currency: refundedIn })
  const isUnproven = ({ chain, currency }: UntracedPayment) => currency.isNative && !chain.isTraced
  return found.filter((payment) => {
    const { paysTokensToCode } = payment.chain.quoting
    // What the user executes alone, nobody has to attest.
    return !paysTokensToCode || (!route.selfExecuted && isUnproven(payment))
  })
}

/** Whether the plan that was taken pays it. */
function isPaid({ what, currency }: UntracedPayment, priced: PricedRoute): boolean {
  switch (what) {
    case 'output':
      return priced.amountOut > 0n
    case 'topup':
      return priced.solver?.topup !== undefined
    case 'refund':
      return priced.solver !== undefined && priced.feeCurrency.isNative === currency.isNative
  }
}

function recipientHasCode({ what, field, chain, account, currency }: UntracedPayment): QuoteError {
  const { native, wrappedNative, chainId } = chain
  const data = { field, chainId, recipient: account, payment: what }
  if (!chain.quoting.paysTokensToCode)
    return new QuoteError(
      'RECIPIENT_HAS_CODE',
      `${account} is no wallet on chain ${chainId}: ${currency.symbol} is paid to wallets only.`,
      { data },
    )
  const instead = waysOut(what, wrappedNative?.symbol)
  return new QuoteError(
    'RECIPIENT_HAS_CODE',
    `${account} has code on chain ${chainId}, where nobody can prove that ${native.symbol} stays with code. ${instead}`,
    {
      data: {
        ...data,
        ...(what !== 'topup' && wrappedNative !== undefined && { currencyInstead: wrappedNative.address }),
      },
    },
  )
}

function waysOut(what: UntracedPayment['what'], wrapped: string | undefined): string {
  switch (what) {
    case 'output':
      return `Name a recipient without code${wrapped === undefined ? '.' : `, or ask for ${wrapped}.`}`
    case 'topup':
      return 'Name a recipient without code, or leave topupGas out.'
    case 'refund':
      return `Refunds go there: name a refundTo without code${wrapped === undefined ? '.' : `, or pay ${wrapped}.`}`
  }
}
