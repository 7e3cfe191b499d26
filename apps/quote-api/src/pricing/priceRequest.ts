import type { DenyList } from '@causeway/chains'
import { bpsDenominator, convertUp, type DomainError, divideUp, usdValueDown } from '@causeway/core'
import type { QuoteCeilings } from '@causeway/core/config'
import {
  type FeeFunds,
  type Holding,
  type InputLock,
  type OriginRoute,
  type PlannedTransaction,
  refuseLocked,
  type SpendableOutput,
} from '@causeway/families/rules'
import type { ChainMarket, Clock, MarketSnapshot } from '@causeway/market'
import { QuoteError } from './errors.ts'
import { priceWithCalls, type TryFill } from './execution/destinationCalls.ts'
import { checkCarried, checkExecutionMode } from './execution/executionMode.ts'
import { priceSelfExecuted } from './execution/priceSelfExecuted.ts'
import { askPayees, type JudgedPayees, type PayeeUnits } from './execution/routePayees.ts'
import {
  checkLeastPayment,
  type MeasuredUse,
  plainUse,
  recipientLack,
  type Schedule,
  type SubsidyRule,
} from './fees/feeTerms.ts'
import { isExecuted } from './fees/gas.ts'
import {
  adviseFallbacks,
  chooseRefusal,
  type LegPlan,
  type LegQuoter,
  type PoolScope,
  permittedPlans,
  planLegs,
  planSelfExecutedLegs,
} from './legs/legs.ts'
import type { ExternalLiquidity, FindLiquidity } from './market/externalLiquidity.ts'
import type { InventoryView } from './market/inventory.ts'
import { requireChain, requirePrice } from './market/marketAccess.ts'
import type { Spending } from './openQuotes/openAllowances.ts'
import { noReward, type OpenRewards, type RewardLimit } from './openQuotes/openRewards.ts'
import {
  type FallbackType,
  fallbackOf,
  type OriginCost,
  originRoute,
  type PricedRoute,
  sumOriginCost,
  sumOriginGas,
  wayOfRoute,
} from './pricedRoute.ts'
import type { QuoteRegistry } from './registry.ts'
import type { QuoteRequest } from './request.ts'
import type { PayeePorts } from './routes/mayBePaid.ts'
import { permitKindOf } from './routes/permit.ts'
import { type Route, resolveRoute } from './routes/route.ts'
import { priceOrNameAmount, priceOrNameNone } from './solverRoute/acceptedAmount.ts'
import { priceSolverRoute } from './solverRoute/priceSolverRoute.ts'
import { timeEstimateSeconds } from './timeEstimate.ts'

/** Facts of a user from his chain; members are undefined when it did not answer in time. */
export type UserFacts = {
  readonly balance?: bigint
  /** Amount of the input currency that the asked spender may take. */
  readonly allowance?: bigint
  /** Balances of the asked `touched` holdings, in their order. */
  readonly held?: readonly (bigint | undefined)[]
  /** Unspent outputs, in families without balances. */
  readonly spendable?: readonly SpendableOutput[]
  /** Native coin of the account that pays the network, in families where a user may have none. */
  readonly feeFunds?: FeeFunds
  /** Reason that the user cannot pay the input that he holds. */
  readonly inputLock?: InputLock
  /** Error that refuses the request, because endpoints cannot read this user's account at all. */
  readonly refusal?: DomainError
}

/** Dependencies of pricing. All are ports: `main.ts` passes the real ones. */
export type PricingDependencies = PayeePorts & {
  readonly registry: QuoteRegistry
  readonly schedule: Schedule
  readonly swapImpactMaxBps: number
  readonly ceilings: QuoteCeilings
  readonly snapshot: () => MarketSnapshot
  readonly inventoryView: (snapshot: MarketSnapshot) => InventoryView
  readonly legQuoter: LegQuoter
  readonly openRewards: OpenRewards
  /** Never rejects and never takes longer than its own budget. */
  readonly userFacts: (args: {
    chainId: number
    user: string
    currency: string
    spender: string | undefined
    touched: readonly Holding[]
  }) => Promise<UserFacts>
  /** Tries fills of orders with calls on their destination. */
  readonly tryFill: TryFill
  /** Recent reaction time of solvers on a route in milliseconds, from memory; `undefined` after too few fills. */
  readonly reactionMsOf: (originChainId: number, destinationChainId: number) => number | undefined
  /** Absent: nobody is denied. `priceRequest` does not ask it: its callers do so first, by `refuseDeniedRequest`. */
  readonly denyList?: DenyList | undefined
  /**
   * Absent: no chain is ever stopped.
   * @param paidOn where a solver would pay; undefined where none does
   * @throws QuoteError CHAIN_STOPPED
   */
  readonly refuseStopped?: (origin: number, paidOn: number | undefined) => void
  /** Absent: there is no external liquidity. */
  readonly findLiquidity?: FindLiquidity | undefined
  /**
   * Counts this quote's spending of an allowance. Absent: it is not counted, as for a mere price.
   * @returns what other open quotes may still take of the allowance that the route spends
   */
  readonly openSpending?: ((spending: Spending) => bigint) | undefined
  readonly clock: Clock
}

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
export type PricedFor = { readonly subsidy?: SubsidyRule; readonly rewards?: RewardLimit }

