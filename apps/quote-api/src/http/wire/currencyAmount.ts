import { formatAmount, formatUsd, type PricedUnit, usdValueDown } from '@causeway/core'
import { z } from 'zod'
import type { QuotableCurrency } from '../../pricing/registry.ts'

/** Currency of an amount in an answer. @source rules Q-amount-05, Q-amount-06 */
export const currencySchema = z
  .object({
    chainId: z.number(),
    address: z.string(),
    symbol: z.string(),
    name: z.string(),
    decimals: z.number(),
    metadata: z.object({ logoURI: z.string(), verified: z.boolean(), isNative: z.boolean() }).optional(),
  })
  .meta({ title: 'Currency' })

export const currencyAmountSchema = z
  .object({
    currency: currencySchema,
    amount: z.string().describe("Integer in the currency's smallest unit"),
    amountFormatted: z.string(),
    amountUsd: z.string(),
    minimumAmount: z.string().describe("Integer in the currency's smallest unit"),
  })
  .meta({ title: 'CurrencyAmount' })

export type CurrencyWire = z.infer<typeof currencySchema>
type CurrencyAmountWire = z.infer<typeof currencyAmountSchema>

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

/** An amount of a currency, configured or not, with its worth in USD at the price of `unit`. */
export function valuedAmountToWire(
  currency: CurrencyWire,
  unit: PricedUnit,
  amount: bigint,
  minimumAmount: bigint = amount,
): CurrencyAmountWire {
  const text = amount.toString()
  return {
    currency,
    amount: text,
    amountFormatted: formatAmount(amount, unit.decimals),
    amountUsd: formatUsd(usdValueDown(amount, unit)),
    minimumAmount: minimumAmount === amount ? text : minimumAmount.toString(),
  }
}

/** Parts of a currency's amounts that are the same in each: what stands before the digits, and all of an amount of 0. */
type AmountTexts = { readonly start: string; readonly zero: string }

const textsOfCurrency = new WeakMap<QuotableCurrency, AmountTexts>()

function amountTexts(currency: QuotableCurrency): AmountTexts {
  const known = textsOfCurrency.get(currency)
  if (known !== undefined) return known
  const start = `{"currency":${JSON.stringify(currencyToWire(currency))},"amount":"`
  const texts = {
    start,
    zero: `${start}0","amountFormatted":"0.0","amountUsd":"0.000000","minimumAmount":"0"}`,
  }
  textsOfCurrency.set(currency, texts)
  return texts
}

/**
 * JSON of `valuedAmountToWire` for a configured currency. An answer has up to twenty such amounts, so it is written as
 * text, and a currency's own members are serialized once. Digits need no escaping.
 */
export function currencyAmountJson(
  currency: QuotableCurrency,
  unit: PricedUnit,
  amount: bigint,
  minimumAmount: bigint = amount,
): string {
  const { start, zero } = amountTexts(currency)
  if (amount === 0n && minimumAmount === 0n) return zero
  const text = amount.toString()
  const minimum = minimumAmount === amount ? text : minimumAmount.toString()
  const formatted = formatAmount(amount, currency.decimals)
  const usd = formatUsd(usdValueDown(amount, unit))
  return `${start}${text}","amountFormatted":"${formatted}","amountUsd":"${usd}","minimumAmount":"${minimum}"}`
}
