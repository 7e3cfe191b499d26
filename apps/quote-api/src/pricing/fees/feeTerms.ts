import { amountForUsdDown, amountForUsdUp, bpsDenominator, convertUp } from '@causeway/core'
import type { AccountLack } from '@causeway/families/rules'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../errors.ts'
import type { LegPlan } from '../legs/legs.ts'
import { dearerClass } from '../legs/slippage.ts'
import { type ExternalLiquidity, offerOf } from '../market/externalLiquidity.ts'
import type { InventoryView } from '../market/inventoryView.ts'
import { type PricedCurrency, requirePrice } from '../market/marketAccess.ts'
import type { RewardLimit } from '../openQuotes/rewardLimit.ts'
import type { QuotableCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import type { Route } from '../routes/route.ts'
import { applyMarkup, networkFees, relayedDeposit } from './gas.ts'
import { requireLack } from './recipientLack.ts'
import { inventories, skewOf } from './skew.ts'
import type { FeeTerms } from './solve.ts'

/** The platform's fees, `schedule` of the quote file: a flat one, and bps by asset class. */
export type Schedule = {
  readonly flatMicroUsd: bigint
  readonly sameAssetBps: number
  readonly stableBps: number
  readonly majorBps: number
  readonly longtailBps: number
}

/** Everything that the fees of one plan depend on, apart from the amount. */
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
  readonly rewards: RewardLimit
  /** Liquidity that others bring; not in `inventory`. */
  readonly external?: readonly ExternalLiquidity[] | undefined
}

/** Gas units and bytes that a request's calls and payees use beyond plain payments. */
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

/** Use of a request without calls, whose payees are plain accounts. */
export const plainUse: MeasuredUse = { callUnits: 0n, callBytes: 0n, payeeUnits: 0n, refundUnits: 0n }

/** A second output payment in the destination's native currency. */
export type GasTopup = {
  readonly currency: QuotableCurrency
  readonly amountWei: bigint
  /** Value in smallest units of the fee currency; part of `gas`. */
  readonly valueInFeeCurrency: bigint
}

/**
 * Part of the fees that a sponsor pays, for one fee currency at its price; always 0 without a sponsor. It
 * must not fall when the input grows, because `solveAmountIn` relies on that.
 */
export type SubsidyRule = (feeCurrency: QuotableCurrency, price: PricedCurrency) => FeeTerms['subsidy']

const usdX18PerMicroUsd = 10n ** 12n

/**
 * Computes every fee of a solver's route, as a function of the input, for `splitFees` and `solveAmountIn`.
 * @throws QuoteError when a price, a fee or the inventory is unknown
 */
export function feeTerms(inputs: FeeInputs): {
  terms: FeeTerms
  topup: GasTopup | undefined
  /** Charge for the fill's network fee, with the state that it makes, in smallest units of the native coin. */
  gasCharged: bigint
} {
  const { route, plan, snapshot, request, schedule } = inputs
  const feePrice = requirePrice(snapshot, plan.feeCurrency)
  const nativePrice = requirePrice(snapshot, route.destination.native)
  const topup = gasTopup(inputs)
  const fillNative = fillCost(inputs)
  const rentNative = networkFees(snapshot, route.destination).rentOf(requireLack(inputs.lack, route))
  const fillGas = convertUp(fillNative, nativePrice, feePrice)
  const gas = fillGas + relayedDepositCost(inputs) + (topup?.valueInFeeCurrency ?? 0n)
  const offer = offerOf(plan.payoutCurrency, inputs.external)
  // The fee of external liquidity is charged on the whole payout, even if the offer covers only a part of it.
  const platformBps = platformFeeBps(inputs) + BigInt(offer?.feeBps ?? 0)
  const appFeesBps = request.appFees.map(({ bps }) => bps)
  const appBps = appFeesBps.reduce((sum, bps) => sum + bps, 0n)
  const { maxSkewBps } = inventories(inputs).paid.parameters
  return {
    topup,
    gasCharged: fillNative + rentNative,
    terms: {
      gas,
      flat: amountForUsdUp(schedule.flatMicroUsd * usdX18PerMicroUsd, feePrice),
      platformBps,
      skew: skewOf(inputs),
      appFeesBps,
      rent: convertUp(rentNative, nativePrice, feePrice),
      subsidy: inputs.subsidy(plan.feeCurrency, feePrice),
      // Skew is the change of a quadratic potential (inventory.ts), so its rate at the margin is at most
      // twice its average, which `checkPayable` keeps below `maxSkewBps`. Gas, flat fee and rent do not
      // depend on the input, and the subsidy does not fall when it grows.
      slopeBpsMin: bpsDenominator - platformBps - appBps - 2n * maxSkewBps,
    },
  }
}