/**
 * Prices one request for `/price` and `/quote`. Prices, gas and pools come from one snapshot in memory; only accounts
 * and unlisted pools are asked over the network. Configured pools are tried first, then fallbacks, then external
 * liquidity.
 * @throws QuoteError for every refusal
 */
export async function priceRequest(
  dependencies: PricingDependencies,
  request: QuoteRequest,
  { subsidy = unsponsored, rewards = noReward }: PricedFor = {},
): Promise<PricedRequest> {
  const poolScope = request.useFallbacks ? 'fallbacks' : 'configured'
  try {
    return await priceWithFallbacks(dependencies, request, { subsidy, rewards })
  } catch (error) {
    const isShort = error instanceof QuoteError && error.code === 'INSUFFICIENT_LIQUIDITY'
    if (!request.useExternalLiquidity || !isShort) throw error
    const external = await findExternal(dependencies, request, poolScope)
    if (external.length === 0) throw error
    return priceInScope(dependencies, request, { subsidy, rewards, poolScope, external })
  }
}

async function priceWithFallbacks(
  dependencies: PricingDependencies,
  request: QuoteRequest,
  pricingOptions: Required<PricedFor>,
): Promise<PricedRequest> {
  const { subsidy, rewards } = pricingOptions
  const inputs = { subsidy, rewards, external: [] }
  try {
    return await priceInScope(dependencies, request, { ...inputs, poolScope: 'configured' })
  } catch (error) {
    if (!(error instanceof QuoteError) || !isPoolRefusal(error)) throw error
    if (!request.useFallbacks) {
      const route = resolveRoute(dependencies.registry, request)
      throw adviseFallbacks(error, { route, swaps: request.swaps })
    }
    return priceInScope(dependencies, request, { ...inputs, poolScope: 'fallbacks' })
  }
}

/** Finds the external liquidity for every asset that a plan pays out. */
async function findExternal(
  { registry, findLiquidity, snapshot }: PricingDependencies,
  request: QuoteRequest,
  poolScope: PoolScope,
): Promise<readonly ExternalLiquidity[]> {
  const route = resolveRoute(registry, request)
  if (findLiquidity === undefined || route.selfExecuted) return []
  const prices = snapshot()
  const amountCurrency = request.tradeType === 'EXACT_INPUT' ? route.currencyIn : route.currencyOut
  const payouts = planLegs(route, poolScope).map(({ payoutCurrency }) => payoutCurrency)
  const offers = [...new Set(payouts)].map(async (currency) => {
    const worth = convertUp(
      request.amount,
      requirePrice(prices, amountCurrency),
      requirePrice(prices, currency),
    )
    // A pool between payout and output may need a little more than its output is worth.
    const amount = divideUp(worth * (bpsDenominator + offerMarginBps), bpsDenominator)
    const offer = await findLiquidity({ currency, amount })
    return offer === undefined ? [] : [{ ...offer, currency }]
  })
  return (await Promise.all(offers)).flat()
}

const offerMarginBps = 500n

/** True for a refusal that other pools may avoid. */
function isPoolRefusal({ code, data }: QuoteError): boolean {
  const codes: readonly string[] = ['NO_SWAP_ROUTES_FOUND', 'INSUFFICIENT_LIQUIDITY', 'SWAP_IMPACT_TOO_HIGH']
  return codes.includes(code) || data['reason'] === 'pool_deviation'
}

/**
 * Prices a request with pools of one scope. Checks that need no chain come first. The questions to chains are then
 * started together and awaited where their answers are used.
 */
