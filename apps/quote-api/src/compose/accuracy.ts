import type { HttpMetrics } from '@causeway/http'
import type { Logger } from 'pino'
import type { Job } from '../jobs/runJobs.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { watchAccuracy } from '../requests/accuracy/accuracyMetrics.ts'
import { type MeasuringContext, measureFills } from '../requests/accuracy/measureFills.ts'
import { createReactionTimes, type ReactionTimes } from '../requests/accuracy/reactionTimes.ts'

/** Job that measures how accurate quotes were, and the reaction times that later quotes use. */
export type Accuracy = { readonly job: Job; readonly reactionTimes: ReactionTimes }

const intervalMs = 5_000

export function createAccuracy(
  options: MeasuringContext & {
    readonly registry: QuoteRegistry
    readonly metrics: Pick<HttpMetrics, 'registry'>
    readonly logger: Logger
  },
): Accuracy {
  const { database, registry, metrics, logger } = options
  const chainIds = registry.chains.map(({ chainId }) => chainId)
  watchAccuracy({ metrics, database, chainIds })
  return {
    job: { name: 'measurements', intervalMs, run: (run) => measureFills(options, run) },
    reactionTimes: createReactionTimes({
      database,
      chainIds,
      onFailure: (error) => logger.warn({ err: error }, 'times of fills not read'),
    }),
  }
}
