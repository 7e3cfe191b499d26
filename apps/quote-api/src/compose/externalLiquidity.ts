import { ConfigurationError } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import { requestText } from '@causeway/rpc'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { QuoteApiConfig } from '../config/config.ts'
import { type FindLiquidity, isAcceptable } from '../pricing/market/externalLiquidity.ts'

const answerBytesMax = 16_384

/** Answer of the source; amounts as decimal text in smallest units. @source docs/guides/external-liquidity.md */
const offerSchema = z.object({
  available: z.string().regex(/^[0-9]{1,78}$/),
  feeBps: z.int().min(0).max(10_000),
  readySeconds: z.int().min(0).max(86_400),
})

/**
 * Asks the service at `EXTERNAL_LIQUIDITY_URL` what it could bring to the fill wallet; undefined where none is set.
 * A failure counts as no offer, so that it breaks no quote.
 * @throws ConfigurationError if the money could arrive after the deadline of an order
 */
export function createFindLiquidity(
  { url, apiKey }: QuoteApiConfig['externalLiquidity'],
  quote: Pick<
    QuoteFile,
    'environment' | 'externalLiquidity' | 'orderLifetimeSeconds' | 'quoteLifetimeSeconds'
  >,
  logger: Logger,
): FindLiquidity | undefined {
  if (url === undefined) return undefined
  const settings = quote.externalLiquidity
  if (settings.maxReadySeconds + quote.quoteLifetimeSeconds >= quote.orderLifetimeSeconds) {
    throw new ConfigurationError(
      `externalLiquidity.maxReadySeconds in configs/quote.${quote.environment}.json: with quoteLifetimeSeconds it must stay below orderLifetimeSeconds, or orders are refunded before they can be filled`,
    )
  }
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'causeway',
    ...(apiKey !== undefined && { 'x-api-key': apiKey.reveal() }),
  }
  return async ({ currency, amount }) => {
    const { chainId, address } = currency
    try {
      const answer = await requestText({
        url,
        method: 'POST',
        headers,
        answerBytesMax,
        timeoutMs: settings.timeoutMs,
        body: JSON.stringify({ chainId, currency: address, amount: amount.toString() }),
        // `timeoutMs` alone ends the request.
        signal: new AbortController().signal,
      })
      // No content: there is nothing to offer.
      if (answer.status === 204) return undefined
      if (answer.status !== 200) throw new Error(`it answered with status ${answer.status}`)
      const { available, ...terms } = offerSchema.parse(JSON.parse(answer.text))
      const offer = { ...terms, available: BigInt(available) }
      return isAcceptable(offer, settings) ? offer : undefined
    } catch (error) {
      logger.warn(
        { event: 'external_liquidity_failed', chainId, err: error },
        'the source of external liquidity gave no answer',
      )
      return undefined
    }
  }
}
