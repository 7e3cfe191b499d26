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

/** Stands in where no sponsor asset is configured: USDC at one dollar. No currency has the empty id. */
const usdcAtPar: PricedUsdc = { asset: { id: '' }, usdX18: 10n ** 18n }

/** USDC at its present price. @throws QuoteError PRICE_FETCH_FAILED without one, because its peg may be lost */
export function pricedUsdc(snapshot: MarketSnapshot, asset: QuoteAsset | undefined): PricedUsdc {
  if (asset === undefined) return usdcAtPar
  return { asset, usdX18: requireAssetPrice(snapshot, asset).usdX18 }
}

/**
 * The sponsor's part of the fees, for pricing. All-or-nothing terms are priced without their cap: where fees exceed it
 * the subsidy would drop to zero, and `solveAmountIn` could find no smallest input. `shareOf` applies the cap later.
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
