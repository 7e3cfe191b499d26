import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { type ClosedBecause, closedReasons } from './connections.ts'
import { type ShedBecause, shedReasons } from './exchange.ts'

/** Metrics of the HTTP layer. Labels come from closed sets: route patterns, methods, status codes. */
export type HttpMetrics = {
  /** The app's other metrics register here too. */
  readonly registry: Registry
  observeRequest(observation: RequestObservation): void
  /** Registers gauges that call these functions at each scrape. */
  watchTraffic(read: TrafficReading): void
  /** Counts a request that was refused because a pool of slots was full. */
  countShed(reason: ShedBecause): void
  countClosed(reason: ClosedBecause): void
}

/** Current counts of the public listener; `held` are requests that wait for news. */
type TrafficReading = {
  inFlight(): number
  bodiesArriving(): number
  connections(): number
  held(): number
}

export type RequestObservation = {
  /** The route's pattern; `undefined` for an unknown URL. */
  readonly route: string | undefined
  readonly method: string
  /** 499 when the caller went away before the answer. */
  readonly statusCode: number
  /** From the headers of the request to the end of the answer, less the time that it waited for news. */
  readonly seconds: number
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const knownMethods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Own registry; nothing is registered globally. */
export function createHttpMetrics(options: { service: string }): HttpMetrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service: options.service })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer, less what it waited for news',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: durationBuckets,
    registers: [registry],
  })
  const shed = new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests refused with 503, or 408 for a body, because too many were there',
    labelNames: ['reason'] as const,
    registers: [registry],
  })
  const closed = new Counter({
    name: 'http_connections_closed_total',
    help: 'Connections closed for what their clients did not do',
    labelNames: ['reason'] as const,
    registers: [registry],
  })
  for (const reason of shedReasons) shed.inc({ reason }, 0)
  for (const reason of closedReasons) closed.inc({ reason }, 0)
  // Looking up a series by its labels costs more than observing, so each series is looked up once.
  const durationSeries = new Map<string, { observe(seconds: number): void }>()
  return {
    registry,
    observeRequest({ route = 'other', method, statusCode, seconds }) {
      const methodLabel = knownMethods.has(method) ? method : 'other'
      const key = `${methodLabel} ${statusCode} ${route}`
      let series = durationSeries.get(key)
      if (series === undefined) {
        series = durations.labels({ route, method: methodLabel, status: String(statusCode) })
        durationSeries.set(key, series)
      }
      series.observe(seconds)
    },
    watchTraffic({ inFlight, bodiesArriving, connections, held }) {
      const gauge = createGauges(registry)
      gauge('http_requests_in_flight', 'Requests that are worked on and not yet answered', inFlight)
      gauge('http_bodies_arriving', 'Requests whose bodies are on their way', bodiesArriving)
      gauge('http_connections_open', 'Connections of the public listener', connections)
      gauge('http_requests_held', 'Requests that wait for news and take no place of those in work', held)
    },
    countShed: (reason) => shed.inc({ reason }),
    countClosed: (reason) => closed.inc({ reason }),
  }
}

/** One value of a metric, by its labels. */
export type Series<Label extends string> = {
  readonly labels: Readonly<Record<Label, string>>
  readonly value: number
}

/** Far below the timeout of a scrape, which waits for all gauges. */
const readingTimeoutMs = 1_000

/**
 * Registers a gauge whose series are all read at each scrape. A reading that fails or takes too long yields no series, so
 * that the other metrics stay available while a database or a chain is down. While one reading hangs no second one begins.
 */
export function watchSeries<Label extends string>(
  registry: Registry,
  options: { readonly name: string; readonly help: string; readonly labelNames: readonly Label[] },
  read: () => readonly Series<Label>[] | Promise<readonly Series<Label>[]>,
): void {
  let reading: Promise<readonly Series<Label>[]> | undefined
  new Gauge({
    name: options.name,
    help: options.help,
    labelNames: [...options.labelNames],
    registers: [registry],
    async collect() {
      reading ??= Promise.resolve()
        .then(read)
        .catch(() => [])
        .finally(() => {
          reading = undefined
        })
      const series = await inTime(reading)
      this.reset()
      // `reset` sets an unlabelled gauge to 0, which would be a false value, so it is removed.
      if (series.length === 0 && options.labelNames.length === 0) this.remove()
      for (const { labels, value } of series) this.set(labels, value)
    },
  })
}

/** @returns the reading, or nothing after `readingTimeoutMs` */
async function inTime<Item>(reading: Promise<readonly Item[]>): Promise<readonly Item[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly Item[]>((resolve) => {
    timer = setTimeout(resolve, readingTimeoutMs, [])
  })
  try {
    return await Promise.race([reading, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Connections of a database pool, read when scraped. */
export function watchPool(
  { registry }: Pick<HttpMetrics, 'registry'>,
  usage: () => { readonly inUse: number; readonly waiting: number; readonly limit: number },
): void {
  const gauge = createGauges(registry)
  gauge('database_pool_connections_in_use', 'Connections of the pool that are in use', () => usage().inUse)
  gauge('database_pool_connections_max', 'The most connections that the pool opens', () => usage().limit)
  gauge('database_pool_waiting', 'Callers that wait for a connection of the pool', () => usage().waiting)
}

/** Makes gauges whose values are read when metrics are scraped. */
export function createGauges(registry: Registry): (name: string, help: string, read: () => number) => void {
  return (name, help, read) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
}
