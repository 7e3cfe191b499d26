import { feesByImpact, formatUsd, impactMembers, perName, type UsdX18, usdValueDown } from '@causeway/core'
import { z } from 'zod'
import { type LegQuote, swapSource } from '../../pricing/legs/legs.ts'
import { shownPrice } from '../../pricing/market/marketAccess.ts'
import type { PricedRequest } from '../../pricing/priceRequest.ts'
import type { SponsorshipOutcome } from '../../pricing/sponsorship/sponsorshipOutcome.ts'
import type { Quote, QuotedOrder } from '../../requests/draft/draftQuote.ts'
import { currencyAmountJson, currencyAmountSchema } from './currencyAmount.ts'
import { feeSponsorshipJson, feeSponsorshipSchema } from './feeSponsorship.ts'
import { orderWireSchema, stepSchema } from './orderWire.ts'
import {
  currencyInJson,
  currencyOutJson,
  detailMembers,
  feePayerSchema,
  feesSchema,
  feesToJson,
  priceDetailsFields,
} from './priceResponse.ts'

const usdOnly = z.object({ usd: z.string() })

const routeSideSchema = z.object({
  inputCurrency: currencyAmountSchema,
  outputCurrency: currencyAmountSchema,
  router: z.string().describe('`causeway` for the solver itself, else the exchange'),
  includedSwapSources: z.array(z.string()),
})

const quoteDetailsSchema = z.object({
  ...priceDetailsFields,
  depositFeePayer: feePayerSchema.optional().describe('Pays this instead of the user'),
  refundCurrency: currencyAmountSchema.describe('What a refund pays at least'),
  currencyGasTopup: currencyAmountSchema.optional(),
  originGas: z
    .object({ units: z.string(), limit: z.string() })
    .optional()
    .describe('Gas units of all steps: expected, which `fees.gas` is made of, and allowed by their limits'),
  expandedPriceImpact: z
    .object({ ...perName(impactMembers, () => usdOnly), sponsored: usdOnly })
    .describe('Costs are negative, the sponsored part positive'),
  route: z.object({ origin: routeSideSchema, destination: routeSideSchema }),
})

/** Answer of /quote and /quote/v2. @source rule Q-138 */
export const quoteResponseSchema = z
  .object({
    requestId: z.string().describe('Identifies the request across the whole interface'),
    environment: z.string(),
    expiresAt: z
      .number()
      .describe(
        'Unix seconds. A deposit in a later block, one block of grace aside, is priced anew: filled as quoted only where that is no worse, else refunded',
      ),
    steps: z.array(stepSchema).describe('To execute in order'),
    fees: feesSchema,
    feeSponsorship: feeSponsorshipSchema.optional().describe('Present when a sponsorship field was sent'),
    details: quoteDetailsSchema,
    breakdown: z.array(z.object({ value: z.string(), timeEstimate: z.number() })),
    protocol: z.object({ v2: orderWireSchema }).optional().describe('Absent where the user executes alone'),
  })
  .meta({ title: 'Quote' })

/**
 * JSON of `quoteResponseSchema`, compared with it by a test alone, as that of /price is. Steps and order are
 * copied as the very texts that were hashed or stored.
 */
export function quoteToJson(quote: Quote, environment: string): string {
  const { ordered, priced, sponsorship } = quote
  const identity = `"requestId":"${quote.requestId}","environment":${JSON.stringify(environment)},"expiresAt":${quote.expiresAtSeconds}`
  const sponsored =
    sponsorship === undefined ? '' : `,"feeSponsorship":${sponsorshipToJson(priced, sponsorship)}`
  const breakdown = `[{"value":"${priced.amountOut}","timeEstimate":${priced.timeEstimateSeconds}}]`
  const protocol = ordered === undefined ? '' : `,"protocol":{"v2":${orderToJson(priced, ordered)}}`
  return `{${identity},"steps":${quote.stepsJson},"fees":${feesToJson(priced)}${sponsored},"details":${quoteDetailsToJson(priced)},"breakdown":${breakdown}${protocol}}`
}

