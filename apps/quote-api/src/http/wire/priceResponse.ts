import {
  bpsDown,
  type FeeTotalName,
  feeTotalNames,
  formatFixed,
  formatPercent,
  formatRate,
  formatUsd,
  perName,
  type UsdX18,
  usdValueDown,
} from '@causeway/core'
import { z } from 'zod'
import type { PricedCurrency } from '../../pricing/market/marketAccess.ts'
import { userCostOf } from '../../pricing/pricedRoute.ts'
import type { PricedRequest } from '../../pricing/priceRequest.ts'
import { operations } from '../../pricing/request.ts'
import { currencyAmountJson, currencyAmountSchema } from './currencyAmount.ts'

const totalDescriptions = {
  relayerGas: 'Destination-chain gas',
  relayerService: 'Paid to the solver; negative is a reward',
  relayer: 'Sum of relayerGas and relayerService',
  app: 'Owed to the app, claimed later',
} as const satisfies Record<FeeTotalName, string>

/** Fees of a price or quote. @source rules Q-fees-01 to Q-fees-06 */
export const feesSchema = z.object({
  gas: currencyAmountSchema.describe('Origin-chain gas, paid by the user to the network'),
  ...perName(feeTotalNames, (name) => currencyAmountSchema.describe(totalDescriptions[name])),
  subsidized: currencyAmountSchema.describe('Paid by the sponsor'),
})

/** Part of the origin's cost that another account pays, in the native currency; only in quotes, which may name one. */
export const feePayerSchema = z
  .object({ account: z.string(), networkFee: currencyAmountSchema, rent: currencyAmountSchema })
  .meta({ title: 'FeePayer' })

const impactSchema = z.object({ usd: z.string(), percent: z.string() })
const slippageSideSchema = z.object({ usd: z.string(), value: z.string(), percent: z.string() })

/** Members of `details` that /price and /quote share. @source rules Q-details-01 to Q-details-11 */
export const priceDetailsFields = {
  operation: z.enum(operations),
  sender: z.string(),
  recipient: z.string(),
  currencyIn: currencyAmountSchema,
  currencyOut: currencyAmountSchema,
  totalImpact: impactSchema.describe('Difference between input and output value, fees included'),
  swapImpact: impactSchema.describe('Impact of swaps, without fees'),
  rate: z.string().describe('Units of output per input unit'),
  slippageTolerance: z.object({
    total: z.string().describe('Basis points; origin and destination are alternative uses of it'),
    origin: slippageSideSchema,
    destination: slippageSideSchema,
  }),
  timeEstimate: z.number().describe('Seconds'),
  userBalance: z.string().optional().describe('Of the input currency, if known'),
  fallbackType: z
    .enum(['more-fee-tiers', 'two-hops', 'none'])
    .optional()
    .describe('With `useFallbacks`: what it added; `none`: what is quoted needs none'),
  externalLiquidity: z
    .enum(['used', 'none'])
    .optional()
    .describe('With `useExternalLiquidity`; `used`: part of `timeEstimate` is the wait for it'),
}

export const priceResponseSchema = z.object({ fees: feesSchema, details: z.object(priceDetailsFields) })

/**
 * JSON of `priceResponseSchema`, written as text because amounts repeat their currency (see
 * `currencyAmountJson`). No serializer sees it: a test, `answers.test.ts`, compares the text with the schema.
 */
export function priceToJson(priced: PricedRequest): string {
  const details = detailMembers(priced, currencyInJson(priced), currencyOutJson(priced))
  return `{"fees":${feesToJson(priced)},"details":{${details}}}`
}

export function feesToJson({ route, feeCurrency, split, prices, originCost }: PricedRequest): string {
  const gas = currencyAmountJson(route.origin.native, prices.originNative, userCostOf(originCost))
  const fee = (amount: bigint) => currencyAmountJson(feeCurrency, prices.feeCurrency, amount)
  let totals = ''
  for (const name of feeTotalNames) totals += `"${name}":${fee(split[name])},`
  return `{"gas":${gas},${totals}"subsidized":${fee(split.subsidized)}}`
}

