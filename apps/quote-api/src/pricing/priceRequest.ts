import { bpsDenominator, convertUp, divideUp, type MaybePromise, usdValueDown } from '@causeway/core'
import {
  type AccountLack,
  type Holding,
  type NetworkFees,
  type OriginRoute,
  type PlannedTransaction,
  refuseLocked,
} from '@causeway/families/rules'
import type { ChainMarket, MarketSnapshot } from '@causeway/market'
import { askingEarly, gather } from './answers.ts'
import { QuoteError } from './errors.ts'
import { checkCarried, checkExecutionMode } from './execution/executionMode.ts'
import { earlyQuestions, type JudgedPayees, judgePayees, type PayeeUnits } from './execution/routePayees.ts'
import { plainUse, type SubsidyRule } from './fees/feeTerms.ts'
import { isExecuted } from './fees/gas.ts'
import { checkLeastPayment, recipientLack } from './fees/recipientLack.ts'
import type { PoolScope } from './legs/legs.ts'
import { adviseFallbacks, permittedPlans, planLegs } from './legs/planLegs.ts'
import type { ExternalLiquidity } from './market/externalLiquidity.ts'
import { requireChain, requirePrice } from './market/marketAccess.ts'
import { noReward, type RewardLimit } from './openQuotes/rewardLimit.ts'
import {
  type FallbackType,
  fallbackOf,
  type OriginCost,
  originRoute,
  type PricedRoute,
  sumOriginCost,
  sumOriginGas,
} from './pricedRoute.ts'
import {
  type PricingAnswers,
  type PricingDependencies,
  type UserFacts,
  withPricingAnswers,
} from './pricingDependencies.ts'
import type { QuoteRequest } from './request.ts'
import { askWithin, type RequestWaits } from './requestWaits.ts'
import { type PricingTerms, routePricing } from './routePricing.ts'
import { resolveRoute } from './routes/route.ts'
import { timeEstimateSeconds } from './timeEstimate.ts'
import { isHeld, takeAllowance, type UserQuestion, userQuestion } from './userQuestion.ts'

/** A price with everything a response or a quote is made of. */
export type PricedRequest = PricedRoute & {
  /** Accounts that the order names for its refund, the preferred one first; none where no solver pays. */
  readonly refundAccounts: readonly string[]
  readonly snapshot: MarketSnapshot
  readonly originMarket: ChainMarket
  /** Input from which the transactions were planned. */
  readonly origin: OriginRoute
  readonly transactions: readonly PlannedTransaction[]
  /** Expected network fee of all of them, in smallest units of the origin's native currency. */
  readonly originCost: OriginCost
  /** Units of all of them; undefined where the family signs none. */
  readonly originGas: { readonly expected: bigint; readonly limit: bigint } | undefined
  readonly timeEstimateSeconds: number
  /** Undefined where the chain did not answer in time, and for an account that nobody holds. @source Q-80 */
  readonly userBalance: bigint | undefined
  /** Undefined where the caller did not allow fallbacks. */
  readonly fallbackType: FallbackType | 'none' | undefined
  /** External liquidity that the payout relies on. */
  readonly external: readonly ExternalLiquidity[]
  /** The caller allowed external liquidity. */
  readonly mayUseExternal: boolean
}

/** Without a `subsidy` the user pays all fees; without `rewards` a move earns none. */
export type PricedFor = {
  readonly subsidy?: SubsidyRule
  readonly rewards?: RewardLimit
  /** Counts and bounds the waits of the HTTP request. */
  readonly waits?: RequestWaits | undefined
}

/** One request with what stays the same while it is priced. */
type Attempt = Pick<PricingTerms, 'subsidy' | 'rewards'> & {
  readonly request: QuoteRequest
  readonly snapshot: MarketSnapshot
  readonly answers: PricingAnswers
}

/**
 * Prices one request for `/price` and `/quote`. Prices, gas and pools come from one snapshot in memory; only accounts
 * and unlisted pools are asked over the network. Configured pools are tried first, then fallbacks, then external
 * liquidity.
 * @returns the price, at once where all that chains must say is in memory
 * @throws QuoteError for every refusal; by rejecting, where an answer had to come first
 */
export function priceRequest(
  dependencies: PricingDependencies,
  request: QuoteRequest,
  { subsidy = unsponsored, rewards = noReward, waits }: PricedFor = {},
): MaybePromise<PricedRequest> {
  const snapshot = dependencies.snapshot()
  return withPricingAnswers(
    dependencies,
    (answers) => priceAttempt(dependencies, { request, snapshot, subsidy, rewards, answers }),
    waits && askWithin(waits),
  )
}

function priceAttempt(dependencies: PricingDependencies, attempt: Attempt): PricedRequest {
  const { request } = attempt
  const poolScope = request.useFallbacks ? 'fallbacks' : 'configured'
  try {
    return priceWithFallbacks(dependencies, attempt)
  } catch (error) {
    const isShort = error instanceof QuoteError && error.code === 'INSUFFICIENT_LIQUIDITY'
    if (!request.useExternalLiquidity || !isShort) throw error
    const external = findExternal(dependencies, attempt, poolScope)
    if (external.length === 0) throw error
    return priceInScope(dependencies, attempt, { poolScope, external })
  }
}

