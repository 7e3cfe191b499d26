import { setTimeout as sleep } from 'node:timers/promises'
import type { SqlDatabase } from '@causeway/core'
import { readTopUpCursor, type TopUpCursor } from '@causeway/ledger'
import type { Logger } from 'pino'
import type { Job } from '../../jobs/runJobs.ts'
import { reconcile } from './reconcile.ts'
import type { TopUpChain } from './topUpChain.ts'
import type { TopUpMetrics } from './topUpMetrics.ts'
import { accountOf } from './topUpPass.ts'

const reconcileIntervalMs = 600_000
/** Blocks that a run compares: a day at two seconds each. `ledger reconcile` compares older ranges. */
const recentBlocks = 43_200n
const waitingMs = 1_000

/** Job that compares recent settled top-ups with another endpoint; logs differences as errors, and changes nothing. */
export function createReconciler(options: {
  chain: TopUpChain
  database: SqlDatabase
  fromBlock: bigint
  metrics: TopUpMetrics
  logger: Logger
}): Job {
  const { chain, database, fromBlock, metrics, logger } = options
  return {
    name: 'reconciler',
    intervalMs: reconcileIntervalMs,
    async run({ signal }) {
      const cursor = await settledCursor(database, chain, signal)
      if (cursor === undefined || cursor.haltedReason !== undefined) return
      const recent = cursor.finalTo - recentBlocks
      const from = recent > fromBlock ? recent : fromBlock
      const reconciliation = await reconcile({ database, chain, from, to: cursor.finalTo, signal })
      metrics.observeReconciliation(reconciliation)
      for (const { valueMicroUsd, ...difference } of reconciliation.differences) {
        logger.error(
          { ...difference, amountMicroUsd: valueMicroUsd.toString() },
          'a top-up differs between chain and ledger',
        )
      }
    },
  }
}

/** Waits until the watcher has settled a first block. `undefined` if the signal ends the wait. */
async function settledCursor(
  database: SqlDatabase,
  chain: TopUpChain,
  signal: AbortSignal,
): Promise<TopUpCursor | undefined> {
  while (!signal.aborted) {
    const cursor = await database.transaction((tx) => readTopUpCursor(tx, accountOf(chain)))
    if (cursor?.finalHash !== undefined) return cursor
    await sleep(waitingMs, undefined, { signal }).catch(() => {})
  }
  return undefined
}
