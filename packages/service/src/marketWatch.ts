import { type HttpMetrics, type Series, watchSeries } from '@causeway/http'
import { Counter, Gauge } from 'prom-client'

/** The part of a market's health report that metrics show. `packages/market` makes it. */
type MarketReading = {
  readonly prices: readonly {
    readonly key: string
    /** `fresh`, `degraded` or `refused`. */
    readonly confidence: string
    /** Distance of highest and lowest fresh source, relative to the price; undefined while it is refused. */
    readonly spreadBps?: string | undefined
    readonly sources: readonly {
      readonly source: string
      readonly state: string
      /** Age of the price by the source's own time. */
      readonly ageMs?: number | undefined
      /** Time since the source last answered. */
      readonly readAgeMs?: number | undefined
    }[]
  }[]
  readonly chains: readonly {
    readonly chain: string
    /** False for a chain that is read for its price feeds alone. */
    readonly quotable: boolean
    /** `ok`, or why nothing is quoted on the chain. */
    readonly state: string
    /** Newest block on which a quorum agrees; its age is by the block's own time. */
    readonly head?: { readonly number: string; readonly ageMs: number } | undefined
    /** Time since gas, balances, feeds and pools were last agreed on. */
    readonly readAgeMs?: number | undefined
    readonly consecutiveFailures: number
  }[]
}

/** One reading of a value from all endpoints: hosts that agreed, hosts needed, and endpoints that answered otherwise. */
type AgreementReport = {
  readonly agreed: number
  readonly required: number
  readonly dissenting: readonly string[]
}

const basisPoints = 10_000
const confidences = ['fresh', 'degraded', 'refused']

/** Registers metrics of a market's prices and chains, read from memory at each scrape. */
export function watchMarket({ registry }: Pick<HttpMetrics, 'registry'>, health: () => MarketReading): void {
  const reading = oncePerTurn(health)
  watchPrices(registry, () => reading().prices)
  watchHeads(registry, () => reading().chains)
}

/** Caches a reading until the end of the event loop's turn: all gauges of one scrape are read in the same turn. */
function oncePerTurn<Value>(read: () => Value): () => Value {
  let cached: { readonly value: Value } | undefined
  return () => {
    if (cached === undefined) {
      cached = { value: read() }
      setImmediate(() => {
        cached = undefined
      })
    }
    return cached.value
  }
}

function watchPrices(registry: HttpMetrics['registry'], prices: () => MarketReading['prices']): void {
  const addPriceGauge = (
    name: string,
    help: string,
    read: (price: MarketReading['prices'][number]) => number,
  ) =>
    watchSeries(registry, { name, help, labelNames: ['price'] }, () =>
      prices().map((price) => ({ labels: { price: price.key }, value: read(price) })),
    )
  watchSeries(
    registry,
    {
      name: 'market_price_confidence',
      help: '1 for what a price is worth: fresh, degraded (sources disagree within limits) or refused',
      labelNames: ['price', 'confidence'],
    },
    () =>
      prices().flatMap(({ key, confidence }) =>
        confidences.map((label) => ({
          labels: { price: key, confidence: label },
          value: label === confidence ? 1 : 0,
        })),
      ),
  )
  addPriceGauge(
    'market_price_sources_fresh',
    'Sources of a price that count now',
    ({ sources }) => sources.filter(({ state }) => state === 'fresh').length,
  )
  addPriceGauge(
    'market_price_sources',
    'Sources of a price that are configured',
    ({ sources }) => sources.length,
  )
  addPriceGauge(
    'market_price_spread_ratio',
    'How far fresh sources of a price lie apart, of the price; NaN while it is refused',
    ({ spreadBps }) => (spreadBps === undefined ? Number.NaN : Number(spreadBps) / basisPoints),
  )
  const addSourceGauge = (name: string, help: string, member: 'ageMs' | 'readAgeMs') =>
    watchSeries(registry, { name, help, labelNames: ['price', 'source'] }, () =>
      prices().flatMap(({ key, sources }) =>
        sources.flatMap(({ source, [member]: ageMs }) =>
          ageMs === undefined ? [] : [{ labels: { price: key, source }, value: ageMs / 1_000 }],
        ),
      ),
    )
  addSourceGauge(
    'market_price_source_age_seconds',
    'Age of what a source says, by the source itself',
    'ageMs',
  )
  addSourceGauge(
    'market_price_source_read_age_seconds',
    'Time since a source of a price last answered',
    'readAgeMs',
  )
}

function watchHeads(registry: HttpMetrics['registry'], chains: () => MarketReading['chains']): void {
  type Chain = MarketReading['chains'][number]
  const addChainGauge = (name: string, help: string, read: (chain: Chain) => number | undefined) =>
    watchSeries(registry, { name, help, labelNames: ['chain'] }, () =>
      chains().flatMap((chain): readonly Series<'chain'>[] => {
        const value = read(chain)
        return value === undefined ? [] : [{ labels: { chain: chain.chain }, value }]
      }),
    )
  watchSeries(
    registry,
    {
      name: 'market_chain_state',
      help: '1 for the state of a chain that is quoted: ok, or why nothing is quoted on it',
      labelNames: ['chain', 'state'],
    },
    () =>
      chains()
        .filter(({ quotable }) => quotable)
        .map(({ chain, state }) => ({ labels: { chain, state }, value: 1 })),
  )
  addChainGauge('market_head_block', 'Height of the newest block that enough endpoints share', ({ head }) =>
    head === undefined ? undefined : Number(head.number),
  )
  addChainGauge(
    'market_head_age_seconds',
    'Age of that block by its own time; negative where a chain runs ahead of the clock',
    ({ head }) => head && head.ageMs / 1_000,
  )
  addChainGauge(
    'market_read_age_seconds',
    'Time since gas, balances, feeds and pools of a chain were last agreed on',
    ({ readAgeMs }) => readAgeMs && readAgeMs / 1_000,
  )
  addChainGauge(
    'market_refresh_failures',
    'Failures in a row of reading a chain',
    ({ consecutiveFailures }) => consecutiveFailures,
  )
}

/**
 * Metrics of agreement among a chain's endpoints.
 * @returns a callback for each reading; `on` is the kind of value that was read
 */
export function createAgreementMetrics({
  registry,
}: Pick<HttpMetrics, 'registry'>): (chain: string, on: string, report: AgreementReport) => void {
  const registers = [registry]
  const agreed = new Gauge({
    name: 'market_endpoints_agreed',
    help: 'Endpoint hosts that said the same when this was read last',
    labelNames: ['chain', 'on'],
    registers,
  })
  const required = new Gauge({
    name: 'market_endpoints_required',
    help: 'Endpoint hosts that must say the same',
    labelNames: ['chain'],
    registers,
  })
  const dissents = new Counter({
    name: 'market_endpoint_dissents_total',
    help: 'Times that an endpoint said something else than what was agreed of the same block',
    labelNames: ['chain', 'on', 'endpoint'],
    registers,
  })
  return (chain, on, report) => {
    agreed.set({ chain, on }, report.agreed)
    required.set({ chain }, report.required)
    for (const endpoint of report.dissenting) dissents.inc({ chain, on, endpoint })
  }
}
