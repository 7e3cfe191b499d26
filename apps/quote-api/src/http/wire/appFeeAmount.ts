import { formatAmount, formatUsd, usdValueDown } from '@causeway/core'
import type { LedgerAsset } from '@causeway/ledger'
import type { MarketSnapshot } from '@causeway/market'
import type { z } from 'zod'
import { findCurrency, type QuoteRegistry } from '../../pricing/registry.ts'
import { currencyAmountSchema, currencyToWire } from './currencyAmount.ts'

/** An amount whose currency may be neither configured nor priced any more. */
export const appFeeAmountSchema = currencyAmountSchema.extend({
  amountUsd: currencyAmountSchema.shape.amountUsd
    .optional()
    .describe('Absent while the currency has no price'),
})

/** An amount of app fees, with its currency and USD where these are known. */
export function appFeeAmountToWire(
  { registry, snapshot }: { readonly registry: QuoteRegistry; readonly snapshot: MarketSnapshot },
  asset: LedgerAsset,
  amount: bigint,
): z.infer<typeof appFeeAmountSchema> {
  const chain = registry.chainById.get(asset.chainId)
  const currency = chain === undefined ? undefined : findCurrency(chain, asset.address)
  const price = currency === undefined ? undefined : snapshot.price(currency.asset.priceKey)
  const text = amount.toString()
  return {
    currency: currency === undefined ? { ...asset } : currencyToWire(currency),
    amount: text,
    amountFormatted: formatAmount(amount, asset.decimals),
    ...(price !== undefined &&
      !('reason' in price) && {
        amountUsd: formatUsd(usdValueDown(amount, { decimals: asset.decimals, usdX18: price.usdX18 })),
      }),
    // Quoted amounts have a minimum below them; this one is exact.
    minimumAmount: text,
  }
}
