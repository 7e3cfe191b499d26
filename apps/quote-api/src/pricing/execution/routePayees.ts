import { bpsUp, maxBigint } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { gather } from '../answers.ts'
import { type MeasuredUse, plainUse } from '../fees/feeTerms.ts'
import { networkFees } from '../fees/gas.ts'
import type { LegPlan } from '../legs/legs.ts'
import type { PricedRoute, SolverTerms } from '../pricedRoute.ts'
import type { QuotableCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import {
  type JudgedPayee,
  judgePayee,
  type Payee,
  type PayeeAnswers,
  refusedPayee,
  requirePayee,
} from '../routes/mayBePaid.ts'
import type { Route } from '../routes/route.ts'

export type PayeeInputs = {
  readonly route: Route
  readonly request: QuoteRequest
  readonly plans: readonly LegPlan[]
  readonly snapshot: MarketSnapshot
}

/** Amounts of a priced route that its payees get. */
type Payments = Pick<PricedRoute, 'amountOut' | 'feeCurrency'> & {
  readonly solver: Pick<SolverTerms, 'depositAmount' | 'topup'> | undefined
}

export type PayeeUnits = Pick<MeasuredUse, 'payeeUnits' | 'refundUnits'>

export type JudgedPayees = {
  /** Accounts that a refund of the order goes to, the preferred one first; none where no solver pays. */
  readonly refundAccounts: readonly string[]
  readonly units: PayeeUnits
}

/** Questions about payees that need no price, to be asked while the route waits for other answers. */
export function earlyQuestions(answers: PayeeAnswers, inputs: PayeeInputs): readonly (() => unknown)[] {
  return earlyPayees(inputs).flatMap(({ chain, account, currency }) => {
    const question = { chainId: chain.chainId, account, currency: currency.address }
    if (chain.quoting.isNobody(account)) return []
    const asksLack = () => answers.lackOf(question)
    // An account with code is refused only in families that pay nothing to such accounts.
    return chain.quoting.paysTokensToCode ? [asksLack] : [asksLack, () => answers.hasCode(question)]
  })
}

/**
 * Judges the accounts that a priced route pays: recipient and refund accounts.
 * @throws QuoteError INVALID_RECIPIENT, RECIPIENT_HAS_CODE, SERVICE_UNAVAILABLE
 * @source
 */
export function judgePayees(answers: PayeeAnswers, inputs: PayeeInputs, priced: Payments): JudgedPayees {
  const { route, plans, snapshot } = inputs
  const { solver, feeCurrency: currency } = priced
  if (plans.length === 0 || solver === undefined) return { refundAccounts: [], units: plainUse }
  const fills = paidOnDestination(inputs, priced.amountOut, solver.topup).map((payee) => () => {
    const judged = requirePayee(answers, payee, fieldOf(inputs))
    return unitsBeyondPlain(snapshot, { kind: 'fill', chain: payee.chain, currency: payee.currency, judged })
  })
  const [refunds, ...fillUnits] = gather<[readonly RefundAccount[], ...bigint[]]>(
    () => refundAccounts(answers, { route, request: inputs.request, currency, amount: solver.depositAmount }),
    ...fills,
  )
  const refundUnits = refunds.map(({ judged }) =>
    unitsBeyondPlain(snapshot, { kind: 'refund', chain: route.origin, currency, judged }),
  )
  return {
    refundAccounts: refunds.map(({ account }) => account),
    // The fill makes all its payments, but a refund only one of them.
    units: { payeeUnits: sumOf(fillUnits), refundUnits: refundUnits.reduce(maxBigint, 0n) },
  }
}

const sumOf = (units: readonly bigint[]): bigint => units.reduce((sum, each) => sum + each, 0n)

/** Margin on the units that a trial took beyond a plain payment: in another state the payment may take more. */
const marginBps = 1_000n

/** A payment that was tried, and the kind of transaction that makes it. */
type JudgedPayment = Pick<Payee, 'chain' | 'currency'> & {
  readonly kind: 'fill' | 'refund'
  /** Absent for an account that no chain was asked about. */
  readonly judged: Pick<JudgedPayee, 'lack' | 'units'> | undefined
}

/**
 * Units that a payment's trial takes beyond the charge for a plain payment, with a margin; 0 without a trial, or where it
 * tells no units. @source Q-48
 */
export function unitsBeyondPlain(
  snapshot: MarketSnapshot,
  { kind, chain, currency: { isNative }, judged }: JudgedPayment,
): bigint {
  if (judged?.units === undefined) return 0n
  const plain = { kind, isNative, lack: judged.lack ?? {} }
  // In families without gas limits a plain payment is charged no units.
  const charged = networkFees(snapshot, chain).gasOf(plain)?.expected ?? 0n
  const more = maxBigint(0n, judged.units - charged)
  return more + bpsUp(more, marginBps)
}

/** The member of the request that names the recipient. */
const fieldOf = ({ request }: PayeeInputs): string => (request.recipient === undefined ? 'user' : 'recipient')

/** Payments to the recipient. With calls the output is not tried here: `tryFill` simulates the fill as a whole. */
function paidOnDestination(
  inputs: PayeeInputs,
  amountOut: bigint,
  topup: SolverTerms['topup'],
): readonly Payee[] {
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
  if (topup === undefined) return [output]
  const { currency, amountWei: amount } = topup
  return [output, { ...common, what: 'topup', currency, amount, isNamed }]
}

/** Accounts that are probably paid, as far as they are known before the route is priced. */
function earlyPayees({
  route,
  plans,
}: PayeeInputs): readonly Pick<Payee, 'chain' | 'account' | 'currency'>[] {
  const { destination, origin, recipient: account, currencyOut, user } = route
  const refunded = route.refundTo ?? defaultCandidate(route) ?? user
  return [
    { chain: destination, account, currency: currencyOut },
    // The plan is chosen later: its fee currency is guessed here, and the judge asks about the right one.
    ...plans.slice(0, 1).map(({ feeCurrency: currency }) => ({ chain: origin, account: refunded, currency })),
  ]
}

/** Refund account where `refundTo` is missing: the recipient, if it is an address of the origin and not the user's. */
function defaultCandidate({ origin, recipient, user }: Route): string | undefined {
  if (!origin.codec.isAddress(recipient)) return undefined
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

/** An account that the order names for its refund; `judged` is absent for a user that nobody holds. */
type RefundAccount = { readonly account: string; readonly judged: JudgedPayee | undefined }

/**
 * Accounts that the order names for its refund. The first is, by the first case that applies:
 * 1. `refundTo`, where the request names it. If it may not be paid, the request is refused.
 * 2. The candidate (see `defaultCandidate`), where `askCandidate` prefers it. If a chain does not tell, the
 *    request is refused, since a later answer could choose the other account.
 * 3. `user`. If he may not be paid, the request is refused. Nobody asks about a burnt user: the order names
 *    him all the same, and its deposit goes back by recovery alone.
 *
 * The second is `user`, where the first is another account and he may be paid. A deposit address has none,
 * because its terms name one account. @source
 */
function refundAccounts(answers: PayeeAnswers, question: RefundQuestion): readonly RefundAccount[] {
  const { route, request, currency, amount } = question
  const { origin: chain, user, refundTo } = route
  const candidate = refundTo === undefined ? defaultCandidate(route) : undefined
  const isNamed = isRefundNamed(question)
  const isUser = (account: string) => chain.codec.spellAddress(account) === chain.codec.spellAddress(user)
  const payee = (account: string): Payee => {
    // The user deposits from his own account, so he has it then; another account must be there already.
    const refund = { what: 'refund', chain, account, currency, amount, isNamed } as const
    return isUser(account)
      ? { ...refund, makesState: true, isDepositor: true }
      : { ...refund, makesState: false }
  }
  const ask = (account: string) => ({ account, judged: judgePayee(answers, payee(account)) })
  const isBurnt = chain.payees.isBurnt(user)
  const [asUser, asRefundTo, asCandidate] = gather(
    (): RefundAccount => (isBurnt ? { account: user, judged: undefined } : ask(user)),
    () => (refundTo === undefined ? undefined : ask(refundTo)),
    () => (candidate === undefined ? undefined : askCandidate(answers, payee(candidate), route)),
  )
  const userRefusal = asUser.judged?.refusal
  const mayPayUser = userRefusal === undefined && !isBurnt
  const withUser = (first: RefundAccount): readonly RefundAccount[] =>
    !isUser(first.account) && mayPayUser && !request.useDepositAddress ? [first, asUser] : [first]
  if (asRefundTo !== undefined) {
    const { account, judged } = asRefundTo
    if (judged.refusal === undefined) return withUser(asRefundTo)
    const data = mayPayUser && !isUser(account) ? { refundToInstead: user } : {}
    throw refusedPayee(judged.refusal, payee(account), { field: 'refundTo', data })
  }
  if (asCandidate?.preferred === 'candidate') return withUser(asCandidate)
  if (asCandidate?.preferred === 'silent')
    throw refusedPayee('silent', payee(asCandidate.account), { field: 'refundTo' })
  if (userRefusal === undefined) return [asUser]
  throw refusedPayee(userRefusal, payee(user), { field: 'refundTo', shown: 'refundTo is missing, and user' })
}

/**
 * Asks whether the candidate or the user is refunded; `silent` where a chain does not answer in time. A contract
 * wallet on the destination that has no code on the origin may be nobody's there, so the user is refunded.
 */
function askCandidate(
  answers: PayeeAnswers,
  candidate: Payee,
  { origin, destination }: Route,
): RefundAccount & { readonly preferred: 'candidate' | 'user' | 'silent' } {
  const { account } = candidate
  const [judged, hasDestinationCode, hasOriginCode] = gather(
    () => judgePayee(answers, candidate),
    () => answers.hasCode({ chainId: destination.chainId, account }),
    () => answers.hasCode({ chainId: origin.chainId, account }),
  )
  const choose = () => {
    if (typeof judged.refusal === 'object') return 'user'
    if (judged.refusal === 'silent' || hasDestinationCode === undefined || hasOriginCode === undefined)
      return 'silent'
    return hasDestinationCode && !hasOriginCode ? 'user' : 'candidate'
  }
  return { account, judged, preferred: choose() }
}
