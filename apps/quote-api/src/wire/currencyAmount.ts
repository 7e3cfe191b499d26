import { formatAmount, formatUsd, usdValueDown } from '@causeway/core'
import { z } from 'zod'
import type { PricedCurrency } from '../quoting/marketAccess.ts'
import type { QuotableCurrency } from '../quoting/registry.ts'

/** @source quote-and-sponsorship.md, CurrencyAmount */
export const currencySchema = z.object({
  chainId: z.number(),
  address: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number(),
  metadata: z.object({ logoURI: z.string(), verified: z.boolean(), isNative: z.boolean() }).optional(),
})

export const currencyAmountSchema = z.object({
  currency: currencySchema,
  amount: z.string().describe("Integer in the currency's smallest unit"),
  amountFormatted: z.string(),
  amountUsd: z.string(),
  minimumAmount: z.string().describe("Integer in the currency's smallest unit"),
})

export type CurrencyWire = z.infer<typeof currencySchema>
export type CurrencyAmountWire = z.infer<typeof currencyAmountSchema>

export function currencyToWire(currency: QuotableCurrency): CurrencyWire {
  return {
    chainId: currency.chainId,
    address: currency.address,
    symbol: currency.symbol,
    name: currency.name,
    decimals: currency.decimals,
    metadata: { logoURI: currency.logoUri ?? '', verified: true, isNative: currency.isNative },
  }
}

/** One amount of a currency, valued at the quote's own prices. */
export function currencyAmountToWire(
  currency: QuotableCurrency,
  price: PricedCurrency,
  amount: bigint,
  minimumAmount: bigint = amount,
): CurrencyAmountWire {
  const text = amount.toString()
  return {
    currency: currencyToWire(currency),
    amount: text,
    amountFormatted: formatAmount(amount, currency.decimals),
    amountUsd: formatUsd(usdValueDown(amount, price)),
    minimumAmount: minimumAmount === amount ? text : minimumAmount.toString(),
  }
}