/** Tries configured pools, then fallbacks if the caller allows them; if he does not, the refusal advises them. */
function priceWithFallbacks(dependencies: PricingDependencies, attempt: Attempt): PricedRequest {
  const { request } = attempt
  try {
    return priceInScope(dependencies, attempt, { poolScope: 'configured', external: [] })
  } catch (error) {
    if (!(error instanceof QuoteError) || !isPoolRefusal(error)) throw error
    if (!request.useFallbacks) {
      const route = resolveRoute(dependencies.registry, request)
      throw adviseFallbacks(error, { route, swaps: request.swaps })
    }
    return priceInScope(dependencies, attempt, { poolScope: 'fallbacks', external: [] })
  }
}

/** Finds the external liquidity for every asset that a plan pays out. */
function findExternal(
  { registry, findLiquidity }: PricingDependencies,
  { request, snapshot: prices, answers }: Attempt,
  poolScope: PoolScope,
): readonly ExternalLiquidity[] {
  const route = resolveRoute(registry, request)
  if (findLiquidity === undefined || route.selfExecuted) return []
  const amountCurrency = request.tradeType === 'EXACT_INPUT' ? route.currencyIn : route.currencyOut
  const payouts = planLegs(route, poolScope).map(({ payoutCurrency }) => payoutCurrency)
  const offers = [...new Set(payouts)].map((currency) => () => {
    const worth = convertUp(
      request.amount,
      requirePrice(prices, amountCurrency),
      requirePrice(prices, currency),
    )
    // A pool between payout and output may need a little more than its output is worth.
    const amount = divideUp(worth * (bpsDenominator + offerMarginBps), bpsDenominator)
    const offer = answers.findLiquidity({ currency, amount })
    return offer === undefined ? [] : [{ ...offer, currency }]
  })
  return gather<(readonly ExternalLiquidity[])[]>(...offers).flat()
}

const offerMarginBps = 500n

/** True for a refusal that other pools may avoid. */
function isPoolRefusal({ code, data }: QuoteError): boolean {
  const codes: readonly string[] = ['NO_SWAP_ROUTES_FOUND', 'INSUFFICIENT_LIQUIDITY', 'SWAP_IMPACT_TOO_HIGH']
  return codes.includes(code) || data['reason'] === 'pool_deviation'
}

/**
 * Prices a request with pools of one scope. Checks that need no chain come first. Where an answer is missing, all
 * questions that are known by then are asked together. The allowance is counted last, once no answer is missing, for a
 * request that nothing refuses any more but a locked input.
 */
function priceInScope(
  dependencies: PricingDependencies,
  attempt: Attempt,
  { poolScope, external }: Pick<PricingTerms, 'poolScope' | 'external'>,
): PricedRequest {
  const { request, snapshot, answers, subsidy, rewards } = attempt
  if (request.amount === 0n) throw refuseZero(dependencies, attempt)
  const route = resolveRoute(dependencies.registry, request)
  const { origin, destination, selfExecuted } = route
  dependencies.refuseStopped?.(origin.chainId, selfExecuted ? undefined : destination.chainId)
  checkExecutionMode(route, request)
  const plans = selfExecuted ? [] : permittedPlans(planLegs(route, poolScope), request.swaps)
  const originMarket = requireChain(snapshot, origin.chainId)
  const inputs = { request, route, plans, snapshot, answers, subsidy, rewards, poolScope, external }
  const question = userQuestion(route, plans, request)
  const isPlainSend = selfExecuted && route.operation === 'send'
  const findPrice = () => {
    // First, although it is used last: it is what is missing most often, and what was priced before would be priced anew.
    const facts = answers.userFacts(question)
    const payees = (priced: PricedRoute) => judgePayees(answers, inputs, priced)
    const found = priceWithPayees(routePricing(dependencies, inputs), payees)
    const sendLack = isPlainSend ? recipientLack(answers, route, request) : undefined
    return { ...found, facts, sendLack }
  }
  const { priced, refundAccounts, facts, sendLack } = askingEarly(findPrice, () => [
    () => answers.userFacts(question),
    ...earlyQuestions(answers, inputs),
  ])
  if (facts.refusal !== undefined) throw facts.refusal
  const { fees } = originMarket
  const plannedFrom = originRoute(priced, request)
  const transactions = planTransactions(
    dependencies,
    request,
    { priced, plannedFrom },
    { fees, question, facts, recipientLack: sendLack },
  )
  // The solver sends and pays for the calls that `POST /execute` submits.
  const sentByUser = priced.solver !== undefined && isExecuted(request) ? [] : transactions
  const fillSeconds = estimateSeconds(dependencies, priced, request.useDepositAddress)
  return {
    ...priced,
    refundAccounts,
    snapshot,
    originMarket,
    origin: plannedFrom,
    transactions,
    originCost: sumOriginCost(fees, sentByUser, request.depositFeePayer),
    originGas: sumOriginGas(fees, transactions),
    timeEstimateSeconds: fillSeconds + readySeconds(external),
    userBalance: isHeld(origin, route.user) ? facts.balance : undefined,
    fallbackType: request.useFallbacks
      ? (fallbackOf([priced.originLeg, priced.destinationLeg]) ?? 'none')
      : undefined,
    external,
    mayUseExternal: request.useExternalLiquidity,
  }
}

