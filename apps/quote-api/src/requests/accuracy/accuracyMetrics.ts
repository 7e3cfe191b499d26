import type { SqlDatabase } from '@causeway/core'
import { type HttpMetrics, watchSeries } from '@causeway/http'
import { shareReading } from '../../jobs/shareReading.ts'
import { accuracyQuantiles, readAccuracy } from './measurementStore.ts'

const fillsPerChain = 1_000

/**
 * Registers the metrics that compare quotes with their fills; called once at the start of the service. Each scrape reads
 * the database, so that all processes report the same values.
 */
export function watchAccuracy(options: {
  metrics: Pick<HttpMetrics, 'registry'>
  database: Pick<SqlDatabase, 'query'>
  chainIds: readonly number[]
}): void {
  const { metrics, database, chainIds } = options
  const read = shareReading(() => readAccuracy(database, { chainIds, fillsPerChain }))
  watchSeries(
    metrics.registry,
    {
      name: 'quote_accuracy_fills',
      help: `Fills that quote_accuracy_ratio is made of: the newest of each destination chain, at most ${fillsPerChain}`,
      labelNames: ['component', 'chain'],
    },
    async () =>
      (await read()).map(({ chainId, component, fills }) => ({
        labels: { component, chain: String(chainId) },
        value: fills,
      })),
  )
  watchSeries(
    metrics.registry,
    {
      name: 'quote_accuracy_ratio',
      help: 'Measured by quoted: gas paid by the solver, time, output, deposit; 1 is as quoted',
      labelNames: ['component', 'chain', 'quantile'],
    },
    async () =>
      (await read()).flatMap(({ chainId, component, ratios }) =>
        accuracyQuantiles.map((quantile, index) => ({
          labels: { component, chain: String(chainId), quantile: String(quantile) },
          value: ratios[index] ?? Number.NaN,
        })),
      ),
  )
}
