import { formatAmount } from '@causeway/core'
import { families } from '@causeway/families/rules'
import { errorResponses, type HttpApp } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import { requirePrice } from '../../pricing/market/marketAccess.ts'
import { findCurrency, type QuotableCurrency, type QuoteRegistry } from '../../pricing/registry.ts'
import { currencySchema, currencyToWire } from '../wire/currencyAmount.ts'
import { requireListedChain } from './chains.ts'

const usdDigits = 18

/** One currency with its price. Figures of other markets, such as volume, are not known here. @source Q-111 */
const detailsSchema = z.object({ ...currencySchema.shape, vmType: z.string(), price: z.number() })

const schema = {
  tags: ['discovery'],
  errors: { 400: ['UNSUPPORTED_CHAIN', 'UNSUPPORTED_CURRENCY'], 503: ['PRICE_FETCH_FAILED'] },
  querystring: z.object({ address: z.string().min(1).max(128), chainId: z.coerce.number().int().positive() }),
}

const textSchema = {
  ...schema,
  operationId: 'getTokenPriceV2',
  summary: 'USD price of a currency',
  response: { 200: z.object({ price: z.string().describe('USD per whole token') }), ...errorResponses },
}

const numberSchema = {
  ...schema,
  operationId: 'getTokenPrice',
  summary: 'USD price of a currency as a number',
  response: { 200: z.object({ price: z.number().describe('USD per whole token') }), ...errorResponses },
}

const currencyWithPriceSchema = {
  hide: true,
  params: schema.querystring,
  response: { 200: detailsSchema, ...errorResponses },
}

/**
 * GET /currencies/token/price/v2: the guarded USD price of one currency, as decimal text. Without /v2 it is a JSON
 * number, which is less exact. GET /chains/{chainId}/currencies/{address} is the currency with that number.
 * @source rule Q-111
 */
export function registerTokenPrice(
  app: HttpApp,
  { registry, snapshot }: { registry: QuoteRegistry; snapshot: () => MarketSnapshot },
): void {
  const config = { rateLimitClass: 'read' }
  const priceOf = (query: { chainId: number; address: string }) => {
    const currency = knownCurrency(registry, query)
    return formatAmount(requirePrice(snapshot(), currency).usdX18, usdDigits)
  }
  app.get('/currencies/token/price/v2', { schema: textSchema, config }, async ({ query }) => ({
    price: priceOf(query),
  }))
  app.get('/currencies/token/price', { schema: numberSchema, config }, async ({ query }) => ({
    price: Number(priceOf(query)),
  }))
  app.get(
    '/chains/:chainId/currencies/:address',
    { schema: currencyWithPriceSchema, config },
    async ({ params }) => {
      const currency = knownCurrency(registry, params)
      const { vmType } = requireListedChain(registry, params.chainId)
      const price = Number(priceOf(params))
      return { ...currencyToWire(currency), vmType: families[vmType].publicName, price }
    },
  )
}

/** @throws QuoteError UNSUPPORTED_CHAIN, UNSUPPORTED_CURRENCY */
function knownCurrency(
  registry: QuoteRegistry,
  query: { chainId: number; address: string },
): QuotableCurrency {
  const currency = findCurrency(requireListedChain(registry, query.chainId), query.address)
  if (currency === undefined) {
    throw new QuoteError('UNSUPPORTED_CURRENCY', 'The currency is not known on this chain.', {
      data: { field: 'address' },
    })
  }
  return currency
}