/**
 * Prices the route and judges its payees. A trial payment tells a payee's gas only once the amount is known. If that
 * gas is above a plain payment's, the route is priced again with it, and the payees are judged with the new amounts.
 */
function priceWithPayees(
  price: (units: PayeeUnits) => PricedRoute,
  judge: (priced: PricedRoute) => JudgedPayees,
): { readonly priced: PricedRoute; readonly refundAccounts: readonly string[] } {
  const priced = price(plainUse)
  checkCarried(priced)
  const { refundAccounts, units } = judge(priced)
  if (units.payeeUnits + units.refundUnits === 0n) return { priced, refundAccounts }
  const charged = price(units)
  checkCarried(charged)
  return { priced: charged, refundAccounts: judge(charged).refundAccounts }
}

/** Facts of the origin and the user that are known once the route is priced. */
type UserAnswers = {
  readonly fees: NetworkFees
  readonly question: UserQuestion
  readonly facts: UserFacts
  /** Asked only for a plain send, in which the user pays the recipient himself. */
  readonly recipientLack: AccountLack | undefined
}

/**
 * Plans the transactions that the user sends, and counts the allowance that they spend.
 * @throws QuoteError AMOUNT_TOO_LOW, and the refusal of an input that is locked
 */
function planTransactions(
  dependencies: PricingDependencies,
  request: QuoteRequest,
  { priced, plannedFrom }: { readonly priced: PricedRoute; readonly plannedFrom: OriginRoute },
  { fees, question, facts, recipientLack: lack }: UserAnswers,
): readonly PlannedTransaction[] {
  const { route, amountOut } = priced
  const { balance, allowance, held = [], spendable, feeFunds, inputLock } = facts
  if (lack !== undefined) checkLeastPayment(fees, { lack, currency: route.currencyOut, amount: amountOut })
  const openSpending = takeAllowance(dependencies, priced, request, question, allowance)
  const heldBy = ({ account, currency }: Holding) =>
    held[
      question.touched.findIndex((holding) => holding.account === account && holding.currency === currency)
    ]
  const known = { allowance, openSpending, balance, heldBy, recipientLack: lack, spendable, feeFunds, fees }
  return refuseLocked(route.origin.quoting.plan(plannedFrom, known), plannedFrom, inputLock)
}

/** Seconds until the money of all offers is with the solver. */
const readySeconds = (external: readonly ExternalLiquidity[]): number =>
  Math.max(0, ...external.map((offer) => offer.readySeconds))

/** Refusal of a zero amount. It names the least amount that works: the one that a refusal of a single unit names. */
function refuseZero(dependencies: PricingDependencies, attempt: Attempt): QuoteError {
  const { request } = attempt
  const tooLow = (data: object) =>
    new QuoteError('AMOUNT_TOO_LOW', 'amount must be above zero.', { data: { field: 'amount', ...data } })
  try {
    const oneUnit = { ...attempt, request: { ...request, amount: 1n }, rewards: noReward }
    const { route } = priceAttempt(dependencies, oneUnit)
    const { address, chainId } = request.tradeType === 'EXACT_INPUT' ? route.currencyIn : route.currencyOut
    return tooLow({ minimumAmount: '1', currency: address, chainId })
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    const { minimumAmount, currency, chainId } = error.data
    // Other refusals depend on the amount, so they are reported once one is named.
    return tooLow(minimumAmount === undefined ? {} : { minimumAmount, currency, chainId })
  }
}

/** Limit of the reward that a caller may earn now, beside all open quotes. Keys may earn more than callers without. */
export function rewardsFor(
  { openRewards, clock }: Pick<PricingDependencies, 'openRewards' | 'clock'>,
  keyId: string | undefined,
): RewardLimit {
  return openRewards.limitOf({ hasKey: keyId !== undefined, nowSeconds: Math.floor(clock.now() / 1_000) })
}

const withoutSponsor = (): bigint => 0n
const unsponsored: SubsidyRule = () => withoutSponsor

function estimateSeconds(
  { reactionMsOf }: Pick<PricingDependencies, 'reactionMsOf'>,
  { route, prices, amountIn }: PricedRoute,
  isSwept: boolean,
): number {
  const { origin, destination, selfExecuted } = route
  const valueMicroUsd = usdValueDown(amountIn, prices.currencyIn) / usdX18PerMicroUsd
  const reactionMs = reactionMsOf(origin.chainId, destination.chainId)
  return timeEstimateSeconds({ origin, destination, selfExecuted, valueMicroUsd, reactionMs, isSwept })
}

const usdX18PerMicroUsd = 1_000_000_000_000n
