import { ConfigurationError, type SqlDatabase } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import { lateBlocksOf, type RegisteredChain } from '@causeway/families'
import type { HttpMetrics } from '@causeway/http'
import type { JsonRpcClient } from '@causeway/rpc'
import type { Logger } from 'pino'
import type { Job } from '../jobs/runJobs.ts'
import { createReconciler } from '../money/topUps/reconcilerJob.ts'
import { createTopUpChain } from '../money/topUps/topUpChain.ts'
import { createTopUpMetrics } from '../money/topUps/topUpMetrics.ts'
import {
  custodyReaderOptions,
  openComparedChain,
  solverReaderOptions,
  type TopUpSettings,
} from '../money/topUps/topUpReaders.ts'
import { createTopUpWatcher } from '../money/topUps/watcherJob.ts'
import type { QuotableCurrency } from '../pricing/registry.ts'

export type TopUps = {
  readonly jobs: readonly Job[]
  close(): Promise<void>
}

/**
 * The jobs that read USDC transfers of custody and of the solver's account, and reconcile them with the books. None where
 * no custody account is named.
 * @throws ConfigurationError when the chain of sponsorship cannot be read or has no USDC
 */
export function createTopUps(options: {
  settings: TopUpSettings
  /** The chain of sponsorship, its client and its USDC. */
  chain: RegisteredChain | undefined
  chainId: number
  blockTimeMs: number
  client: JsonRpcClient | undefined
  currency: QuotableCurrency | undefined
  database: SqlDatabase
  metrics: Pick<HttpMetrics, 'registry'>
  logger: Logger
}): TopUps {
  const { settings, chain, chainId, client, currency, database, logger } = options
  const { custody, fromBlock } = settings
  if (custody === undefined) {
    logger.warn('no CUSTODY_ADDRESS: top-ups are not watched')
    return { jobs: [], close: async () => {} }
  }
  if (chain === undefined || client === undefined) {
    throw new ConfigurationError('CUSTODY_ADDRESS: the chain of sponsorship has no endpoint.')
  }
  const metrics = createTopUpMetrics(options.metrics)
  const chainParts = { settings, chain, chainId, currency, onMalformed: metrics.countMalformed }
  const { rpcThreshold } = chain
  const custodyChain = createTopUpChain({ ...custodyReaderOptions(chainParts), client, rpcThreshold })
  const solverAccount = solverReaderOptions(chainParts)
  const comparedChain = openComparedChain(chainParts)
  const intervalMs = paceMs(options)
  const common = { database, fromBlock, lateBlocks: lateBlocksOf(options), metrics, logger }
  return {
    jobs: [
      createTopUpWatcher({ ...common, account: 'custody', chain: custodyChain, intervalMs }),
      ...(solverAccount === undefined
        ? []
        : [
            createTopUpWatcher({
              ...common,
              account: 'solver',
              chain: createTopUpChain({ ...solverAccount, client, rpcThreshold }),
              intervalMs,
            }),
          ]),
      createReconciler({ ...common, chain: comparedChain.chain }),
    ],
    close: comparedChain.close,
  }
}
