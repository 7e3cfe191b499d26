import type { QuoteAsset } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import type { SubsidyRule } from '../fees/feeTerms.ts'
import { requireAssetPrice } from '../market/marketAccess.ts'
import type { PricedRoute } from '../pricedRoute.ts'
import { type Allocation, allocateSubsidy } from './allocateSubsidy.ts'
import type { SponsorshipTerms } from './sponsorshipTerms.ts'
import { type SponsorUnit, sponsorUnit } from './sponsorUnit.ts'

/** The asset of sponsor balances, USDC, at its market price. */
export type PricedUsdc = { readonly asset: { readonly id: string }; readonly usdX18: bigint }

/** USDC at one dollar, used if no sponsor asset is configured. No fee currency has an asset of this id. */
const usdcAtPar: PricedUsdc = { asset: { id: '' }, usdX18: 10n ** 18n }

/**
 * USDC at its present price.
 * @param asset asset of sponsor balances; undefined: none is configured
 * @throws QuoteError PRICE_FETCH_FAILED if it has no price now: USDC may have lost its peg
 */
export function pricedUsdc(snapshot: MarketSnapshot, asset: QuoteAsset | undefined): PricedUsdc {
  if (asset === undefined) return usdcAtPar
  return { asset, usdX18: requireAssetPrice(snapshot, asset).usdX18 }
}

/**
 * The sponsor's part of the fees, as pricing asks for it: for a fee currency at its price, then for fees.
 *
 * All-or-nothing terms are priced without their cap. With it the subsidy would drop to zero at the input
 * whose fees exceed the cap, so that a larger input could leave less, and `solveAmountIn` could find no
 * smallest one. `shareOf` applies the cap to the priced fees. If they exceed it, the sponsor pays nothing,
 * and the caller prices the request again without him.
 */
export function subsidyRule(terms: SponsorshipTerms, usdc: PricedUsdc): SubsidyRule {
  const pricedTerms = terms.allOrNothing ? { ...terms, capMicroUsd: undefined } : terms
  return ({ asset }, { decimals, usdX18 }) => {
    const unit = sponsorUnit({ asset, decimals, usdX18 }, usdc)
    return (fees) => allocateSubsidy(pricedTerms, fees, unit).total
  }
}

/** Split of a priced route's fees between user and sponsor, and the price of their unit for the sponsor. */
export function shareOf(
  terms: SponsorshipTerms,
  priced: PricedRoute,
  usdc: PricedUsdc,
): { readonly allocation: Allocation; readonly unit: SponsorUnit } {
  const { decimals, asset } = priced.feeCurrency
  const unit = sponsorUnit({ asset, decimals, usdX18: priced.prices.feeCurrency.usdX18 }, usdc)
  return { allocation: allocateSubsidy(terms, priced.split.parts, unit), unit }
}
