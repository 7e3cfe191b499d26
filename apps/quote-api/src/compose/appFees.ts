import type { JsonRpcClient } from '@causeway/chains'
import { type Hex, type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import { Counter, Gauge, type HttpMetrics } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import type { Logger } from 'pino'
import { createContractSignatures } from '../access/wallets/contractSignature.ts'
import { createWaker, type Job } from '../jobs/runJobs.ts'
import { type AppFeeClaims, createAppFeeClaims } from '../money/appFees/claims.ts'
import { type ClaimEvent, followClaims } from '../money/appFees/followClaims.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import type { SettlementChain } from '../requests/settlement/settlementChain.ts'

export type AppFees = {
  readonly appFeeClaims: AppFeeClaims
  readonly jobs: readonly Job[]
  /** A solver said something. */
  wake(): void
}

const intervalMs = 1_000
/** A claim waits this long for its chain. */
const codeTimeoutMs = 3_000

/** Claims of app fees, and the job that follows their payouts. */
export function createAppFees(options: {
  registry: QuoteRegistry
  snapshot: () => MarketSnapshot
  clients: ReadonlyMap<string, JsonRpcClient>
  chains: ReadonlyMap<number, SettlementChain>
  database: SqlDatabase
  publicUrl: string
  randomBytes: (length: number) => Uint8Array
  metrics: Pick<HttpMetrics, 'registry'>
  logger: Logger
}): AppFees {
  const { registry, clients, chains, database } = options
  const now = () => Date.now()
  const contracts = new Map(
    registry.chains.flatMap(({ chainId, key }) => {
      const client = clients.get(key)
      return client === undefined ? [] : [[chainId, createContractSignatures(client)] as const]
    }),
  )
  const waker = createWaker()
  const context = { database, chains, now, observe: createObserver(options) }
  return {
    appFeeClaims: createAppFeeClaims({
      database,
      registry,
      snapshot: options.snapshot,
      isReadable: (chainId) => chains.has(chainId),
      hasCode: ({ chainId, account }) => hasCode(chains.get(chainId), account),
      contractsOf: (chainId) => contracts.get(chainId),
      site: options.publicUrl,
      randomBytes: options.randomBytes,
      now,
    }),
    jobs: [{ name: 'claims', intervalMs, waker, run: (run) => followClaims(context, run) }],
    wake: () => waker.wake(),
  }
}

async function hasCode(chain: Pick<SettlementChain, 'withCode'> | undefined, account: Hex): Promise<boolean> {
  const signal = AbortSignal.timeout(codeTimeoutMs)
  try {
    const found = await chain?.withCode([account], signal)
    if (found !== undefined) return found.length > 0
  } catch (error) {
    if (!signal.aborted) throw error
  }
  throw new UpstreamUnavailableError('The chain of the claim cannot be read at the moment.')
}

function createObserver(options: {
  database: SqlDatabase
  metrics: Pick<HttpMetrics, 'registry'>
  logger: Logger
}): (event: ClaimEvent) => void {
  const { metrics, database, logger } = options
  new Gauge({
    name: 'app_fee_claims_pending',
    help: 'Claims of app fees that wait for their payout',
    registers: [metrics.registry],
    async collect() {
      const [row] = await database.query<{ pending: bigint }>(
        `select count(*)::bigint as pending from app_fee_claim where status = 'pending'`,
      )
      this.set(Number(row?.pending ?? 0n))
    },
  })
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
