import type { ChainRegistry } from '@causeway/chains'
import type { Hex, Ledger } from '@causeway/core'
import type { Database } from '@causeway/database'
import { Counter, type HttpMetrics } from '@causeway/http'
import type { Logger } from 'pino'
import { createContractSignatures } from '../access/wallets/contractSignature.ts'
import type { QuoteApiConfig } from '../config/config.ts'
import type { BalanceReading } from '../http/routes/balances.ts'
import { type CurrencyWire, currencyToWire } from '../http/wire/currencyAmount.ts'
import { createAuditJob, createInvariantsJob } from '../jobs/invariants.ts'
import type { Job } from '../jobs/runJobs.ts'
import { createSweeper } from '../jobs/sweeper.ts'
import { createTopUpClaims, type TopUpClaims } from '../money/topUps/claims.ts'
import type { OpenDatabase } from '../operate/database.ts'
import type { QuotableChain, QuotableCurrency, QuoteRegistry } from '../pricing/registry.ts'
import type { SponsorshipChain } from '../pricing/sponsorship/sponsorCurrency.ts'
import type { Screening } from '../requests/screening/screenedRequest.ts'
import { startJobs } from './jobs.ts'
import { createTopUps } from './topUps.ts'

/** Balances of sponsors: reading them, claiming top-ups that name no balance, and all jobs of the service. */
export type AppBalance = {
  readonly balances: BalanceReading
  readonly claims: TopUpClaims
  /** Starts to compete with other replicas for the leadership of each job, unless `JOBS` is off. */
  startJobs(): void
  close(): Promise<void>
}

/** Id of the asset of sponsor money. */
const usdc = 'usdc'
/** Assumed where the quote file does not name the chain of sponsorship. */
const fallbackBlockTimeMs = 2_000
/** The audit replays a history of millions of transfers in a few statements. */
const auditStatementTimeoutMs = 600_000

type AppBalanceOptions = {
  config: Pick<QuoteApiConfig, 'runsJobs' | 'topUps' | 'publicUrl'>
  /** The published account of the solver. */
  fillWallet: Hex | undefined
  chains: ChainRegistry
  registry: QuoteRegistry
  chain: SponsorshipChain
  screening: Screening | undefined
  database: Database
  /** Opens a database client with a single connection. */
  openSingle: OpenDatabase['openSingle']
  ledger: Ledger
  metrics: HttpMetrics
  /** Jobs of other parts that run beside these. */
  moreJobs: readonly Job[]
  logger: Logger
}

export function createAppBalance(options: AppBalanceOptions): AppBalance {
  const { config, registry, chain, database, ledger, metrics, logger } = options
  const { chainId, client } = chain
  const quotable = registry.chainById.get(chainId)
  const currency = [...(quotable?.currencies.values() ?? [])].find(({ asset }) => asset.id === usdc)
  const topUps = openTopUps(options, quotable, currency)
  const sweeper = openSweeper(options)
  const invariants = createInvariantsJob({ database, metrics, logger })
  let jobs: { close(): Promise<void> } | undefined
  let auditDatabase: Database | undefined
  return {
    balances: {
      sponsorCurrency: currency === undefined ? usdcOf(chainId) : currencyToWire(currency),
      readBalance: (wallet) => database.transaction((tx) => ledger.balance(tx, wallet)),
      topUpAddress: config.topUps.custody,
    },
    claims: createTopUpClaims({
      database,
      site: { domain: new URL(config.publicUrl).host, uri: config.publicUrl, chainId },
      contracts: client && createContractSignatures(client),
      screening: options.screening,
      now: () => Date.now(),
    }),
    startJobs() {
      if (!config.runsJobs || jobs !== undefined) return
      // Closed together with the jobs.
      const lockDatabase = options.openSingle()
      auditDatabase = options.openSingle({ statementTimeoutMs: auditStatementTimeoutMs })
      const audit = createAuditJob({ database: auditDatabase, metrics, logger })
      jobs = startJobs({
        jobs: [...topUps.jobs, sweeper, invariants, audit, ...options.moreJobs],
        database,
        lockDatabase,
        metrics,
        logger,
      })
    },
    async close() {
      await jobs?.close()
      await auditDatabase?.close()
      await topUps.close()
    },
  }
}

/** @param quotable the chain of sponsorship as the quote file has it, with its USDC */
function openTopUps(
  options: AppBalanceOptions,
  quotable: QuotableChain | undefined,
  currency: QuotableCurrency | undefined,
) {
  const { config, fillWallet, chains, chain, database, metrics, logger } = options
  return createTopUps({
    settings: { ...config.topUps, solver: fillWallet },
    // No chain has the empty key.
    chain: chains.chains.get(quotable?.key ?? ''),
    blockTimeMs: quotable?.config.blockTimeMs ?? fallbackBlockTimeMs,
    chainId: chain.chainId,
    client: chain.client,
    currency,
    database,
    metrics,
    logger,
  })
}

function openSweeper({ database, ledger, metrics }: AppBalanceOptions): Job {
  const expired = new Counter({
    name: 'holds_expired_total',
    help: 'Holds that the sweeper of this process freed',
    registers: [metrics.registry],
  })
  return createSweeper({ database, ledger, onExpired: (count) => expired.inc(count) })
}

/** Stands for USDC where the chain has none configured: balances are still counted in USDC, under a zero address. */
function usdcOf(chainId: number): CurrencyWire {
  return { chainId, address: `0x${'0'.repeat(40)}`, symbol: 'USDC', name: 'USD Coin', decimals: 6 }
}