async function priceInScope(
  dependencies: PricingDependencies,
  request: QuoteRequest,
  {
    subsidy,
    rewards,
    poolScope,
    external,
  }: Pick<PlanInputs, 'subsidy' | 'rewards' | 'poolScope' | 'external'>,
): Promise<PricedRequest> {
  if (request.amount === 0n) throw await refuseZero(dependencies, request, subsidy)
  const route = resolveRoute(dependencies.registry, request)
  dependencies.refuseStopped?.(
    route.origin.chainId,
    route.selfExecuted ? undefined : route.destination.chainId,
  )
  checkExecutionMode(route, request)
  const plans = route.selfExecuted ? [] : permittedPlans(planLegs(route, poolScope), request.swaps)
  const snapshot = dependencies.snapshot()
  const originMarket = requireChain(snapshot, route.origin.chainId)
  const question = factsQuestion(route, plans, request)
  const facts = dependencies.userFacts(question)
  const isPlainSend = route.selfExecuted && route.operation === 'send'
  const sendLack = isPlainSend ? recipientLack(dependencies.lackOf, route, request) : undefined
  const judgePayees = askPayees(dependencies, { route, request, plans, snapshot })

  const priceUsing = await routePricing(dependencies, {
    request,
    route,
    plans,
    snapshot,
    subsidy,
    rewards,
    poolScope,
    external,
  })
  const { priced, refundAccounts } = await priceWithPayees(priceUsing, judgePayees)
  const { balance, allowance, held = [], spendable, feeFunds, inputLock, refusal } = await facts
  if (refusal !== undefined) throw refusal
  const origin = originRoute(priced, request)
  const heldBy = ({ account, currency }: Holding) =>
    held[
      question.touched.findIndex((holding) => holding.account === account && holding.currency === currency)
    ]
  const { fees } = originMarket
  const lack = await sendLack
  if (lack !== undefined)
    checkLeastPayment(fees, { lack, currency: route.currencyOut, amount: priced.amountOut })
  const openSpending = takeAllowance(dependencies, { priced, request, question, allowance })
  const planFacts = {
    allowance,
    openSpending,
    balance,
    heldBy,
    recipientLack: lack,
    spendable,
    feeFunds,
    fees,
  }
  const transactions = refuseLocked(route.origin.quoting.plan(origin, planFacts), origin, inputLock)
  return {
    ...priced,
    refundAccounts,
    snapshot,
    originMarket,
    origin,
    transactions,
    originCost: sumOriginCost(
      fees,
      priced.solver !== undefined && isExecuted(request) ? [] : transactions,
      request.depositFeePayer,
    ),
    originGas: sumOriginGas(fees, transactions),
    timeEstimateSeconds:
      timeEstimate(dependencies, priced, request.useDepositAddress) + readySeconds(external),
    userBalance: isHeld(route.origin, route.user) ? balance : undefined,
    fallbackType: request.useFallbacks
      ? (fallbackOf([priced.originLeg, priced.destinationLeg]) ?? 'none')
      : undefined,
    external,
    mayUseExternal: request.useExternalLiquidity,
  }
}

/**
 * Returns a function that prices the route for given gas units of its payees. With calls, only the requested amount is
 * priced; without, a refusal names an amount that is accepted.
 */
async function routePricing(
  dependencies: PricingDependencies,
  inputs: PlanInputs,
): Promise<(units: PayeeUnits) => Promise<PricedRoute>> {
  const { request, route } = inputs
  const { clock, tryFill } = dependencies
  const priceAmount = await amountPricing(dependencies, inputs)
  const currency = request.tradeType === 'EXACT_INPUT' ? route.currencyIn : route.currencyOut
  const requestedAmount = { amount: request.amount, currency, clock }
  return ({ payeeUnits, refundUnits }) =>
    route.selfExecuted || request.txs.length === 0
      ? priceOrNameAmount(requestedAmount, (amount) =>
          priceAmount(amount, { callUnits: 0n, callBytes: 0n, payeeUnits, refundUnits }),
        )
      : priceOrNameNone(requestedAmount, () =>
          priceWithCalls({ route, request, tryFill }, (use) =>
            priceAmount(request.amount, { ...use, payeeUnits, refundUnits }),
          ),
        )
}

/**
 * Prices the route and judges its payees. A trial payment tells a payee's gas only once the amount is known. If that
 * gas is above a plain payment's, the route is priced again with it, and the payees are judged with the new amounts.
 */
async function priceWithPayees(
  price: (units: PayeeUnits) => Promise<PricedRoute>,
  judgePayees: (priced: PricedRoute) => Promise<JudgedPayees>,
): Promise<{ readonly priced: PricedRoute; readonly refundAccounts: readonly string[] }> {
  const priced = await price(plainUse)
  checkCarried(priced)
  const { refundAccounts, units } = await judgePayees(priced)
  if (units.payeeUnits + units.refundUnits === 0n) return { priced, refundAccounts }
  const charged = await price(units)
  checkCarried(charged)
  return { priced: charged, refundAccounts: (await judgePayees(charged)).refundAccounts }
}

/** False for a placeholder that pages send before a wallet is connected, and for an account that nobody holds. */
const isHeld = ({ quoting, payees }: Route['origin'], user: string): boolean =>
  !quoting.isNobody(user) && !payees.isBurnt(user)

const readySeconds = (external: readonly ExternalLiquidity[]): number =>
  Math.max(0, ...external.map((offer) => offer.readySeconds))

