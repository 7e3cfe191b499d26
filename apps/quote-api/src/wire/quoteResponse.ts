import { formatUsd, type UsdX18, usdValueDown } from '@causeway/core'
import { z } from 'zod'
import type { Quote } from '../quoting/createQuote.ts'
import type { LegQuote } from '../quoting/legs.ts'
import { requirePrice } from '../quoting/marketAccess.ts'
import type { PricedRoute } from '../quoting/pricedRoute.ts'
import type { Priced } from '../quoting/priceRequest.ts'
import { currencyAmountSchema, currencyAmountToWire } from './currencyAmount.ts'
import { orderWireSchema, stepSchema } from './orderWire.ts'
import {
  detailsToWire,
  feesSchema,
  feesToWire,
  type PriceResponse,
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
  refundCurrency: currencyAmountSchema.describe('What a refund pays at least'),
  currencyGasTopup: currencyAmountSchema.optional(),
  expandedPriceImpact: z
    .object({ swap: usdOnly, execution: usdOnly, relay: usdOnly, app: usdOnly, sponsored: usdOnly })
    .describe('Costs are negative, the sponsored part positive'),
  route: z.object({ origin: routeSideSchema, destination: routeSideSchema }),
})

/** @source quote-and-sponsorship.md, POST /quote; quote-api.md 2.2 */
export const quoteResponseSchema = z.object({
  requestId: z.string().describe('Identifies the request across the whole interface'),
  environment: z.string(),
  expiresAt: z.number().describe('Unix seconds; quote again after it'),
  steps: z.array(stepSchema).describe('To execute in order'),
  fees: feesSchema,
  details: quoteDetailsSchema,
  breakdown: z.array(z.object({ value: z.string(), timeEstimate: z.number() })),
  protocol: z.object({ v2: orderWireSchema }).optional().describe('Absent where the user executes alone'),
})

export type QuoteResponse = z.infer<typeof quoteResponseSchema>

export function quoteToWire(quote: Quote, environment: string): QuoteResponse {
  const { signed, priced } = quote
  const { route, feeCurrency, amountOut } = priced.amounts
  return {
    requestId: quote.requestId,
    environment,
    expiresAt: quote.expiresAtSeconds,
    steps: quote.steps.map((step) => ({ ...step, items: [...step.items] })),
    fees: feesToWire(priced),
    details: quoteDetailsToWire(priced),
    breakdown: [{ value: amountOut.toString(), timeEstimate: priced.timeEstimateSeconds }],
    ...(signed !== undefined && {
      protocol: {
        v2: {
          orderId: signed.orderId,
          hubType: 'onchain' as const,
          orderData: signed.order,
          orderSignature: signed.signature,
          paymentDetails: {
            chainId: route.origin.key,
            depository: route.origin.depository,
            currency: feeCurrency.address,
            amount: signed.order.inputs[0]?.payment.amount ?? '0',
          },
        },
      },
    }),
  }
}

function quoteDetailsToWire(priced: Priced): QuoteResponse['details'] {
  const { amounts } = priced
  const { solver, feeCurrency, prices } = amounts
  const refund = solver?.refundMinimum ?? amounts.amountIn
  const details = detailsToWire(priced)
  return {
    ...details,
    refundCurrency: currencyAmountToWire(feeCurrency, prices.feeCurrency, refund),
    ...(solver?.topup !== undefined && {
      currencyGasTopup: currencyAmountToWire(
        solver.topup.currency,
        prices.destinationNative,
        solver.topup.amountWei,
      ),
    }),
    expandedPriceImpact: expandedImpact(amounts),
    route: routeToWire(priced, details),
  }
}

function expandedImpact({ split, prices }: PricedRoute): QuoteResponse['details']['expandedPriceImpact'] {
  const usd = (amount: bigint): UsdX18 => usdValueDown(amount, prices.feeCurrency)
  const cost = (amount: bigint) => ({ usd: formatUsd(-usd(amount)) })
  // What exact-output solving leaves over belongs to the solver's own part.
  const { execution, swap, relay } = split.components
  const surplus = split.relayer - execution - swap - relay
  return {
    swap: cost(swap),
    execution: cost(execution),
    relay: cost(relay + surplus),
    app: cost(split.app),
    sponsored: { usd: formatUsd(usd(split.subsidized)) },
  }
}

/** The solver moves what lies between: from its receipt on the origin to its payout on the destination. */
function routeToWire(
  { amounts, snapshot }: Priced,
  { currencyIn, currencyOut }: PriceResponse['details'],
): QuoteResponse['details']['route'] {
  const { route, feeCurrency, prices, split, solver, originLeg, destinationLeg } = amounts
  const payout = solver?.payoutCurrency ?? route.currencyOut
  const payoutAmount = destinationLeg?.amountIn ?? amounts.amountOut
  return {
    origin: {
      inputCurrency: currencyIn,
      outputCurrency:
        solver === undefined
          ? currencyOut
          : currencyAmountToWire(feeCurrency, prices.feeCurrency, split.amountIn),
      ...router(originLeg),
    },
    destination: {
      inputCurrency: currencyAmountToWire(payout, requirePrice(snapshot, payout), payoutAmount),
      outputCurrency: currencyOut,
      ...router(destinationLeg),
    },
  }
}

function router(leg: LegQuote | undefined): { router: string; includedSwapSources: string[] } {
  return leg?.pool === undefined
    ? { router: 'causeway', includedSwapSources: [] }
    : { router: 'uniswap-v3', includedSwapSources: ['uniswap-v3'] }
}
