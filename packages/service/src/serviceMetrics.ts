import { createHttpMetrics, type HttpMetrics } from '@causeway/http'
import { Counter, collectDefaultMetrics, type Registry } from 'prom-client'
import { droppedLines } from './logger.ts'

/** Makes the metrics registry of a service, with metrics of requests, of the Node process and of the log. */
export function createServiceMetrics(service: string): HttpMetrics {
  const metrics = createHttpMetrics({ service })
  collectProcessMetrics(metrics.registry)
  watchDroppedLines(metrics)
  return metrics
}

/** Registers the counter of request lines that the log dropped. */
export function watchDroppedLines({ registry }: Pick<HttpMetrics, 'registry'>): void {
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'Lines of requests that were not written, because whoever reads the log was too slow',
    registers: [registry],
    collect() {
      // A prom-client counter has no `set`.
      this.reset()
      this.inc(droppedLines())
    },
  })
}

/** Left out: gauges with names of counters. `nodejs_active_handles` and the like hold the same figures by kind. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
}