/** Refusal of a zero amount. It names the least amount that works: the one that a refusal of a single unit names. */
async function refuseZero(
  dependencies: PricingDependencies,
  request: QuoteRequest,
  subsidy: SubsidyRule,
): Promise<QuoteError> {
  const tooLow = (data: object) =>
    new QuoteError('AMOUNT_TOO_LOW', 'amount must be above zero.', { data: { field: 'amount', ...data } })
  try {
    const { route } = await priceRequest(dependencies, { ...request, amount: 1n }, { subsidy })
    const { address, chainId } = request.tradeType === 'EXACT_INPUT' ? route.currencyIn : route.currencyOut
    return tooLow({ minimumAmount: '1', currency: address, chainId })
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    const { minimumAmount, currency, chainId } = error.data
    // Other refusals depend on the amount, so they are reported once one is named.
    return tooLow(minimumAmount === undefined ? {} : { minimumAmount, currency, chainId })
  }
}

/** Question to the origin about the user, with the holdings that his transactions write. */
function factsQuestion(route: Route, plans: readonly LegPlan[], request: QuoteRequest) {
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

/** Counts what this quote spends of an allowance. @returns the part that other open quotes may take @source Q-53 */
function takeAllowance(
  { openSpending }: Pick<PricingDependencies, 'openSpending'>,
  {
    priced: { route, amountInMax },
    request: { tradeType, amount },
    question: { chainId, user, currency, spender },
    allowance,
  }: {
    readonly priced: Pick<PricedRoute, 'route' | 'amountInMax'>
    readonly request: QuoteRequest
    readonly question: ReturnType<typeof factsQuestion>
    readonly allowance: bigint | undefined
  },
): bigint {
  if (openSpending === undefined || spender === undefined || !isHeld(route.origin, user)) return 0n
  const { origin, currencyOut, recipient } = route
  const purchase = [currencyOut.chainId, currencyOut.address, recipient, tradeType, amount].join(' ')
  const spending = { chainId, currency, spender, purchase, amount: amountInMax, allowance }
  return openSpending({ ...spending, user: origin.codec.canonicalAddress(user) })
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
  if (plans.some((plan) => plan.origin !== undefined))
    return origin.quoting.spenderOf('swap-deposit', currencyIn)
  return request.explicitDeposit ? origin.quoting.spenderOf('deposit', currencyIn) : undefined
}

type PlanInputs = {
  request: QuoteRequest
  route: Route
  /** Empty where the user executes the route alone. */
  plans: readonly LegPlan[]
  snapshot: MarketSnapshot
  subsidy: SubsidyRule
  rewards: RewardLimit
  poolScope: PoolScope
  external: readonly ExternalLiquidity[]
}

/** Returns a function that prices any amount of the request. What it needs of chains is asked once, before. */
async function amountPricing(
  dependencies: PricingDependencies,
  inputs: PlanInputs,
): Promise<(amount: bigint, use: MeasuredUse) => Promise<PricedRoute>> {
  const { request, route, snapshot, plans, subsidy, rewards, external } = inputs
  const { legQuoter: quoter, swapImpactMaxBps, schedule, ceilings } = dependencies
  const requestOf = (amount: bigint) => (amount === request.amount ? request : { ...request, amount })
  if (route.selfExecuted) {
    const legs = route.operation === 'send' ? [] : planSelfExecutedLegs(route, inputs.poolScope)
    return (amount) =>
      priceSelfExecuted({ request: requestOf(amount), route, snapshot, quoter, swapImpactMaxBps, legs })
  }
  const lack = await recipientLack(dependencies.lackOf, route, request)
  const inventory = dependencies.inventoryView(snapshot)
  const settings = { schedule, quoter, swapImpactMaxBps, ceilings }
  const routeInputs = { route, snapshot, inventory, lack, subsidy, rewards, external }
  return (amount, use) =>
    bestPlan(plans, (plan) =>
      priceSolverRoute({ request: requestOf(amount), plan, use, ...routeInputs, ...settings }),
    )
}

/** Prices every plan and keeps the best for the user; a refusal stands only when all plans are refused. */
async function bestPlan(
  plans: readonly LegPlan[],
  priceAlong: (plan: LegPlan) => Promise<PricedRoute>,
): Promise<PricedRoute> {
  let best: PricedRoute | undefined
  let refusal: QuoteError | undefined
  for (const plan of plans) {
    try {
      const priced = await priceAlong(plan)
      if (best === undefined || isBetter(priced, best)) best = priced
    } catch (error) {
      if (!(error instanceof QuoteError)) throw error
      refusal = chooseRefusal(refusal, error)
    }
  }
  if (best === undefined) throw refusal
  return best
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

function isBetter(candidate: PricedRoute, best: PricedRoute): boolean {
  return candidate.tradeType === 'EXACT_INPUT'
    ? candidate.amountOut > best.amountOut
    : candidate.amountIn < best.amountIn
}

function timeEstimate(
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
