import type { Secret } from '@causeway/core'
import { z } from 'zod'
import { type HttpPriceAdapter, type HttpQuote, timedQuote, usdX18FromText } from './adapter.ts'
import { readJson, serviceUrl } from './readJson.ts'

/** By coin id. A coin that is listed but not traded has no price. */
const simplePriceSchema = z.record(
  z.string(),
  z.object({ usd: z.number().nullish(), last_updated_at: z.number().int().nullish() }),
)

/** Age above which the service's price no longer counts. */
const maxAgeMs = 600_000

/**
 * CoinGecko prices by coin id (`ethereum`). `plan` chooses the header that carries the key.
 * @source `GET /simple/price`
 */
export function createCoingecko(options: {
  readonly baseUrl: string
  readonly apiKey?: Secret
  readonly plan?: 'demo' | 'pro'
  readonly timeoutMs?: number
}): HttpPriceAdapter {
  const { baseUrl, apiKey, plan = 'demo', timeoutMs = 3_000 } = options
  const headers: Record<string, string> = {}
  if (apiKey !== undefined) headers[`x-cg-${plan}-api-key`] = apiKey.reveal()
  return {
    name: 'coingecko',
    kind: 'http',
    intervalMs: 60_000,
    async read(ids, { nowMs, signal }) {
      const url = serviceUrl(baseUrl, 'simple/price')
      url.searchParams.set('ids', ids.join(','))
      url.searchParams.set('vs_currencies', 'usd')
      url.searchParams.set('include_last_updated_at', 'true')
      url.searchParams.set('precision', 'full')
      const answer = await readJson({
        service: 'coingecko',
        keySetting: 'COINGECKO_API_KEY',
        url,
        headers,
        schema: simplePriceSchema,
        timeoutMs,
        signal,
      })
      const quotes = new Map<string, HttpQuote>()
      for (const id of ids) {
        const coin = answer[id]
        if (coin !== undefined) quotes.set(id, toQuote(coin, nowMs))
      }
      return quotes
    },
  }
}

function toQuote(coin: z.infer<typeof simplePriceSchema>[string], nowMs: number): HttpQuote {
  if (typeof coin.last_updated_at !== 'number') return { fault: 'no_timestamp' }
  // A missing price gives a text that is no number, which counts as `not_positive`.
  const usdX18 = usdX18FromText(String(coin.usd))
  return timedQuote({ usdX18, updatedAtSeconds: coin.last_updated_at, maxAgeMs, nowMs })
}
