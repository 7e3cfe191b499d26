import type { HttpMetrics, Tracing } from '@causeway/http'
import type { Logger } from 'pino'
import { Counter, Gauge, Histogram } from 'prom-client'

/**
 * Metric and log of block subscriptions (`wsRpcUrl`). Without a subscription the service polls for new blocks.
 * @returns a callback for each subscription that begins (`end` undefined) or ends (`end` is the reason); `endpoint` is an
 * alias without secrets
 */
export function watchPushes(
  { registry }: Pick<HttpMetrics, 'registry'>,
  logger: Pick<Logger, 'info' | 'warn'>,
): (chain: string, endpoint: string, end: string | undefined) => void {
  const live = new Gauge({
    name: 'chain_block_pushes_live',
    help: '1 while an endpoint of wsRpcUrl tells of new blocks; 0: they are noticed by the clock alone',
    labelNames: ['chain', 'endpoint'] as const,
    registers: [registry],
  })
  return (chain, endpoint, end) => {
    live.set({ chain, endpoint }, end === undefined ? 1 : 0)
    if (end === undefined) logger.info({ chain, endpoint }, 'an endpoint tells of new blocks')
    else
      logger.warn(
        { chain, endpoint, end },
        'an endpoint tells of no new blocks: the chain is looked at by the clock',
      )
  }
}

/** Called by the RPC client of one endpoint. */
type EndpointObserver = {
  /** Called after each request. @param failure why there is no answer; undefined: the endpoint answered */
  exchanged(seconds: number, failure: string | undefined): void
  /** Called when the endpoint answered differently from a quorum of others. */
  outvoted(): void
}

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/**
 * Metrics of all requests to chains' endpoints. Endpoints are labelled by alias, or host and position, because a URL may
 * contain a key. With tracing on, each request within a trace is also recorded as a span.
 * @returns the observer of one endpoint
 */
export function createEndpointMetrics(
  { registry }: Pick<HttpMetrics, 'registry'>,
  tracing?: Tracing,
): (chain: string, endpoint: string) => EndpointObserver {
  const registers = [registry]
  const requests = new Counter({
    name: 'chain_endpoint_requests_total',
    help: 'Questions to an endpoint: answered, or why there is no answer; cancelled says nothing about it',
    labelNames: ['chain', 'endpoint', 'outcome'] as const,
    registers,
  })
  const durations = new Histogram({
    name: 'chain_endpoint_answer_duration_seconds',
    help: 'Time until an endpoint answered',
    labelNames: ['chain', 'endpoint'] as const,
    buckets: durationBuckets,
    registers,
  })
  const outvoted = new Counter({
    name: 'chain_endpoint_outvoted_total',
    help: 'Times that an endpoint answered something else than what enough others agreed on',
    labelNames: ['chain', 'endpoint'] as const,
    registers,
  })
  return (chain, endpoint) => {
    const labels = { chain, endpoint }
    const answerDurations = durations.labels(labels)
    const attributes = { 'server.address': endpoint, 'causeway.chain': chain }
    requests.inc({ chain, endpoint, outcome: 'answered' }, 0)
    outvoted.inc(labels, 0)
    return {
      exchanged(seconds, failure) {
        requests.inc({ chain, endpoint, outcome: failure ?? 'answered' })
        if (failure === undefined) answerDurations.observe(seconds)
        tracing?.recordEndedCall('chain endpoint', attributes, { seconds, failure })
      },
      outvoted: () => outvoted.inc(labels),
    }
  }
}
