import { formatAmount } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import { requirePrice } from '../../pricing/marketAccess.ts'
import { findCurrency, type QuotableCurrency, type QuoteRegistry } from '../../pricing/registry.ts'

const usdDigits = 18

/** GET /currencies/token/price/v2: the guarded USD price of one currency. @source quote-api.md 3.3 */
export function registerTokenPrice(
  app: HttpApp,
  { registry, snapshot }: { registry: QuoteRegistry; snapshot: () => MarketSnapshot },
): void {
  const schema = {
    tags: ['discovery'],
    summary: 'USD price of a currency',
    querystring: z.object({
      address: z.string().min(1).max(128),
      chainId: z.coerce.number().int().positive(),
    }),
    response: { 200: z.object({ price: z.string().describe('USD per whole token') }), ...errorResponses },
  }
  app.get('/currencies/token/price/v2', { schema, config: { rateLimitClass: 'read' } }, async ({ query }) => {
    const currency = knownCurrency(registry, query)
    return { price: formatAmount(requirePrice(snapshot(), currency).usdX18, usdDigits) }
  })
}

function knownCurrency(
  registry: QuoteRegistry,
  query: { chainId: number; address: string },
): QuotableCurrency {
  const chain = registry.chainById.get(query.chainId)
  if (chain === undefined) {
    throw new QuoteError('UNSUPPORTED_CHAIN', `Chain ${query.chainId} is not supported.`, {
      data: { field: 'chainId' },
    })
  }
  const currency = findCurrency(chain, query.address)
  if (currency === undefined) {
    throw new QuoteError('UNSUPPORTED_CURRENCY', 'The currency is not known on this chain.', {
      data: { field: 'address' },
    })
  }
  return currency
}
