import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import {
  type CurrencyDirectory,
  currenciesBodySchema,
  currenciesResponseSchema,
  groupByAsset,
  groupedCurrenciesSchema,
  selectCurrencies,
} from '../wire/currencies.ts'
import { requireListedChain } from './chains.ts'

const trendingOrders = ['relay24hBuyTxCount', 'relay24hBuyUsdVolume', 'coingecko6hTrending'] as const

/** POST /currencies/v2, its older form /currencies/v1, and GET /currencies/trending. @source rule Q-111 */
export function registerCurrencies(app: HttpApp, directory: CurrencyDirectory): void {
  const config = { rateLimitClass: 'read' }
  const schema = {
    operationId: 'findCurrencies',
    tags: ['discovery'],
    errors: {},
    summary: 'Search the currencies that can be quoted',
    body: currenciesBodySchema,
    response: { 200: currenciesResponseSchema, ...errorResponses },
  }
  app.post('/currencies/v2', { schema, config }, async ({ body }) => selectCurrencies(directory, body))

  const grouped = { ...schema, hide: true, response: { 200: groupedCurrenciesSchema, ...errorResponses } }
  app.post('/currencies/v1', { schema: grouped, config }, async ({ body }) =>
    groupByAsset(directory, selectCurrencies(directory, body)),
  )

  const trending = {
    operationId: 'listTrendingCurrencies',
    tags: ['discovery'],
    errors: { 400: ['UNSUPPORTED_CHAIN'] },
    summary: 'Currencies to offer first: those that are listed, in the order of the configuration',
    querystring: z.object({
      chainId: z.coerce.number().int().positive().optional(),
      sortBy: z.enum(trendingOrders).optional().describe('No effect: nothing is ranked'),
      limit: z.coerce.number().int().min(1).max(100).default(20),
    }),
    response: { 200: currenciesResponseSchema, ...errorResponses },
  }
  app.get('/currencies/trending', { schema: trending, config }, async ({ query: { chainId, limit } }) => {
    // A chain that is not listed is refused, not answered with an empty list.
    const chainIds =
      chainId === undefined ? undefined : [requireListedChain(directory.registry, chainId).chainId]
    return selectCurrencies(directory, { limit, ...(chainIds !== undefined && { chainIds }) })
  })
}