/** Charge for the network fee of the fill and its gas top-up, in smallest units of the destination's native coin. */
function fillCost({ route, plan, snapshot, use, request, lack: lackIfKnown }: FeeInputs): bigint {
  const { destination, currencyOut } = route
  const fees = networkFees(snapshot, destination)
  const lack = requireLack(lackIfKnown, route)
  const kind = plan.destination === undefined ? 'fill' : 'fill-swap'
  const { callUnits, callBytes, payeeUnits: overheadUnits } = use
  const { isNative } = currencyOut
  const fill = fees.costOf({ kind, isNative, callUnits, callBytes, overheadUnits, lack })
  const topup = request.topupGas ? fees.costOf({ kind: 'fill-topup', isNative: true }) : 0n
  return applyMarkup(fill + topup, destination.config.feeModel.markupBps)
}

/**
 * Network fee of the origin transaction that the solver sends for the user, in the fee currency; 0 where the user sends
 * the deposit. It is charged as a part of `gas`.
 */
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

/**
 * The top-up that the request asks for.
 * @throws QuoteError INVALID_REQUEST where the output is the gas currency already
 */
function gasTopup({ request, route, plan, snapshot }: FeeInputs): GasTopup | undefined {
  if (!request.topupGas) return undefined
  const currency = route.destination.native
  if (route.currencyOut.isNative) {
    throw new QuoteError(
      'INVALID_REQUEST',
      'topupGas needs a destination currency that is not the gas currency.',
      { data: { field: 'topupGas' } },
    )
  }
  const native = requirePrice(snapshot, currency)
  const amountWei = amountForUsdDown(request.topupGasMicroUsd * usdX18PerMicroUsd, native)
  const valueInFeeCurrency = convertUp(amountWei, native, requirePrice(snapshot, plan.feeCurrency))
  return { currency, amountWei, valueInFeeCurrency }
}

/**
 * Platform fee in bps, by the dearer class of input and output currency. Between two assets the disagreement
 * of the price sources of fee and payout currency is charged on top.
 */
function platformFeeBps({ route, plan, schedule, snapshot }: FeeInputs): bigint {
  const { currencyIn, currencyOut } = route
  if (currencyIn.asset === currencyOut.asset) return BigInt(schedule.sameAssetBps)
  const assetClass = dearerClass(currencyIn.assetClass, currencyOut.assetClass)
  const classBps = { stable: schedule.stableBps, major: schedule.majorBps, longtail: schedule.longtailBps }
  return BigInt(classBps[assetClass]) + conversionSpreadBps(snapshot, plan.feeCurrency, plan.payoutCurrency)
}

/** Disagreement of the sources of both prices in bps; 0 within one asset, whose conversion uses no price. */
export function conversionSpreadBps(
  snapshot: MarketSnapshot,
  from: QuotableCurrency,
  to: QuotableCurrency,
): bigint {
  if (from.asset === to.asset) return 0n
  return requirePrice(snapshot, from).spreadBps + requirePrice(snapshot, to).spreadBps
}
