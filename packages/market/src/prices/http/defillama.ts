import { z } from 'zod'
import { type HttpPriceAdapter, type HttpQuote, timedQuote, usdX18FromText } from './adapter.ts'
import { readJson, serviceUrl } from './readJson.ts'

const currentSchema = z.object({
  coins: z.record(
    z.string(),
    z.object({
      price: z.number(),
      timestamp: z.number().int(),
      confidence: z.number().optional(),
    }),
  ),
})

/** Age above which the service's price no longer counts. */
const maxAgeMs = 600_000
const confidenceMin = 0.9

/**
 * DefiLlama prices by `chain:address` or `coingecko:<coin id>`. A confidence below 0.9, or none, is a fault.
 * @source `GET /prices/current/{coins}`
 */
export function createDefillama(options: {
  readonly baseUrl: string
  readonly timeoutMs?: number
}): HttpPriceAdapter {
  const { baseUrl, timeoutMs = 3_000 } = options
  return {
    name: 'defillama',
    kind: 'http',
    intervalMs: 30_000,
    async read(ids, { nowMs, signal }) {
      // The service wants the colon within an id as it is.
      const coins = ids.map((id) => encodeURIComponent(id).replaceAll('%3A', ':')).join(',')
      const url = serviceUrl(baseUrl, `prices/current/${coins}`)
      const answer = await readJson({
        service: 'defillama',
        url,
        headers: {},
        schema: currentSchema,
        timeoutMs,
        signal,
      })
      const quotes = new Map<string, HttpQuote>()
      for (const id of ids) {
        const coin = answer.coins[id]
        if (coin !== undefined) quotes.set(id, toQuote(coin, nowMs))
      }
      return quotes
    },
  }
}

function toQuote(coin: z.infer<typeof currentSchema>['coins'][string], nowMs: number): HttpQuote {
  if (coin.confidence === undefined || coin.confidence < confidenceMin) return { fault: 'wide_confidence' }
  const usdX18 = usdX18FromText(String(coin.price))
  return timedQuote({ usdX18, updatedAtSeconds: coin.timestamp, maxAgeMs, nowMs })
}