export function currencyInJson({ route, prices, amountIn }: PricedRequest): string {
  return currencyAmountJson(route.currencyIn, prices.currencyIn, amountIn)
}

export function currencyOutJson({ route, prices, amountOut, amountOutMin }: PricedRequest): string {
  return currencyAmountJson(route.currencyOut, prices.currencyOut, amountOut, amountOutMin)
}

/** Members of `details`, without the braces around them: `/quote` adds more. */
export function detailMembers(priced: PricedRequest, currencyIn: string, currencyOut: string): string {
  const { route, prices, amountIn, amountOut, swapImpact } = priced
  const inUsd = usdValueDown(amountIn, prices.currencyIn)
  const impactUsd = usdValueDown(amountOut, prices.currencyOut) - inUsd
  const rate = formatRate({
    amountIn,
    decimalsIn: route.currencyIn.decimals,
    amountOut,
    decimalsOut: route.currencyOut.decimals,
  })
  // Text of callers and configuration is escaped; numbers need no escaping.
  const parties = `"operation":"${route.operation}","sender":${JSON.stringify(route.user)},"recipient":${JSON.stringify(route.recipient)}`
  const impact = `"totalImpact":${impactJson(impactUsd, inUsd)},"swapImpact":${impactJson(swapImpact.usd, inUsd)}`
  const balance = priced.userBalance === undefined ? '' : `,"userBalance":"${priced.userBalance}"`
  const fallback = priced.fallbackType === undefined ? '' : `,"fallbackType":"${priced.fallbackType}"`
  const externalUse = priced.external.length > 0 ? 'used' : 'none'
  const external = priced.mayUseExternal ? `,"externalLiquidity":"${externalUse}"` : ''
  const payer = feePayerToJson(priced)
  const tolerance = `"slippageTolerance":${slippageToJson(priced)}`
  return `${parties},"currencyIn":${currencyIn},"currencyOut":${currencyOut},${impact},"rate":"${rate}",${tolerance},"timeEstimate":${priced.timeEstimateSeconds}${balance}${fallback}${external}${payer}`
}

function feePayerToJson({ route, prices, originCost }: PricedRequest): string {
  const { payer, networkFee, rent } = originCost
  if (payer === undefined) return ''
  const paid = (amount: bigint) => currencyAmountJson(route.origin.native, prices.originNative, amount)
  return `,"depositFeePayer":{"account":${JSON.stringify(payer)},"networkFee":${paid(networkFee)},"rent":${paid(rent)}}`
}

/** @param wholeUsd what the percentage is of */
function impactJson(usd: UsdX18, wholeUsd: UsdX18): string {
  return `{"usd":"${formatUsd(usd)}","percent":"${formatPercent(usd, wholeUsd)}"}`
}

/** Tells for each side the loss if the whole tolerance is used there, in that side's output currency. */
function slippageToJson({ slippageBps, originLeg, solver, prices, amountOut }: PricedRequest): string {
  // Without a solver the origin's swap gives the output itself, which `destination` counts.
  const swapsOnOrigin = solver !== undefined && originLeg?.leg.kind === 'pool'
  const origin = swapsOnOrigin
    ? slippageSide(prices.feeCurrency, originLeg.amountOut, slippageBps)
    : slippageSide(prices.feeCurrency, 0n, 0n)
  const destination = slippageSide(prices.currencyOut, amountOut, slippageBps)
  return `{"total":"${slippageBps}","origin":${origin},"destination":${destination}}`
}

function slippageSide(price: PricedCurrency, amount: bigint, slippageBps: bigint): string {
  const value = bpsDown(amount, slippageBps)
  const usd = formatUsd(usdValueDown(value, price))
  return `{"usd":"${usd}","value":"${value}","percent":"${formatFixed(slippageBps, 2)}"}`
}
