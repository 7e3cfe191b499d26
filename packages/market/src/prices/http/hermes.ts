import { bpsDenominator, parseHexDigits, type Secret } from '@causeway/core'
import { z } from 'zod'
import { type SignedPrice, verifyPriceUpdate } from '../signed/priceUpdate.ts'
import type { GuardianCheck } from '../signed/wormholeMessage.ts'
import type { SourceFault } from '../source.ts'
import { type HttpPriceAdapter, type HttpQuote, timedQuote, usdX18FromMantissa } from './adapter.ts'
import { readJson, serviceUrl } from './readJson.ts'

/**
 * Most updates of an answer. An honest one has an update for each publish time of the asked feeds; checking one costs
 * up to as many signature recoveries as a guardian set has members.
 */
const updatesMax = 16

const latestSchema = z.object({
  binary: z.object({ encoding: z.literal('hex'), data: z.array(z.string()).max(updatesMax) }),
})

/** Age above which a signed price no longer counts. */
const maxAgeMs = 30_000
/** Widest confidence interval, as a part of the price. */
const confidenceMaxBps = 100n

/**
 * Pyth prices by feed id (`0x` and 64 hex digits), from their signed updates alone. The service can withhold a price or
 * show one that is up to `maxAgeMs` old, but cannot forge one. If an update is invalid, every id without a valid price
 * gets its fault. A confidence interval above 1 % of the price is a fault.
 * @source F-30; Hermes `GET /v2/updates/price/latest`
 */
export function createHermes(
  options: GuardianCheck & {
    readonly baseUrl: string
    readonly apiKey?: Secret
    readonly timeoutMs?: number
  },
): HttpPriceAdapter {
  const { baseUrl, guardianSets, recover, apiKey, timeoutMs = 3_000 } = options
  return {
    name: 'hermes',
    kind: 'signed',
    intervalMs: 5_000,
    async read(ids, { nowMs, signal }) {
      const url = serviceUrl(baseUrl, 'v2/updates/price/latest')
      for (const id of ids) url.searchParams.append('ids[]', id)
      url.searchParams.set('encoding', 'hex')
      url.searchParams.set('parsed', 'false')
      const headers: Record<string, string> = {}
      if (apiKey !== undefined) headers['authorization'] = `Bearer ${apiKey.reveal()}`
      const answer = await readJson({
        service: 'hermes',
        keySetting: 'HERMES_API_KEY',
        url,
        headers,
        schema: latestSchema,
        timeoutMs,
        signal,
      })
      const { newest, fault } = readUpdates(answer.binary.data, { guardianSets, recover })
      const quotes = new Map<string, HttpQuote>()
      for (const id of ids) {
        const price = newest.get(id.toLowerCase())
        if (price !== undefined) quotes.set(id, toQuote(price, nowMs))
        else if (fault !== undefined) quotes.set(id, { fault })
      }
      return quotes
    },
  }
}

const keyedHosts = /(^|\.)(pyth\.network|dourolabs\.app)$/

/** True for Pyth's own services, which need an API key. Other providers may have the key in their URL. @source F-32 */
export function hermesNeedsKey(baseUrl: string): boolean {
  return keyedHosts.test(new URL(baseUrl).hostname)
}

/** The newest proven price by feed id, and the fault of the first invalid update. */
function readUpdates(
  updates: readonly string[],
  check: GuardianCheck,
): { newest: ReadonlyMap<string, SignedPrice>; fault: SourceFault | undefined } {
  const newest = new Map<string, SignedPrice>()
  let fault: SourceFault | undefined
  for (const text of updates) {
    // From character 0 on, because the hex of updates has no `0x`.
    const bytes = parseHexDigits(text, 0)
    const update = bytes === undefined ? unreadable : verifyPriceUpdate(bytes, check)
    if ('fault' in update) {
      fault ??= update.fault
      continue
    }
    for (const price of update.prices) {
      const newestPrice = newest.get(price.feedId)
      if (newestPrice === undefined || newestPrice.publishTime < price.publishTime)
        newest.set(price.feedId, price)
    }
  }
  return { newest, fault }
}

const unreadable = { fault: 'malformed_update' } as const

function toQuote({ price, conf, expo, publishTime }: SignedPrice, nowMs: number): HttpQuote {
  if (price <= 0n) return { fault: 'not_positive' }
  if (conf * bpsDenominator > price * confidenceMaxBps) return { fault: 'wide_confidence' }
  const usdX18 = usdX18FromMantissa(price, expo)
  return timedQuote({ usdX18, updatedAtSeconds: publishTime, maxAgeMs, nowMs })
}
