import type { SqlDatabase } from '@causeway/core'
import { Counter, type HttpMetrics, watchSeries } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import type { JsonRpcClient } from '@causeway/rpc'
import type { Logger } from 'pino'
import { type ContractSignatures, createContractSignatures } from '../access/wallets/contractSignature.ts'
import { createWakeSignal, type Job } from '../jobs/runJobs.ts'
import { type AppFeeClaims, createAppFeeClaims } from '../money/appFees/claims.ts'
import { type ClaimEvent, followClaims } from '../money/appFees/followClaims.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import type { PayeePorts } from '../pricing/routes/mayBePaid.ts'
import type { Screening } from '../requests/screening/screenedRequest.ts'
import type { SettlementChain } from '../requests/settlement/chain/settlementChain.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'

/** Claims of app fees by integrators, and the job that follows their payouts. */
export type AppFees = {
  readonly appFeeClaims: AppFeeClaims
  readonly jobs: readonly Job[]
  /** Runs the job soon, because a solver reported something. */
  wake(): void
}

const intervalMs = 1_000
/** A call that is no part of a quote, such as a claim, waits this long for what a chain says about an account. */
export const claimPatienceMs = 3_000

export function createAppFees(options: {
  registry: QuoteRegistry
  snapshot: () => MarketSnapshot
  clients: ReadonlyMap<string, JsonRpcClient>
  chains: ReadonlyMap<number, SettlementChain>
  /** Asks chains about recipients before they are paid. */
  ports: PayeePorts
  database: SqlDatabase
  screening: Screening | undefined
  stops: ChainStops
  publicUrl: string
  randomBytes: (length: number) => Uint8Array
  metrics: Pick<HttpMetrics, 'registry'>
  logger: Logger
}): AppFees {
  const { registry, clients, chains, database } = options
  const now = () => options.stops.now()
  const contracts = new Map(
    registry.chains.flatMap(({ chainId, key, quoting }) => {
      const client = clients.get(key)
      if (client === undefined) return []
      // Only chains that run calls have contract wallets.
      return [[chainId, quoting.runsCalls ? createContractSignatures(client) : noContracts] as const]
    }),
  )
  const wakeSignal = createWakeSignal()
  const context = { database, chains, now, observe: createObserver(options) }
  return {
    appFeeClaims: createAppFeeClaims({
      database,
      registry,
      snapshot: options.snapshot,
      isReadable: (chainId) => chains.has(chainId),
      payees: options.ports,
      contractsOf: (chainId) => contracts.get(chainId),
      screening: options.screening,
      stops: options.stops,
      site: options.publicUrl,
      randomBytes: options.randomBytes,
      now,
    }),
    jobs: [{ name: 'claims', intervalMs, waker: wakeSignal, run: (run) => followClaims(context, run) }],
    wake: () => wakeSignal.wake(),
  }
}

/** For chains without contract wallets: only a signature by the account's own key is valid. */
const noContracts: ContractSignatures = { isValid: async () => false }

function createObserver(options: {
  database: SqlDatabase
  metrics: Pick<HttpMetrics, 'registry'>
  logger: Logger
}): (event: ClaimEvent) => void {
  const { metrics, database, logger } = options
  watchSeries(
    metrics.registry,
    {
      name: 'app_fee_claims_pending',
      help: 'Claims of app fees that wait for their payout',
      labelNames: [],
    },
    async () => {
      const [row] = await database.query<{ pending: bigint }>(
        `select count(*)::bigint as pending from app_fee_claim where status = 'pending'`,
      )
      return [{ labels: {}, value: Number(row?.pending ?? 0n) }]
    },
  )
  const events = new Counter({
    name: 'app_fee_claims_total',
    help: 'Claims of app fees that ended, or that only an operator can end',
    labelNames: ['event'],
    registers: [metrics.registry],
  })
  return (event) => {
    events.inc({ event: event.event })
    if (event.event === 'claim_stuck') logger.error(event, 'a claim is stuck: an operator must look')
    else logger.info(event, 'app fee claim')
  }
}
