import {
  type ApiKeys,
  createHttpApp,
  type HttpApp,
  type HttpAppOptions,
  type HttpMetrics,
  type Readiness,
} from '@causeway/http'
import { errorPolicy } from './errorPolicy.ts'
import type { MarketHealth } from './market/health.ts'
import type { QuoteDependencies } from './quoting/createQuote.ts'
import { registerChains } from './routes/chains.ts'
import { registerCurrencies } from './routes/currencies.ts'
import { registerPrice } from './routes/price.ts'
import { registerPricesHealth } from './routes/pricesHealth.ts'
import { registerQuote } from './routes/quote.ts'
import { registerTokenPrice } from './routes/tokenPrice.ts'

export type AppDependencies = QuoteDependencies & {
  readonly environment: string
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly fillWallet: string | undefined
  readonly marketHealth: () => MarketHealth
  readonly apiKeys: ApiKeys
  readonly logger: HttpAppOptions['logger']
  readonly metrics: HttpMetrics
  readonly readiness: Readiness
  readonly trustedProxies: readonly string[]
  /** Per fixed second, 0 is off. @source design.md 5.7 */
  readonly rateLimits: { readonly perKeyMax: number; readonly perIpMax: number }
}

const failedKeysPerMinuteMax = 10
/** Status is polled by every client of a running request. */
const statusFactor = 5

/** The public listener with all routes, not yet listening. Opens nothing. */
export async function buildApp(dependencies: AppDependencies): Promise<HttpApp> {
  const { logger, metrics, readiness, apiKeys, trustedProxies, rateLimits } = dependencies
  const app = await createHttpApp({
    logger,
    metrics,
    readiness,
    apiKeys,
    trustedProxies,
    errors: errorPolicy,
    cors: true,
    rateLimits: {
      windowMs: 1_000,
      classes: {
        quote: rateLimits,
        read: rateLimits,
        status: {
          perKeyMax: rateLimits.perKeyMax * statusFactor,
          perIpMax: rateLimits.perIpMax * statusFactor,
        },
      },
      defaultClass: 'read',
      failedKeysPerMinuteMax: rateLimits.perIpMax === 0 ? 0 : failedKeysPerMinuteMax,
    },
    openApi: {
      title: 'Causeway quote API',
      description: 'Quotes for moving value between chains and currencies, with sponsored fees.',
      servers: dependencies.servers,
    },
  })
  registerPrice(app, dependencies)
  registerQuote(app, dependencies)
  registerChains(app, dependencies)
  registerCurrencies(app, dependencies.registry)
  registerTokenPrice(app, dependencies)
  registerPricesHealth(app, dependencies.marketHealth)
  return app
}
