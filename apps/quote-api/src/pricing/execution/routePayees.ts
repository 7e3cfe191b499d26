import { bpsUp, maxBigint } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { type MeasuredUse, plainUse } from '../fees/feeTerms.ts'
import { networkFees } from '../fees/gas.ts'
import type { LegPlan } from '../legs/legs.ts'
import type { PricedRoute } from '../pricedRoute.ts'
import type { QuotableCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import {
  type Payee,
  type PayeePorts,
  refusalOf,
  refusedPayee,
  requirePayee,
  type TriedPayment,
} from '../routes/mayBePaid.ts'
import type { Route } from '../routes/route.ts'

type PayeeInputs = {
  readonly route: Route
  readonly request: QuoteRequest
  readonly plans: readonly LegPlan[]
  readonly snapshot: MarketSnapshot
}

export type PayeeUnits = Pick<MeasuredUse, 'payeeUnits' | 'refundUnits'>

export type JudgedPayees = {
  /** Accounts that a refund of the order goes to, the preferred one first; none where no solver pays. */
  readonly refundAccounts: readonly string[]
  readonly units: PayeeUnits
}

/**
 * Judges the accounts that a route pays: recipient and refund accounts. It starts the questions to chains at once, so
 * that they run while the route is priced; the judge that it returns is called with the priced route.
 * @returns a judge that throws QuoteError INVALID_RECIPIENT, RECIPIENT_HAS_CODE, SERVICE_UNAVAILABLE
 * @source
 */
export function askPayees(
  ports: PayeePorts,
  inputs: PayeeInputs,
): (priced: PricedRoute) => Promise<JudgedPayees> {
  // The judge asks again: the ports cache their answers.
  for (const { chain, account, currency } of earlyPayees(inputs)) {
    const question = { chainId: chain.chainId, account, currency: currency.address }
    if (chain.quoting.isNobody(account)) continue
    // An account with code is refused only in families that pay nothing to such accounts.
    if (!chain.quoting.paysTokensToCode) void ports.hasCode(question)
    void ports.lackOf(question)
  }
  return (priced) => judgePayees(ports, inputs, priced)
}

async function judgePayees(
  ports: PayeePorts,
  inputs: PayeeInputs,
  priced: PricedRoute,
): Promise<JudgedPayees> {
  const { route, plans, snapshot } = inputs
  const { solver, feeCurrency: currency } = priced
  if (plans.length === 0 || solver === undefined) return { refundAccounts: [], units: plainUse }
  const paid = paidOnDestination(inputs, priced)
  const amount = solver.depositAmount
  const question = { ...inputs, currency, amount }
  const [accounts] = await Promise.all([
    refundAccounts(ports, question),
    ...paid.map((payee) => requirePayee(ports, payee, fieldOf(inputs))),
  ])
  const isNamed = isRefundNamed(inputs)
  const refunded = accounts.map((account) => ({ chain: route.origin, account, currency, amount, isNamed }))
  // The ports cache the trials that were made just above.
  const [payeeUnits, refundUnits] = await Promise.all([
    Promise.all(paid.map((payment) => unitsBeyondPlain(ports, snapshot, { kind: 'fill', payment }))),
    Promise.all(refunded.map((payment) => unitsBeyondPlain(ports, snapshot, { kind: 'refund', payment }))),
  ])
  return {
    refundAccounts: accounts,
    // The fill makes all its payments, but a refund only one of them.
    units: { payeeUnits: sumOf(payeeUnits), refundUnits: refundUnits.reduce(maxBigint, 0n) },
  }
}

const sumOf = (units: readonly bigint[]): bigint => units.reduce((sum, each) => sum + each, 0n)

/** Margin on the units that a trial took beyond a plain payment: in another state the payment may take more. */
const marginBps = 1_000n

/** A payment whose units are asked, and the kind of transaction that makes it. */
type PaymentTrial = {
  readonly kind: 'fill' | 'refund'
  readonly payment: TriedPayment & Pick<Payee, 'isNamed'>
}

/** Units that a payment's trial takes beyond the charge for a plain payment, with a margin. @source Q-48 */
export async function unitsBeyondPlain(
  ports: PayeePorts,
  snapshot: MarketSnapshot,
  { kind, payment }: PaymentTrial,
): Promise<bigint> {
  const { chain, account, currency, amount, isNamed } = payment
  const units = isNamed && amount > 0n ? (await ports.tryPayment(payment))?.units : undefined
  if (units === undefined) return 0n
  const { chainId } = chain
  const lack = await ports.lackOf({ chainId, account, currency: currency.address })
  const plain = { kind, isNative: currency.isNative, lack: lack ?? {} }
  // In families without gas limits a plain payment is charged no units.
  const charged = networkFees(snapshot, chain).gasOf(plain)?.expected ?? 0n
  const more = maxBigint(0n, units - charged)
  return more + bpsUp(more, marginBps)
}

/** The member of the request that names the recipient. */
const fieldOf = ({ request }: PayeeInputs): string => (request.recipient === undefined ? 'user' : 'recipient')

/** Payments to the recipient. With calls the output is not tried here: `tryFill` simulates the fill as a whole. */
function paidOnDestination(inputs: PayeeInputs, { amountOut, solver }: PricedRoute): readonly Payee[] {
  const { route, request } = inputs
  const { destination: chain, recipient: account, currencyOut } = route
  const common = { chain, account, makesState: true }
  const isNamed = request.recipient !== undefined
  const output = {
    ...common,
    what: 'output',
    currency: currencyOut,
    amount: amountOut,
    isNamed: isNamed && request.txs.length === 0,
  } as const
  const topup = solver?.topup
  if (topup === undefined) return [output]
  const { currency, amountWei: amount } = topup
  return [output, { ...common, what: 'topup', currency, amount, isNamed }]
}

/** Accounts that are probably paid, as far as they are known before the route is priced. */
function earlyPayees({
  route,
  request,
  plans,
}: PayeeInputs): readonly Pick<Payee, 'chain' | 'account' | 'currency'>[] {
  const { destination, origin, recipient: account, currencyOut, user } = route
  const refunded = route.refundTo ?? defaultCandidate(route, request) ?? user
  return [
    { chain: destination, account, currency: currencyOut },
    // The plan is chosen later: its fee currency is guessed here, and the judge asks about the right one.
    ...plans.slice(0, 1).map(({ feeCurrency: currency }) => ({ chain: origin, account: refunded, currency })),
  ]
}

/** Refund account where `refundTo` is missing: the recipient, if it is an address of the origin and not the user's. */
function defaultCandidate({ origin, recipient, user }: Route, request: QuoteRequest): string | undefined {
  if (request.recipient === undefined || !origin.codec.isAddress(recipient)) return undefined
  const isOther = origin.codec.spellAddress(recipient) !== origin.codec.spellAddress(user)
  return isOther && !origin.payees.isBurnt(recipient) ? recipient : undefined
}

/** False for a price that names no account to refund: then no payment is simulated. */
const isRefundNamed = ({ route, request }: Pick<PayeeInputs, 'route' | 'request'>): boolean =>
  route.refundTo !== undefined || request.recipient !== undefined

type RefundQuestion = {
  readonly route: Route
  readonly request: QuoteRequest
  readonly currency: QuotableCurrency
  readonly amount: bigint
}

/**
 * Accounts that the order names for its refund. The first is `refundTo`; without one `recipient`, unless
 * `chooseRefunded` prefers the user; else `user`. The second is `user`, where it differs and may be paid, but not for a
 * deposit address, whose terms name one account. @source
 */
async function refundAccounts(ports: PayeePorts, question: RefundQuestion): Promise<readonly string[]> {
  const { route, request, currency, amount } = question
  const { origin: chain, user, refundTo } = route
  const candidate = refundTo === undefined ? defaultCandidate(route, request) : undefined
  const isNamed = isRefundNamed(question)
  const isUser = (account: string) => chain.codec.spellAddress(account) === chain.codec.spellAddress(user)
  const payee = (account: string): Payee => {
    // The user deposits from his own account, so he has it then; another account must be there already.
    const refund = { what: 'refund', chain, account, currency, amount, isNamed } as const
    return isUser(account)
      ? { ...refund, makesState: true, isDepositor: true }
      : { ...refund, makesState: false }
  }
  // A user that nobody holds is not asked about. Where no other account is left, the order names him all the
  // same: its deposit then goes back by recovery alone.
  const isBurnt = chain.payees.isBurnt(user)
  const [userRefusal, refundToRefusal, refunded] = await Promise.all([
    isBurnt ? undefined : refusalOf(ports, payee(user)),
    refundTo === undefined ? undefined : refusalOf(ports, payee(refundTo)),
    candidate === undefined ? 'user' : chooseRefunded(ports, payee(candidate), route),
  ])
  const mayPayUser = userRefusal === undefined && !isBurnt
  const withUser = (first: string): readonly string[] =>
    !isUser(first) && mayPayUser && !request.useDepositAddress ? [first, user] : [first]
  if (refundTo !== undefined) {
    if (refundToRefusal === undefined) return withUser(refundTo)
    const data = mayPayUser && !isUser(refundTo) ? { refundToInstead: user } : {}
    throw refusedPayee(refundToRefusal, payee(refundTo), { field: 'refundTo', data })
  }
  if (candidate !== undefined && refunded === 'candidate') return withUser(candidate)
  if (candidate !== undefined && refunded === 'silent')
    throw refusedPayee('silent', payee(candidate), {
      field: 'refundTo',
      shown: 'refundTo is missing, and recipient',
    })
  if (userRefusal === undefined) return [user]
  throw refusedPayee(userRefusal, payee(user), { field: 'refundTo', shown: 'refundTo is missing, and user' })
}

/**
 * Decides whether the candidate or the user is refunded; `silent` where a chain does not answer in time. A contract
 * wallet on the destination that has no code on the origin may be nobody's there, so the user is refunded.
 */
async function chooseRefunded(
  ports: PayeePorts,
  candidate: Payee,
  { origin, destination }: Route,
): Promise<'candidate' | 'user' | 'silent'> {
  const { account } = candidate
  const [refusal, hasDestinationCode, hasOriginCode] = await Promise.all([
    refusalOf(ports, candidate),
    ports.hasCode({ chainId: destination.chainId, account }),
    ports.hasCode({ chainId: origin.chainId, account }),
  ])
  if (typeof refusal === 'object') return 'user'
  if (refusal === 'silent' || hasDestinationCode === undefined || hasOriginCode === undefined) return 'silent'
  return hasDestinationCode && !hasOriginCode ? 'user' : 'candidate'
}