function orderToJson({ route, feeCurrency, solver }: PricedRequest, ordered: QuotedOrder): string {
  const payment = JSON.stringify({
    chainId: route.origin.key,
    depository: route.origin.depository,
    currency: feeCurrency.address,
    // The 0 is never shown: an order exists only where a solver fills it.
    amount: (solver?.depositAmount ?? 0n).toString(),
  })
  const { orderId, orderJson, signature } = ordered
  const signatureText = signature === undefined ? '' : `,"orderSignature":"${signature}"`
  return `{"orderId":"${orderId}","hubType":"onchain","orderData":${orderJson}${signatureText},"paymentDetails":${payment}}`
}

function sponsorshipToJson(
  { split, feeCurrency, prices }: PricedRequest,
  outcome: SponsorshipOutcome,
): string {
  return feeSponsorshipJson(feeCurrency, { unit: prices.feeCurrency, parts: split.parts, ...outcome })
}

function quoteDetailsToJson(priced: PricedRequest): string {
  const { solver, feeCurrency, prices } = priced
  const currencyIn = currencyInJson(priced)
  const currencyOut = currencyOutJson(priced)
  // Without a solver nothing is refunded, and the fee currency is that of the input.
  const refund = solver?.refundMinimum ?? priced.amountIn
  const refundCurrency = `"refundCurrency":${currencyAmountJson(feeCurrency, prices.feeCurrency, refund)}`
  return `{${detailMembers(priced, currencyIn, currencyOut)},${refundCurrency}${topupMember(priced)}${gasMember(priced)},"expandedPriceImpact":${expandedImpact(priced)},"route":${routeToJson(priced, currencyIn, currencyOut)}}`
}

function topupMember({ solver, prices }: PricedRequest): string {
  if (solver?.topup === undefined) return ''
  const { currency, amountWei } = solver.topup
  return `,"currencyGasTopup":${currencyAmountJson(currency, prices.destinationNative, amountWei)}`
}

function gasMember({ originGas }: PricedRequest): string {
  if (originGas === undefined) return ''
  return `,"originGas":{"units":"${originGas.expected}","limit":"${originGas.limit}"}`
}

function expandedImpact({ split, prices }: PricedRequest): string {
  const usd = (amount: bigint): UsdX18 => usdValueDown(amount, prices.feeCurrency)
  const fees = feesByImpact(split.parts)
  const costs = impactMembers.map((member) => `"${member}":{"usd":"${formatUsd(-usd(fees[member]))}"}`)
  return `{${costs.join(',')},"sponsored":{"usd":"${formatUsd(usd(split.subsidized))}"}}`
}

/**
 * Both sides of the route. The origin ends with what the solver receives, the destination begins with what it pays out.
 * Without a solver the origin's swap gives the output itself.
 */
function routeToJson(priced: PricedRequest, currencyIn: string, currencyOut: string): string {
  const { route, feeCurrency, prices, split, solver, originLeg, destinationLeg, snapshot } = priced
  const payout = solver?.payoutCurrency ?? route.currencyOut
  const payoutAmount = destinationLeg?.amountIn ?? priced.amountOut
  const received =
    solver === undefined ? currencyOut : currencyAmountJson(feeCurrency, prices.feeCurrency, split.amountIn)
  const paid = currencyAmountJson(payout, shownPrice(snapshot, payout), payoutAmount)
  return `{"origin":${routeSide(currencyIn, received, originLeg)},"destination":${routeSide(paid, currencyOut, destinationLeg)}}`
}

/** Legs without hops are one-to-one, such as wrapping: no exchange takes part. */
function routeSide(input: string, output: string, leg: LegQuote | undefined): string {
  const router =
    leg === undefined || leg.hops.length === 0
      ? '"router":"causeway","includedSwapSources":[]'
      : `"router":"${swapSource}","includedSwapSources":["${swapSource}"]`
  return `{"inputCurrency":${input},"outputCurrency":${output},${router}}`
}
