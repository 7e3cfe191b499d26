import type { PermitKind } from '@causeway/families/rules'
import {
  type ApiKeys,
  createHttpApp,
  type HttpApp,
  type HttpAppOptions,
  type HttpMetrics,
  type KeyedAnswer,
  type Readiness,
  type SharedLimits,
  type Tracing,
} from '@causeway/http'
import type { MarketHealth } from '@causeway/market'
import type { KeylessBudget } from '../access/keylessBudget.ts'
import type { WalletLinking } from '../access/wallets/walletLinking.ts'
import type { AppFeeClaims } from '../money/appFees/claims.ts'
import type { TopUpClaims } from '../money/topUps/claims.ts'
import type { SponsorCurrency } from '../pricing/sponsorship/sponsorCurrency.ts'
import type { MapNonce } from '../requests/authorize/mapNonce.ts'
import type { DepositAddressLookup } from '../requests/depositAddresses/addressLookup.ts'
import type { Reindex } from '../requests/depositAddresses/arrivals/reindex.ts'
import type { SponsoredQuoteDependencies } from '../requests/draft/createSponsoredQuote.ts'
import type { TakeCalls } from '../requests/execute/takeCalls.ts'
import type { MoneyHistory } from '../requests/history/moneyHistory.ts'
import type { RequestHistory } from '../requests/history/requestHistory.ts'
import type { ReadUsage } from '../requests/history/usageReading.ts'
import type { OrderSignatures } from '../requests/orders/orderSignatures.ts'
import type { TakeSignature } from '../requests/permits/takePermit.ts'
import type { RequestStatuses } from '../requests/status/requestStatus.ts'
import type { StatusFeed } from '../requests/status/statusFeed.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'
import type { Timelines } from '../requests/timeline/readTimeline.ts'
import type { SignTimeline } from '../requests/timeline/signTimeline.ts'
import { solverScope } from '../requests/work/solverKey.ts'
import type { SolverWork } from '../requests/work/solverWork.ts'
import type { WorkOffers } from '../requests/work/workOffers.ts'
import { registerSponsorConsole, type SponsorConsole } from './console/sponsorRoutes.ts'
import { registerDocs } from './docs/docsRoutes.ts'
import type { Docs } from './docs/readDocs.ts'
import { errorPolicy } from './errorPolicy.ts'
import { mainOperations, operationExamples } from './operationExamples.ts'
import { registerAppFees } from './routes/appFeeClaims.ts'
import { registerAuthorize } from './routes/authorize.ts'
import { registerBalanceEvents } from './routes/balanceEvents.ts'
import { type BalanceReading, registerBalances } from './routes/balances.ts'
import { registerBridgeConfig } from './routes/bridgeConfig.ts'
import { registerChains } from './routes/chains.ts'
import { registerClaimAppFees } from './routes/claimAppFees.ts'
import { registerCurrencies } from './routes/currencies.ts'
import { registerDepositAddresses } from './routes/depositAddresses.ts'
import { registerExecute } from './routes/execute.ts'
import { registerExecutePermits } from './routes/executePermits.ts'
import { registerIntentStatus } from './routes/intentStatus.ts'
import { registerPrice } from './routes/price.ts'
import { registerPricesHealth } from './routes/pricesHealth.ts'
import { registerQuote } from './routes/quote.ts'
import { registerRequests } from './routes/requests.ts'
import { registerSolver } from './routes/solver.ts'
import { registerStatements } from './routes/statements.ts'
import { statusSocket } from './routes/statusSocket.ts'
import { registerTimeline } from './routes/timeline.ts'
import { registerTokenPrice } from './routes/tokenPrice.ts'
import { registerTopUpClaims } from './routes/topUpClaims.ts'
import { registerTransactionStatus } from './routes/transactionStatus.ts'
import { registerTransactions, type TransactionHints } from './routes/transactions.ts'
import { registerUsage } from './routes/usage.ts'
import { registerWalletChallenge, registerWalletLink } from './routes/walletLink.ts'
import { createTimedAnswers } from './timedAnswer.ts'

