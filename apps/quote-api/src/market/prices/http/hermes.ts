import { bpsDenominator, type Secret } from '@causeway/core'
import { z } from 'zod'
import { usdX18FromMantissa } from '../decimalText.ts'
import { type HttpPriceAdapter, type HttpQuote, timedQuote } from './adapter.ts'
import { readJson } from './readJson.ts'
import { serviceUrl } from './serviceUrl.ts'

const integerText = z.string().regex(/^-?[0-9]{1,30}$/)

const latestSchema = z.object({
  parsed: z.array(
    z.object({
      id: z.string(),
      price: z.object({
        price: integerText,
        conf: integerText,
        expo: z.number().int(),
        publish_time: z.number().int(),
      }),
    }),
  ),
})

const maxAgeMs = 30_000
const confidenceMaxBps = 100n

/**
 * Pyth prices by feed id (`0x` and 64 hex digits). A confidence interval above 1 % of the price is a fault. The
 * signed update that comes with a price is not verified: the answer is worth as much as its host.
 * @source pricing-engine.md 2.2; Hermes `GET /v2/updates/price/latest`, bearer token since August 2026
 */
export function createHermes(options: {
  readonly baseUrl: string
  readonly apiKey?: Secret
  readonly timeoutMs?: number
}): HttpPriceAdapter {
  const { baseUrl, apiKey, timeoutMs = 3_000 } = options
  return {
    name: 'hermes',
    intervalMs: 5_000,
    async read(ids, { nowMs, signal }) {
      const url = serviceUrl(baseUrl, 'v2/updates/price/latest')
      for (const id of ids) url.searchParams.append('ids[]', id)
      url.searchParams.set('parsed', 'true')
      const headers: Record<string, string> = {}
      if (apiKey !== undefined) headers['authorization'] = `Bearer ${apiKey.reveal()}`
      const answer = await readJson({
        service: 'hermes',
        url,
        headers,
        schema: latestSchema,
        timeoutMs,
        signal,
      })
      const byId = new Map(answer.parsed.map(({ id, price }) => [bareId(id), price]))
      const quotes = new Map<string, HttpQuote>()
      for (const id of ids) {
        const price = byId.get(bareId(id))
        if (price !== undefined) quotes.set(id, toQuote(price, nowMs))
      }
      return quotes
    },
  }
}

type HermesPrice = z.infer<typeof latestSchema>['parsed'][number]['price']

function toQuote(answer: HermesPrice, nowMs: number): HttpQuote {
  const price = BigInt(answer.price)
  if (price <= 0n) return { fault: 'not_positive' }
  if (BigInt(answer.conf) * bpsDenominator > price * confidenceMaxBps) return { fault: 'wide_confidence' }
  const usdX18 = usdX18FromMantissa(price, answer.expo)
  return timedQuote({ usdX18, updatedAtSeconds: answer.publish_time, maxAgeMs, nowMs })
}

/** Questions carry `0x`, answers do not. */
function bareId(id: string): string {
  return id.toLowerCase().replace(/^0x/, '')
}
