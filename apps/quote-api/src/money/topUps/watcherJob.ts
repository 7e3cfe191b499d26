import type { SqlDatabase } from '@causeway/core'
import type { ObservedTopUp } from '@causeway/ledger'
import type { Logger } from 'pino'
import { createReadMemory } from '../../chainReadings/readMemory.ts'
import type { Job } from '../../jobs/runJobs.ts'
import { retryTopUps } from './settleTopUps.ts'
import type { TopUpChain } from './topUpChain.ts'
import type { TopUpMetrics } from './topUpMetrics.ts'
import type { TopUpPass } from './topUpPass.ts'
import { watchTopUps } from './watchTopUps.ts'

/** The job that turns transfers to custody, or marked ones to the solver, into balances of sponsors. */
export function createTopUpWatcher(options: {
  account: 'custody' | 'solver'
  chain: TopUpChain
  database: SqlDatabase
  fromBlock: bigint
  lateBlocks: bigint
  intervalMs: number
  metrics: TopUpMetrics
  logger: Logger
}): Job {
  const { account, chain, database, fromBlock, lateBlocks, intervalMs, metrics, logger } = options
  const purpose = account === 'custody' ? 'top-ups' : 'solver-top-ups'
  const memory = createReadMemory(() => performance.now())
  return {
    name: account === 'custody' ? 'top-up-watcher' : 'solver-top-up-watcher',
    intervalMs,
    async run({ fence, signal }) {
      const common = { chain, database, fence, signal, purpose } as const
      const pass = await watchTopUps({ ...common, fromBlock, lateBlocks, memory })
      const { final, conflicts } = await retryTopUps(common)
      const wholePass = {
        ...pass,
        final: [...pass.final, ...final],
        conflicts: [...pass.conflicts, ...conflicts],
      }
      metrics.observePass(wholePass, account)
      logPass(logger, wholePass)
    },
  }
}

function logPass(logger: Logger, { seen, final, orphaned, conflicts, aside, cursor }: TopUpPass): void {
  for (const topUp of seen) logger.info(fieldsOf(topUp), 'top-up seen')
  for (const topUp of final) {
    if (topUp.verdict.kind === 'credit') logger.info(fieldsOf(topUp), 'top-up credited')
    else logger.warn(fieldsOf(topUp), 'top-up suspended')
  }
  for (const transactionHash of aside)
    logger.warn({ transactionHash }, 'a transaction cannot be read: it is put aside and tried again')
  if (orphaned > 0) logger.warn({ orphaned }, 'top-ups orphaned')
  for (const topUp of conflicts) logger.error(fieldsOf(topUp), 'top-up conflicts with a final one')
  if (cursor.haltedReason !== undefined) {
    logger.error({ reason: cursor.haltedReason }, 'top-ups are halted: an operator must look')
  }
}

function fieldsOf({ transactionHash, blockNumber, log, verdict }: ObservedTopUp) {
  return {
    transactionHash,
    blockNumber: blockNumber.toString(),
    from: log.from,
    amountMicroUsd: log.value.toString(),
    parse: verdict.parse,
    ...(verdict.kind === 'credit' && { owner: verdict.owner }),
  }
}
