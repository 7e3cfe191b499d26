import {
  amountForUsdDown,
  amountForUsdUp,
  bpsDenominator,
  convertUp,
  formatAmount,
  usdValueDown,
} from '@causeway/core'
import type { AccountLack, NetworkFees } from '@causeway/families/rules'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../errors.ts'
import type { LegPlan } from '../legs/legs.ts'
import { dearerClass } from '../legs/slippage.ts'
import { type ExternalLiquidity, offerOf } from '../market/externalLiquidity.ts'
import { type AssetInventory, type InventoryView, skewCostUsd } from '../market/inventory.ts'
import { type PricedCurrency, requireInventory, requirePrice } from '../market/marketAccess.ts'
import { noReward, type RatedMove, type RewardBound } from '../openQuotes/openRewards.ts'
import type { QuotableCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import { type LackLookup, lackRefusal } from '../routes/mayBePaid.ts'
import type { Route } from '../routes/route.ts'
import { applyMarkup, networkFees, relayedDeposit } from './gas.ts'
import type { FeeTerms } from './solve.ts'

/** Platform schedule. @source configuration `schedule`, quote-api.md 6.1 */
export type Schedule = {
  readonly flatMicroUsd: bigint
  readonly sameAssetBps: number
  readonly stableBps: number
  readonly majorBps: number
  readonly longtailBps: number
}

export type FeeInputs = {
  readonly request: QuoteRequest
  readonly route: Route
  readonly plan: LegPlan
  readonly snapshot: MarketSnapshot
  readonly inventory: InventoryView
  readonly schedule: Schedule
  readonly use: MeasuredUse
  /** Account state that the recipient lacks for the output; undefined while his chain does not tell. */
  readonly lack: AccountLack | undefined
  readonly subsidy: SubsidyRule
  readonly rewards: RewardBound
  /** Liquidity that others bring; not in `inventory`. */
  readonly external?: readonly ExternalLiquidity[] | undefined
}

/** Gas and data beyond plain payments, for code that is run on behalf of a request. */
export type MeasuredUse = {
  /** Gas of the destination calls, simulated or given. */
  readonly callUnits: bigint
  /** Data of the destination calls, as `callBytesOf` counts it. */
  readonly callBytes: bigint
  /** Gas of the recipient, and of the token that he is paid in. @source Q-48 */
  readonly payeeUnits: bigint
  /** Gas of the dearest account that a refund may go to, and of its token. */
  readonly refundUnits: bigint
}

export const plainUse: MeasuredUse = { callUnits: 0n, callBytes: 0n, payeeUnits: 0n, refundUnits: 0n }

/** A second output payment in the destination's native currency. @source design.md 5.5 */
export type GasTopup = {
  readonly currency: QuotableCurrency
  readonly amountWei: bigint
  /** Value in smallest units of the fee currency; part of `gas`. */
  readonly valueInFeeCurrency: bigint
}

/** Part of the fees that a sponsor pays, for one fee currency at its price; always 0 without a sponsor. */
export type SubsidyRule = (feeCurrency: QuotableCurrency, price: PricedCurrency) => FeeTerms['subsidy']

const usdX18PerMicroUsd = 10n ** 12n

/** Every fee of a solver-executed route as a function of the input. @throws QuoteError when a market is missing */
export function feeTerms(inputs: FeeInputs): {
  terms: FeeTerms
  topup: GasTopup | undefined
  /** Charge for the fill's network fee, with the state that it makes, in smallest units of the native coin. */
  gasCharged: bigint
} {
  const { route, plan, snapshot, request, schedule } = inputs
  const fee = requirePrice(snapshot, plan.feeCurrency)
  const native = requirePrice(snapshot, route.destination.native)
  const topup = gasTopup(inputs)
  const fill = fillCost(inputs)
  const rent = networkFees(snapshot, route.destination).rentOf(requireLack(inputs.lack, route))
  const gas = convertUp(fill, native, fee) + relayedDepositCost(inputs) + (topup?.valueInFeeCurrency ?? 0n)
  const offer = offerOf(plan.payoutCurrency, inputs.external)
  // The fee is on all of a payout, whatever part of it is brought.
  const platformBps = platformFeeBps(inputs) + BigInt(offer?.feeBps ?? 0)
  const appFeesBps = request.appFees.map(({ bps }) => bps)
  const { paid } = inventories(inputs)
  const appBps = appFeesBps.reduce((sum, bps) => sum + bps, 0n)
  return {
    topup,
    gasCharged: fill + rent,
    terms: {
      gas,
      flat: amountForUsdUp(schedule.flatMicroUsd * usdX18PerMicroUsd, fee),
      platformBps,
      skew: skewOf(inputs),
      appFeesBps,
      rent: convertUp(rent, native, fee),
      subsidy: inputs.subsidy(plan.feeCurrency, fee),
      // The potential's slope is twice its average; `checkPayable` refuses moves beyond `maxSkewBps`.
      slopeBpsMin: bpsDenominator - platformBps - appBps - 2n * paid.parameters.maxSkewBps,
    },
  }
}

type SkewInputs = Pick<FeeInputs, 'route' | 'snapshot' | 'inventory' | 'external' | 'rewards'> & {
  readonly plan: Pick<LegPlan, 'feeCurrency' | 'payoutCurrency'>
}

/** Cost of a move for the solver's inventory, rounded up; below zero a reward, which open ones lower. @source Q-40 */
export function skewOf(inputs: SkewInputs): FeeTerms['skew'] {
  const { snapshot, external, rewards } = inputs
  const { feeCurrency, payoutCurrency } = inputs.plan
  const fee = requirePrice(snapshot, feeCurrency)
  const move = movedPlaces(inputs)
  const { received, paid } = move
  // A move that others pay a part of earns nothing: what it does to the solver's inventory is not known.
  const bound = offerOf(payoutCurrency, external) === undefined ? rewards : noReward
  return (amountIn) => {
    const usdX18 = usdValueDown(amountIn, fee)
    const cost = skewCostUsd(
      { asset: received.asset, chainId: received.chainId, deltaUsd: usdX18 },
      { asset: paid.asset, chainId: paid.chainId, deltaUsd: -usdX18 },
    )
    return amountForUsdUp(cost < 0n ? bound.rewardOf(cost, { received, paid, usdX18 }) : cost, fee)
  }
}

function movedPlaces(inputs: SkewInputs): Pick<RatedMove, 'received' | 'paid'> {
  const { route, plan } = inputs
  const { received, paid } = inventories(inputs)
  return {
    received: { assetId: plan.feeCurrency.asset.id, chainId: route.origin.chainId, asset: received },
    paid: { assetId: plan.payoutCurrency.asset.id, chainId: route.destination.chainId, asset: paid },
  }
}

/** The inventories a plan touches. @throws QuoteError SERVICE_UNAVAILABLE when one cannot be valued or is unknown */
export function inventories({ inventory, plan }: Pick<SkewInputs, 'plan' | 'inventory'>): {
  received: AssetInventory
  paid: AssetInventory
} {
  return {
    received: requireInventory(inventory, plan.feeCurrency),
    paid: requireInventory(inventory, plan.payoutCurrency),
  }
}

function fillCost({ route, plan, snapshot, use, request, lack: reportedLack }: FeeInputs): bigint {
  const { destination, currencyOut } = route
  const fees = networkFees(snapshot, destination)
  const lack = requireLack(reportedLack, route)
  const kind = plan.destination === undefined ? 'fill' : 'fill-swap'
  const { callUnits, callBytes, payeeUnits: overheadUnits } = use
  const { isNative } = currencyOut
  const fill = fees.costOf({ kind, isNative, callUnits, callBytes, overheadUnits, lack })
  const topup = request.topupGas ? fees.costOf({ kind: 'fill-topup', isNative: true }) : 0n
  return applyMarkup(fill + topup, destination.config.feeModel.markupBps)
}

/** Origin fee of what the solver sends for the user, who pays it as part of the execution fee. */
export function relayedDepositCost({ request, route, plan, snapshot }: FeeInputs): bigint {
  const { origin } = route
  const relayedTransaction = relayedDeposit(request, route)
  if (relayedTransaction === undefined) return 0n
  const cost = applyMarkup(
    networkFees(snapshot, origin).costOf(relayedTransaction),
    origin.config.feeModel.markupBps,
  )
  return convertUp(cost, requirePrice(snapshot, origin.native), requirePrice(snapshot, plan.feeCurrency))
}

/** @throws QuoteError INVALID_REQUEST where the output already is the gas currency */
function gasTopup({ request, route, plan, snapshot }: FeeInputs): GasTopup | undefined {
  if (!request.topupGas) return undefined
  const currency = route.destination.native
  if (route.currencyOut.isNative) {
    throw new QuoteError(
      'INVALID_REQUEST',
      'topupGas needs a destination currency that is not the gas currency.',
      {
        data: { field: 'topupGas' },
      },
    )
  }
  const native = requirePrice(snapshot, currency)
  const amountWei = amountForUsdDown(request.topupGasMicroUsd * usdX18PerMicroUsd, native)
  const valueInFeeCurrency = convertUp(amountWei, native, requirePrice(snapshot, plan.feeCurrency))
  return { currency, amountWei, valueInFeeCurrency }
}

/**
 * Platform fee in bps, by the dearer class of the two currencies; disagreement of their price sources is charged on
 * top.
 */
function platformFeeBps({ route, plan, schedule, snapshot }: FeeInputs): bigint {
  const { currencyIn, currencyOut } = route
  if (currencyIn.asset === currencyOut.asset) return BigInt(schedule.sameAssetBps)
  const assetClass = dearerClass(currencyIn.assetClass, currencyOut.assetClass)
  const classBps = { stable: schedule.stableBps, major: schedule.majorBps, longtail: schedule.longtailBps }
  return BigInt(classBps[assetClass]) + conversionSpreadBps(snapshot, plan.feeCurrency, plan.payoutCurrency)
}

/** Disagreement of the sources of both prices in bps; a conversion within one asset reads none. */
export function conversionSpreadBps(
  snapshot: MarketSnapshot,
  from: QuotableCurrency,
  to: QuotableCurrency,
): bigint {
  if (from.asset === to.asset) return 0n
  return requirePrice(snapshot, from).spreadBps + requirePrice(snapshot, to).spreadBps
}

/** Account state that the recipient lacks for the output and a gas top-up; undefined if his chain does not tell. */
export async function recipientLack(
  lackOf: LackLookup,
  { destination, currencyOut, recipient }: Route,
  { topupGas }: Pick<QuoteRequest, 'topupGas'>,
): Promise<AccountLack | undefined> {
  const currencies = [currencyOut, ...(topupGas ? [destination.native] : [])]
  const lacks = await Promise.all(
    currencies.map(({ address }) =>
      lackOf({ chainId: destination.chainId, account: recipient, currency: address }),
    ),
  )
  // One currency is the rule, and nothing to join.
  if (lacks.length === 1) return lacks[0]
  let all: AccountLack = {}
  for (const lack of lacks) {
    if (lack === undefined) return undefined
    all = { ...all, ...lack }
  }
  return all
}

/**
 * An account that is not there yet keeps nothing of a payment below what its network asks for.
 * @throws QuoteError AMOUNT_TOO_LOW @source rule F-144
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
 * @throws QuoteError SERVICE_UNAVAILABLE, retryable: rent is never a guess; INVALID_RECIPIENT where nobody could make
 * the payment, or prove it
 */
export function requireLack(
  lack: AccountLack | undefined,
  { destination, recipient }: Pick<Route, 'destination' | 'recipient'>,
): AccountLack {
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
