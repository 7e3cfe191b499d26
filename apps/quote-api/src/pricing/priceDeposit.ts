import { divideUp, pow10, type UsdX18 } from '@causeway/core'
import type { QuoteAsset } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import { type AnswersOf, defineQuestions } from './answers.ts'
import { QuoteError } from './errors.ts'
import type { MeasuredUse, SubsidyRule } from './fees/feeTerms.ts'
import { recipientLack } from './fees/recipientLack.ts'
import type { LegPlan } from './legs/legs.ts'
import { planLegs } from './legs/planLegs.ts'
import { createPoolLegQuoter } from './legs/poolLegQuoter.ts'
import { requirePrice } from './market/marketAccess.ts'
import type { RewardLimit } from './openQuotes/rewardLimit.ts'
import { type PricingDependencies, type PricingQuestions, questionWords } from './pricingDependencies.ts'
import { findCurrency, type QuotableChain, type QuotableCurrency, type QuoteRegistry } from './registry.ts'
import type { AppFeeRequest, Operation, QuoteRequest } from './request.ts'
import { permitKindOf } from './routes/permit.ts'
import { enabledChain, type Route } from './routes/route.ts'
import { priceSolverRoute } from './solverRoute/priceSolverRoute.ts'
import { fromMicroUsdDown, sponsorUnit } from './sponsorship/sponsorUnit.ts'
import { pricedUsdc } from './sponsorship/subsidyRule.ts'

/** Dependencies of `priceDeposit`: those of pricing that need no user. */
export type DepositPricing = Pick<
  PricingDependencies,
  | 'registry'
  | 'schedule'
  | 'swapImpactMaxBps'
  | 'ceilings'
  | 'snapshot'
  | 'inventoryView'
  | 'openRewards'
  | 'lackOf'
  | 'quoteOnChain'
> & { readonly sponsorAsset: QuoteAsset | undefined }

type DepositQuestions = Pick<PricingQuestions, 'lackOf' | 'quoteOnChain'>

/** A deposit and what its order was quoted for; addresses as they are stored. */
export type QuotedDeposit = {
  readonly originChainId: number
  readonly destinationChainId: number
  readonly originCurrency: string
  readonly destinationCurrency: string
  readonly feeCurrency: string
  readonly recipient: string
  readonly operation: Operation
  /** Amount that the solver received, in smallest units of the fee currency. */
  readonly amount: bigint
  readonly appFees: readonly AppFeeRequest[]
  readonly topupWei: bigint
  readonly use: MeasuredUse
  /** Debit of the sponsor in micro-USDC, fixed when it was quoted. */
  readonly debitMicroUsd: bigint
  /** Transaction by which the solver made the deposit; undefined if the user made it. */
  readonly relayedBy: 'permit' | 'deposit_address' | undefined
  /** Gas that was charged for an account whose calls the solver submits. */
  readonly originGasOverhead?: bigint
}

export type PricedDeposit = {
  /** Smallest units of the destination currency. */
  readonly amountOut: bigint
  /** Charge for the gas of the fill, in smallest units of the destination's native coin. */
  readonly gasCharged?: bigint | undefined
}

/**
 * Computes the output that a late deposit buys at current prices; settlement compares it with the quoted output. Route
 * and fees are those of a quote, on the amount that the solver did receive. The sponsor's part stays the quoted debit.
 * @throws QuoteError; of the kind `upstream_unavailable` while prices cannot be read
 * @source rule L-62
 */
export async function priceDeposit(
  dependencies: DepositPricing,
  deposit: QuotedDeposit,
  rewards: RewardLimit,
): Promise<PricedDeposit> {
  const snapshot = dependencies.snapshot()
  return withDepositAnswers(dependencies, (answers) =>
    priceReceived(dependencies, deposit, { rewards, snapshot, answers }),
  )
}

const withDepositAnswers = defineQuestions<DepositQuestions>({
  lackOf: questionWords.lackOf,
  quoteOnChain: questionWords.quoteOnChain,
})

type DepositInputs = {
  readonly rewards: RewardLimit
  readonly snapshot: MarketSnapshot
  readonly answers: AnswersOf<DepositQuestions>
}

function priceReceived(
  dependencies: DepositPricing,
  deposit: QuotedDeposit,
  { rewards, snapshot, answers }: DepositInputs,
): PricedDeposit {
  const { schedule, swapImpactMaxBps, ceilings } = dependencies
  const quoter = createPoolLegQuoter(answers)
  const inventory = dependencies.inventoryView(snapshot)
  const { route, feeCurrency } = resolveQuoted(deposit, dependencies.registry)
  const request = requestOf(deposit, route, requirePrice(snapshot, route.destination.native).usdX18)
  const lack = recipientLack(answers, route, request)
  const subsidy = fixedSubsidy(deposit.debitMicroUsd, snapshot, dependencies.sponsorAsset)
  const settings = { schedule, quoter, swapImpactMaxBps, ceilings }
  const { use } = deposit
  const routeInputs = { request, route, snapshot, inventory, use, lack, subsidy, rewards }
  let best: PricedDeposit = { amountOut: 0n }
  let refusal: unknown
  for (const plan of plansFrom(route, feeCurrency)) {
    try {
      const { amountOut, solver } = priceSolverRoute({ plan, ...routeInputs, ...settings })
      if (amountOut > best.amountOut) best = { amountOut, gasCharged: solver?.gasCharged }
    } catch (error) {
      if (!(error instanceof QuoteError)) throw error
      refusal = error
    }
  }
  // Without a refusal no plan begins with the fee currency: the solver does not take it any more.
  if (best.amountOut === 0n) throw refusal ?? notListed(route.origin, deposit.feeCurrency)
  return best
}

