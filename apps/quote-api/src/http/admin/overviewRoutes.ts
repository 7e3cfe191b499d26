import type { OracleSettings } from '@causeway/chains'
import { formatAmount, formatUsd, type SqlDatabase, usdValueDown } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import { shareReading } from '../../jobs/shareReading.ts'
import { flightsMax, type Overview, readOverview } from '../../operate/admin/overviewReading.ts'
import type { QuotableChain, QuoteRegistry } from '../../pricing/registry.ts'

const text = z.string()
const micro = text.describe('Micro-USD')

const holdingSchema = z.object({
  symbol: text,
  amount: text.describe('Whole units'),
  usd: text.optional().describe('Absent without a price'),
  isGas: z.boolean(),
})

const overviewSchema = z.object({
  days: z.array(
    z.object({
      day: text,
      requests: z.int(),
      volumeMicroUsd: micro,
      serviceMicroUsd: micro,
      gasMicroUsd: micro,
      isCut: z.boolean(),
    }),
  ),
  statuses: z.array(z.object({ status: text, requests: z.int() })),
  areStatusesCut: z.boolean(),
  inFlight: z.array(
    z.object({
      stage: text,
      requests: z.int(),
      isCut: z.boolean(),
      outMicroUsd: micro,
      oldest: z.iso.datetime(),
    }),
  ),
  unattested: z
    .array(
      z.object({
        chainId: z.int().optional().describe('Absent: all chains together'),
        paidMicroUsd: micro,
        maxMicroUsd: micro,
      }),
    )
    .describe('As solvers told within a minute'),
  oldestWork: z.array(
    z.object({
      kind: text,
      state: text,
      requestId: text.optional(),
      chainId: z.int(),
      attempts: z.int(),
      reason: text.optional(),
      createdAt: z.iso.datetime(),
    }),
  ),
  ledger: z.array(z.object({ account: text, chainId: z.int().optional(), currency: text, amount: text })),
  sponsors: z.array(
    z.object({
      wallet: text,
      keys: z.int(),
      availableMicroUsd: micro,
      heldMicroUsd: micro,
      spentMicroUsd: micro,
      isFrozen: z.boolean(),
    }),
  ),
  failingWebhooks: z.array(
    z.object({
      keyId: text,
      label: text,
      host: text,
      waiting: z.int(),
      failed: z.int(),
      problem: text.optional(),
    }),
  ),
  inventory: z.array(
    z.object({ chainId: z.int(), problem: text.optional(), holdings: z.array(holdingSchema) }),
  ),
  oracles: z.array(
    z.object({
      name: text,
      signer: text,
      answers: z.record(text, z.number()).describe('Of this process since its start'),
      haltedChainIds: z.array(z.int()),
    }),
  ),
})

type Dependencies = {
  readonly database: Pick<SqlDatabase, 'query'>
  readonly registry: Pick<QuoteRegistry, 'chains'>
  readonly snapshot: () => MarketSnapshot
  readonly oracles: OracleSettings | undefined
  /** Counts of each oracle's answers: the counters that metrics show. */
  readonly oracleAnswers: () => Promise<readonly { oracle: string; said: string; count: number }[]>
}

/** `/admin/overview`, for the first page of the console: does money move, what is stuck, what was earned. */
export function registerOverviewRoute(app: HttpApp, dependencies: Dependencies): void {
  const { database, registry, snapshot, oracles, oracleAnswers } = dependencies
  const read = shareReading(() => readOverview(database))
  const schema = { hide: true, response: { 200: overviewSchema, ...errorResponses } }
  app.get('/admin/overview', { schema }, async () => {
    const [overview, answers] = await Promise.all([read(), oracleAnswers()])
    const market = snapshot()
    return {
      ...toWire(overview),
      inventory: registry.chains.map((chain) => inventoryOf(chain, market)),
      oracles: (oracles?.oracles ?? []).map(({ name, signer }) => ({
        name,
        signer,
        answers: Object.fromEntries(
          answers.filter(({ oracle }) => oracle === name).map(({ said: outcome, count }) => [outcome, count]),
        ),
        // Halts are stored under the signer in lower case.
        haltedChainIds: [
          ...(overview.oracleHalts.find(({ oracle }) => oracle === signer.toLowerCase())?.chainIds ?? []),
        ],
      })),
    }
  })
}

function toWire(overview: Overview) {
  return {
    days: overview.days.map(({ volumeMicroUsd, serviceMicroUsd, gasMicroUsd, ...day }) => ({
      ...day,
      volumeMicroUsd: volumeMicroUsd.toString(),
      serviceMicroUsd: serviceMicroUsd.toString(),
      gasMicroUsd: gasMicroUsd.toString(),
    })),
    statuses: [...overview.statuses],
    areStatusesCut: overview.areStatusesCut,
    inFlight: overview.inFlight.map(({ stage, requests, outMicroUsd, oldest }) => ({
      stage,
      requests,
      // The reading counts one above `flightsMax` at most.
      isCut: requests > flightsMax,
      outMicroUsd: outMicroUsd.toString(),
      oldest: oldest.toISOString(),
    })),
    unattested: overview.unattested.map(({ chainId, paidMicroUsd, maxMicroUsd }) => ({
      // 0: all chains together.
      ...(chainId !== 0 && { chainId }),
      paidMicroUsd: paidMicroUsd.toString(),
      maxMicroUsd: maxMicroUsd.toString(),
    })),
    oldestWork: overview.oldestWork.map(({ createdAt, ...work }) => ({
      ...work,
      createdAt: createdAt.toISOString(),
    })),
    ledger: overview.ledger.map(({ account, chainId, currency, decimals, balance }) => ({
      account,
      currency,
      amount: formatAmount(balance, decimals),
      ...(chainId !== undefined && { chainId: Number(chainId) }),
    })),
    sponsors: overview.sponsors.map(({ availableMicroUsd, heldMicroUsd, spentMicroUsd, ...sponsor }) => ({
      ...sponsor,
      spentMicroUsd: spentMicroUsd.toString(),
      availableMicroUsd: availableMicroUsd.toString(),
      heldMicroUsd: heldMicroUsd.toString(),
    })),
    failingWebhooks: overview.failingWebhooks.map(({ apiKeyId, ...webhook }) => ({
      ...webhook,
      keyId: apiKeyId,
    })),
  }
}

/** The solver's inventory on a chain, its gas first. */
function inventoryOf(chain: QuotableChain, market: MarketSnapshot) {
  const { chainId, native, solverCurrencies } = chain
  const chainMarket = market.chain(chainId)
  if ('reason' in chainMarket) return { chainId, problem: chainMarket.reason, holdings: [] }
  const currencies = [native, ...solverCurrencies.filter(({ key }) => key !== native.key)]
  return {
    chainId,
    holdings: currencies.flatMap((currency) => {
      const balance = chainMarket.inventory.get(currency.key)
      if (balance === undefined) return []
      const { symbol, decimals, asset } = currency
      // The worth is only shown, so a price that is refused at the moment will do.
      const price = market.lastPrice(asset.priceKey)
      return [
        {
          symbol,
          amount: formatAmount(balance, decimals),
          isGas: currency.key === native.key,
          ...(price !== undefined && {
            usd: formatUsd(usdValueDown(balance, { decimals, usdX18: price.usdX18 })),
          }),
        },
      ]
    }),
  }
}
