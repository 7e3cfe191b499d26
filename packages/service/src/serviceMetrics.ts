import { createHttpMetrics, type HttpMetrics } from '@causeway/http'
import { Counter, collectDefaultMetrics, type Registry } from 'prom-client'
import { droppedLines } from './logger.ts'

/** Metrics of a process that serves: those of its requests, of the process itself and of its log. */
export function createServiceMetrics(service: string): HttpMetrics {
  const metrics = createHttpMetrics({ service })
  collectProcessMetrics(metrics.registry)
  watchDroppedLines(metrics)
  return metrics
}

/** Lines of this process's log that nobody took in time. */
export function watchDroppedLines({ registry }: Pick<HttpMetrics, 'registry'>): void {
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'Lines of requests that were not written, because whoever reads the log was too slow',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(droppedLines())
    },
  })
}

/** Gauges that are named like counters; the same figures by kind are under `nodejs_active_handles` and the like. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
}
