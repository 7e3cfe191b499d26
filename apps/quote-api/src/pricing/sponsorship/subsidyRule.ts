import type { QuoteAsset } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import type { SubsidyRule } from '../fees/feeTerms.ts'
import { requireAssetPrice } from '../market/marketAccess.ts'
import type { PricedRoute } from '../pricedRoute.ts'
import { type Allocation, allocateSubsidy } from './allocateSubsidy.ts'
import type { SponsorshipTerms } from './sponsorshipTerms.ts'
import { type SponsorUnit, sponsorUnit } from './sponsorUnit.ts'

/** The asset of sponsor money, at its market price. */
export type PricedUsdc = { readonly asset: { readonly id: string }; readonly usdX18: bigint }

/** Without an asset of sponsor money every fee is converted at one dollar: no currency has this empty id. */
const usdcAtPar: PricedUsdc = { asset: { id: '' }, usdX18: 10n ** 18n }

/** @throws QuoteError PRICE_FETCH_FAILED while nobody knows whether USDC keeps its peg */
export function pricedUsdc(snapshot: MarketSnapshot, asset: QuoteAsset | undefined): PricedUsdc {
  if (asset === undefined) return usdcAtPar
  return { asset, usdX18: requireAssetPrice(snapshot, asset).usdX18 }
}

/**
 * The sponsor's part of the fees while an amount is being solved. All-or-nothing terms are solved without their cap:
 * beyond it the subsidy would fall to zero, and an output would have no smallest input. `shareOf` applies the cap.
 */
export function subsidyRule(terms: SponsorshipTerms, usdc: PricedUsdc): SubsidyRule {
  const rule = terms.allOrNothing ? { ...terms, capMicroUsd: undefined } : terms
  return ({ asset }, { decimals, usdX18 }) => {
    const unit = sponsorUnit({ asset, decimals, usdX18 }, usdc)
    return (fees) => allocateSubsidy(rule, fees, unit).total
  }
}

/** Split of a priced route's fees, and the sponsor's price of one unit of them. */
export function shareOf(
  terms: SponsorshipTerms,
  priced: PricedRoute,
  usdc: PricedUsdc,
): { readonly allocation: Allocation; readonly unit: SponsorUnit } {
  const { decimals, asset } = priced.feeCurrency
  const unit = sponsorUnit({ asset, decimals, usdX18: priced.prices.feeCurrency.usdX18 }, usdc)
  return { allocation: allocateSubsidy(terms, priced.split.parts, unit), unit }
}
