import { bpsDown, formatFixed, formatPercent, formatRate, formatUsd, usdValueDown } from '@causeway/core'
import { z } from 'zod'
import { legImpact } from '../quoting/legImpact.ts'
import type { PricedCurrency } from '../quoting/marketAccess.ts'
import type { PricedRoute } from '../quoting/pricedRoute.ts'
import type { Priced } from '../quoting/priceRequest.ts'
import { operations } from '../quoting/request.ts'
import { currencyAmountSchema, currencyAmountToWire } from './currencyAmount.ts'

/** @source quote-and-sponsorship.md, Price response: `fees` object */
export const feesSchema = z.object({
  gas: currencyAmountSchema.describe('Origin-chain gas, paid by the user to the network'),
  relayerGas: currencyAmountSchema.describe('Destination-chain gas'),
  relayerService: currencyAmountSchema.describe('Paid to the solver; negative is a reward'),
  relayer: currencyAmountSchema.describe('Sum of relayerGas and relayerService'),
  app: currencyAmountSchema.describe('Owed to the app, claimed later'),
  subsidized: currencyAmountSchema.describe('Paid by the sponsor'),
})

const impactSchema = z.object({ usd: z.string(), percent: z.string() })
const slippageSideSchema = z.object({ usd: z.string(), value: z.string(), percent: z.string() })

/** @source quote-and-sponsorship.md, Price response: `details` object */
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
  userBalance: z.string().describe('Of the input currency, "0" when unknown'),
}

export const priceResponseSchema = z.object({ fees: feesSchema, details: z.object(priceDetailsFields) })

export type PriceResponse = z.infer<typeof priceResponseSchema>

export function priceToWire(priced: Priced): PriceResponse {
  return { fees: feesToWire(priced), details: detailsToWire(priced) }
}

export function feesToWire({ amounts, originGasWei }: Priced): PriceResponse['fees'] {
  const { route, feeCurrency, split, prices } = amounts
  const fee = (amount: bigint) => currencyAmountToWire(feeCurrency, prices.feeCurrency, amount)
  return {
    gas: currencyAmountToWire(route.origin.native, prices.originNative, originGasWei),
    relayerGas: fee(split.relayerGas),
    relayerService: fee(split.relayerService),
    relayer: fee(split.relayer),
    app: fee(split.app),
    subsidized: fee(split.subsidized),
  }
}

export function detailsToWire(priced: Priced): PriceResponse['details'] {
  const { route, prices, amountIn, amountOut, amountOutMin } = priced.amounts
  const inUsd = usdValueDown(amountIn, prices.currencyIn)
  const impactUsd = usdValueDown(amountOut, prices.currencyOut) - inUsd
  const swap = legImpact(priced.snapshot, [priced.amounts.originLeg, priced.amounts.destinationLeg])
  return {
    operation: route.operation,
    sender: route.user,
    recipient: route.recipient,
    currencyIn: currencyAmountToWire(route.currencyIn, prices.currencyIn, amountIn),
    currencyOut: currencyAmountToWire(route.currencyOut, prices.currencyOut, amountOut, amountOutMin),
    totalImpact: { usd: formatUsd(impactUsd), percent: formatPercent(impactUsd, inUsd) },
    swapImpact: { usd: formatUsd(swap.usd), percent: formatPercent(swap.usd, inUsd) },
    rate: formatRate({
      amountIn,
      decimalsIn: route.currencyIn.decimals,
      amountOut,
      decimalsOut: route.currencyOut.decimals,
    }),
    slippageTolerance: slippageToWire(priced.amounts),
    timeEstimate: priced.timeEstimateSeconds,
    userBalance: priced.userBalance.toString(),
  }
}

/** Each side: what is lost if the whole budget is spent there, in that side's output currency. */
function slippageToWire(amounts: PricedRoute): PriceResponse['details']['slippageTolerance'] {
  const { slippageBps, originLeg, solver, prices, amountOut } = amounts
  const swapsOnOrigin = solver !== undefined && originLeg?.leg.kind === 'pool'
  return {
    total: slippageBps.toString(),
    origin: swapsOnOrigin
      ? slippageSide(prices.feeCurrency, originLeg.amountOut, slippageBps)
      : slippageSide(prices.feeCurrency, 0n, 0n),
    destination: slippageSide(prices.currencyOut, amountOut, slippageBps),
  }
}

function slippageSide(price: PricedCurrency, amount: bigint, slippageBps: bigint) {
  const value = bpsDown(amount, slippageBps)
  return {
    usd: formatUsd(usdValueDown(value, price)),
    value: value.toString(),
    percent: formatFixed(slippageBps, 2),
  }
}
