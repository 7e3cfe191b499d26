import { type MaybePromise, type PricedUnit, type UsdX18, usdValueDown } from '@causeway/core'
import type { ExternalLiquiditySettings } from '@causeway/core/config'
import type { QuotableCurrency } from '../registry.ts'
import { type AssetInventory, payableUsd } from './inventory.ts'

/** Liquidity that a third party offers to bring to a chain; `available` in smallest units of the asked currency. */
export type LiquidityOffer = {
  readonly available: bigint
  /** Cost of the offer, in bps of the payout. */
  readonly feeBps: number
  /** Seconds from now until the money is with the solver. */
  readonly readySeconds: number
}

/** An offer that a quote may count on. */
export type ExternalLiquidity = LiquidityOffer & { readonly currency: QuotableCurrency }

/**
 * Asks the configured source what it brings of a currency to its chain; undefined where it brings nothing, does not
 * answer within its budget, or asks for more than the settings allow. Never rejects.
 */
export type FindLiquidity = (liquidityRequest: {
  readonly currency: QuotableCurrency
  readonly amount: bigint
}) => MaybePromise<LiquidityOffer | undefined>

/** True if an offer is within the configured bounds on cost and delay, whatever its maker asks for. */
export function isAcceptable(
  { available, feeBps, readySeconds }: LiquidityOffer,
  { maxFeeBps, maxReadySeconds }: ExternalLiquiditySettings,
): boolean {
  return available > 0n && feeBps <= maxFeeBps && readySeconds <= maxReadySeconds
}

/** The offer of the payout currency on its chain; undefined where there is none. */
export function offerOf(
  payout: QuotableCurrency,
  offers: readonly ExternalLiquidity[] = [],
): ExternalLiquidity | undefined {
  return offers.find(({ currency }) => currency === payout)
}

/**
 * USD that may be paid out in a currency: the solver's own inventory less its reserve, plus the offer. An offer changes
 * nothing else: skew and rewards are computed from the solver's own inventory. @source Q-34
 */
export function payableWithOffer(
  own: AssetInventory,
  { currency, price }: { readonly currency: QuotableCurrency; readonly price: PricedUnit },
  offer: ExternalLiquidity | undefined,
): UsdX18 {
  const offeredUsd = offer === undefined ? 0n : usdValueDown(offer.available, price)
  return payableUsd(own, currency) + offeredUsd
}