/** Finds the quoted route and fee currency in the present configuration. @throws QuoteError */
function resolveQuoted(
  deposit: QuotedDeposit,
  registry: QuoteRegistry,
): { readonly route: Route; readonly feeCurrency: QuotableCurrency } {
  const origin = enabledChain(registry, deposit.originChainId, 'originChainId')
  const destination = enabledChain(registry, deposit.destinationChainId, 'destinationChainId')
  const feeCurrency = requireListed(origin, deposit.feeCurrency)
  const route: Route = {
    origin,
    destination,
    currencyIn: requireListed(origin, deposit.originCurrency),
    currencyOut: requireListed(destination, deposit.destinationCurrency),
    operation: deposit.operation,
    // The user does not affect the price.
    user: '',
    recipient: deposit.recipient,
    refundTo: undefined,
    selfExecuted: false,
  }
  return { route, feeCurrency }
}

/** Plans that begin with the fee currency: the deposit came after any swap on the origin, so no origin leg is left. */
function plansFrom(route: Route, feeCurrency: QuotableCurrency): readonly LegPlan[] {
  // The caller's permission for fallbacks is not stored. They are always tried here, because they avoid refunds.
  return planLegs(route, 'fallbacks')
    .filter((plan) => plan.feeCurrency === feeCurrency)
    .map((plan) => ({ ...plan, origin: undefined }))
}

/**
 * A subsidy of the quoted debit at any input.
 * @throws QuoteError while USDC has no usable price, so its peg is unknown
 */
function fixedSubsidy(
  debitMicroUsd: bigint,
  snapshot: MarketSnapshot,
  sponsorAsset: QuoteAsset | undefined,
): SubsidyRule {
  if (debitMicroUsd === 0n) return () => () => 0n
  const usdc = pricedUsdc(snapshot, sponsorAsset)
  return ({ asset }, { decimals, usdX18 }) => {
    const paid = fromMicroUsdDown(sponsorUnit({ asset, decimals, usdX18 }, usdc), debitMicroUsd)
    return () => paid
  }
}

const usdX18PerMicroUsd = 10n ** 12n

/** The request that the deposit's order was quoted for, with the received amount. */
function requestOf(
  deposit: QuotedDeposit,
  { currencyIn, origin, destination }: Route,
  nativeUsdX18: UsdX18,
): QuoteRequest {
  const topupUsdX18 = divideUp(deposit.topupWei * nativeUsdX18, pow10(destination.native.decimals))
  return {
    user: '',
    recipient: undefined,
    originChainId: deposit.originChainId,
    destinationChainId: deposit.destinationChainId,
    originCurrency: deposit.originCurrency,
    destinationCurrency: deposit.destinationCurrency,
    amount: deposit.amount,
    tradeType: 'EXACT_INPUT',
    // The gas of the order's calls is in `use`, and their value is a part of the output.
    txs: [],
    txsGasLimit: undefined,
    refundTo: undefined,
    topupGas: deposit.topupWei > 0n,
    // The promised wei at the present price.
    topupGasMicroUsd: divideUp(topupUsdX18, usdX18PerMicroUsd),
    appFees: deposit.appFees,
    // Settlement has a tolerance of its own.
    slippageBps: 0n,
    // A currency that has lost its permits since the quote is priced as if the user had made the deposit.
    usePermit: deposit.relayedBy === 'permit' && permitKindOf(origin, currencyIn) !== undefined,
    originGasOverhead: deposit.originGasOverhead,
    // The price does not depend on this, nor on `strict` and `explicitDeposit`.
    permitExpirySeconds: 0,
    useDepositAddress: deposit.relayedBy === 'deposit_address',
    strict: false,
    explicitDeposit: true,
    forceSolverExecution: true,
    // The user agreed to the output; a pool that lost depth shows in what the deposit buys.
    overridePriceImpact: true,
    useFallbacks: true,
    useExternalLiquidity: false,
    includeProtocolData: false,
  }
}

function requireListed(chain: QuotableChain, address: string): QuotableCurrency {
  const currency = findCurrency(chain, address)
  if (currency === undefined) throw notListed(chain, address)
  return currency
}

function notListed({ chainId }: QuotableChain, currency: string): QuoteError {
  return new QuoteError('UNSUPPORTED_CURRENCY', 'A currency of the order is not quoted any more.', {
    data: { chainId, currency },
  })
}