/** Dependencies of the routes of the public listener; `compose/publicListener.ts` makes them. */
export type AppDependencies = SponsoredQuoteDependencies &
  TransactionHints & {
    readonly history: RequestHistory
    readonly signatures: OrderSignatures
    /** Finds what a deposit address was made for. */
    readonly addressLookup: DepositAddressLookup
    readonly reindex: Reindex
    readonly moneyHistory: MoneyHistory
    readonly sponsorCurrency: SponsorCurrency
    readonly environment: string
    readonly servers: readonly { readonly url: string; readonly description: string }[]
    readonly fillWallet: string | undefined
    readonly marketHealth: () => MarketHealth
    readonly apiKeys: ApiKeys
    readonly linking: WalletLinking
    readonly onKeyedAnswer: (answer: KeyedAnswer) => void
    readonly readUsage: ReadUsage
    readonly balances: BalanceReading
    /** Claims of top-ups that named no wallet. */
    readonly claims: TopUpClaims
    readonly appFeeClaims: AppFeeClaims
    readonly takePermit: Readonly<Record<PermitKind, TakeSignature>>
    readonly takeCalls: TakeCalls
    readonly stops: Pick<ChainStops, 'list'>
    readonly solverWork: SolverWork
    readonly workOffers: Pick<WorkOffers, 'untilNew'>
    readonly statuses: RequestStatuses
    readonly timelines: Timelines
    readonly signTimeline: SignTimeline
    readonly statusFeed: Pick<StatusFeed, 'follow'>
    /** Undefined where no quoted chain needs it. */
    readonly mapNonce?: MapNonce | undefined
    /** Empty: none are served. */
    readonly docs: Docs
    /** Absent: no page for sponsors. */
    readonly sponsorConsole?: SponsorConsole
    readonly logger: HttpAppOptions['logger']
    readonly metrics: HttpMetrics
    readonly tracing?: Tracing | undefined
    readonly readiness: Readiness
    readonly trustedProxies: readonly string[]
    readonly securityContact?: string | undefined
    /** Requests of one key, and of one IP address, in a second of the clock; 0: no limit. @source Q-141 */
    readonly rateLimits: { readonly perKeyMax: number; readonly perIpMax: number }
    /** Limits order signatures for callers without an API key. */
    readonly signatureBudget: KeylessBudget
    /** Undefined where this process counts alone. */
    readonly sharedLimits: SharedLimits | undefined
  }

const failedKeysPerMinuteMax = 10
/** Status routes allow this many times the limits of others, because every client of a running request polls them. */
const statusFactor = 5

/** The public listener with all routes, not yet listening. Opens nothing. */
export async function buildApp(dependencies: AppDependencies): Promise<HttpApp> {
  const app = await createAppWithoutRoutes(dependencies)
  // Liveness under the name that clients of the public service know; the OpenAPI description shows the other name.
  app.get('/lives', { schema: { hide: true } }, async () => ({ status: 'ok' }))
  const timed = createTimedAnswers(dependencies.metrics)
  registerPrice(app, dependencies, timed('price'))
  registerQuote(app, dependencies, { quote: timed('quote'), quote_v2: timed('quote_v2') })
  registerChains(app, dependencies)
  registerCurrencies(app, dependencies)
  registerTokenPrice(app, dependencies)
  registerBridgeConfig(app, dependencies)
  registerPricesHealth(app, dependencies.marketHealth)
  registerRequests(app, dependencies)
  registerDepositAddresses(app, dependencies)
  registerBalanceEvents(app, dependencies)
  registerStatements(app, dependencies)
  registerUsage(app, dependencies)
  registerAppFees(app, dependencies)
  registerClaimAppFees(app, dependencies)
  const takeClaim = dependencies.appFeeClaims.takeSignature
  // Older clients say `request` where newer ones say `claim`.
  const takeSignature = { ...dependencies.takePermit, claim: takeClaim, request: takeClaim }
  registerExecutePermits(app, { takeSignature })
  registerExecute(app, dependencies)
  registerAuthorize(app, dependencies)
  registerBalances(app, dependencies)
  registerTopUpClaims(app, dependencies)
  registerWalletChallenge(app, dependencies)
  registerWalletLink(app, dependencies)
  registerSolver(app, dependencies)
  registerIntentStatus(app, dependencies)
  registerTimeline(app, dependencies)
  registerTransactions(app, dependencies)
  registerTransactionStatus(app)
  registerDocs(app, dependencies.docs)
  const { sponsorConsole } = dependencies
  if (sponsorConsole !== undefined) registerSponsorConsole(app, { ...dependencies, ...sponsorConsole })
  return app
}

/** The listener with its limits, keys and description. */
function createAppWithoutRoutes(dependencies: AppDependencies): Promise<HttpApp> {
  const { tracing } = dependencies
  const { logger, metrics, readiness, apiKeys, onKeyedAnswer, trustedProxies, rateLimits, sharedLimits } =
    dependencies
  return createHttpApp({
    logger,
    metrics,
    readiness,
    apiKeys,
    onKeyedAnswer,
    trustedProxies,
    // Only a solver's requests may continue a trace of his; other callers could make this service trace all their requests.
    traces: tracing && { tracing, mayJoin: (scopes) => scopes.has(solverScope) },
    errors: errorPolicy,
    securityContact: dependencies.securityContact,
    cors: true,
    // Takes API keys from `authorization: Bearer` as well.
    bearerKeys: true,
    websocket: statusSocket(dependencies.statusFeed, () => Date.now()),
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
      // Failed keys are counted by IP address, so an operator who sets no limit for these has none for keys.
      failedKeysPerMinuteMax: rateLimits.perIpMax === 0 ? 0 : failedKeysPerMinuteMax,
      ...(sharedLimits !== undefined && { shared: sharedLimits }),
    },
    openApi: {
      title: 'Causeway quote API',
      description:
        'Quotes for moving value between chains and currencies, with sponsored fees. Sponsors top their balance up at the address that `topUp` of GET /chains names. `/intents/status/ws` pushes the state of requests by websocket: send `{"type":"subscribe","event":"request.status.updated","filters":{"id":"<requestId>"}}`; the acknowledgement is followed by the current state and by each later one. `/llms.txt` lists the pages of the documentation, which are served as Markdown.',
      servers: dependencies.servers,
      examples: operationExamples(dependencies.registry),
      inlineOperations: mainOperations,
    },
  })
}
