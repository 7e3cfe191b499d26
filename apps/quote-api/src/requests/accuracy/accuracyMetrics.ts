import type { SqlDatabase } from '@causeway/core'
import { Gauge, type HttpMetrics } from '@causeway/http'
import { shareReading } from '../../jobs/shareReading.ts'
import { accuracyQuantiles, readAccuracy } from './measurementStore.ts'

const fillsPerChain = 1_000

/**
 * How well quotes came true, read from the database when scraped: every process tells the same, whenever it
 * started.
 */
export function watchAccuracy(options: {
  metrics: Pick<HttpMetrics, 'registry'>
  database: Pick<SqlDatabase, 'query'>
  chainIds: readonly number[]
}): void {
  const { metrics, database, chainIds } = options
  const registers = [metrics.registry]
  const read = shareReading(() => readAccuracy(database, { chainIds, fillsPerChain }))
  new Gauge({
    name: 'quote_accuracy_fills',
    help: `Fills that quote_accuracy_ratio is made of: the newest of each destination chain, at most ${fillsPerChain}`,
    labelNames: ['component', 'chain'],
    registers,
    async collect() {
      for (const { chainId, component, fills } of await read()) {
        this.set({ component, chain: String(chainId) }, fills)
      }
    },
  })
  new Gauge({
    name: 'quote_accuracy_ratio',
    help: 'Measured by quoted: gas paid by the solver, time, output, deposit; 1 is as quoted',
    labelNames: ['component', 'chain', 'quantile'],
    registers,
    async collect() {
      for (const { chainId, component, ratios } of await read()) {
        for (const [index, quantile] of accuracyQuantiles.entries()) {
          const labels = { component, chain: String(chainId), quantile: String(quantile) }
          this.set(labels, ratios[index] ?? Number.NaN)
        }
      }
    },
  })
}
