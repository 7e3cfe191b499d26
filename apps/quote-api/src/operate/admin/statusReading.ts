import type { OracleSettings } from '@causeway/chains'
import { DomainError, type SqlDatabase } from '@causeway/core'
import type { Readiness } from '@causeway/http'
import { listHaltedTopUps, readHalt } from '@causeway/ledger'
import type { MarketHealth } from '@causeway/market'
import { shareReading } from '../../jobs/shareReading.ts'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import { listStanding } from '../../requests/status/readStanding.ts'
import type { ChainStops } from '../../requests/stops/chainStops.ts'
import { readOverview } from './overviewReading.ts'
import type { Status } from './status.ts'
import { judgeStatus, type StatusFacts, type StoredFacts } from './statusRules.ts'

/**
 * Reads the status of a running service from the same facts that `/ready`, the console's first page and metrics show.
 * Without the database it answers from what this process knows.
 */
export function createStatusReading(options: {
  readonly database: SqlDatabase
  readonly readiness: Pick<Readiness, 'report' | 'failingSince'>
  readonly stops: Pick<ChainStops, 'list'>
  readonly marketHealth: () => MarketHealth
  readonly registry: Pick<QuoteRegistry, 'chains'>
  /** Clients by chain key, of chains that have an endpoint. */
  readonly clients: ReadonlyMap<string, unknown>
  readonly oracles: OracleSettings | undefined
  readonly oracleAnswers: () => Promise<StatusFacts['oracleAnswers']>
}): () => Promise<Status> {
  const { database, readiness, stops, marketHealth, registry, clients, oracles, oracleAnswers } = options
  const chainNames = new Map(registry.chains.map(({ chainId, key }) => [chainId, key]))
  const read = shareReading(() => readStored(database))
  return async () => {
    const [report, stored, answers] = await Promise.all([
      readiness.report(),
      read().catch((error: unknown) => {
        if (error instanceof DomainError) return undefined
        throw error
      }),
      oracleAnswers(),
    ])
    return judgeStatus({
      nowMs: Date.now(),
      readiness: report,
      failingSince: readiness.failingSince(),
      stops: stops.list(),
      market: marketHealth(),
      chainNames,
      readChains: new Set(clients.keys()),
      oracles: oracles?.oracles ?? [],
      oracleAnswers: answers,
      stored,
    })
  }
}

/** Facts from the database. */
async function readStored(database: SqlDatabase): Promise<StoredFacts> {
  const [overview, standing, halt, haltedTopUps] = await Promise.all([
    readOverview(database),
    listStanding(database),
    readHalt(database),
    listHaltedTopUps(database),
  ])
  return {
    ...overview,
    standing,
    ledgerHaltedAt: halt?.haltedAt,
    haltedTopUps: haltedTopUps.map(({ account: { chainId }, cursor }) => ({
      chainId,
      reason: cursor.haltedReason ?? 'a final block changed',
    })),
  }
}
