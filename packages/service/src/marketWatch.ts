import { type HttpMetrics, type Series, watchSeries } from '@causeway/http'
import { Counter, Gauge } from 'prom-client'

/** A market's own account of itself, as far as operators are warned by it. Ages in milliseconds. */
type MarketReading = {
  readonly prices: readonly {
    readonly key: string
    readonly confidence: string
    readonly spreadBps?: string | undefined
    readonly sources: readonly {
      readonly source: string
      readonly state: string
      readonly ageMs?: number | undefined
      readonly readAgeMs?: number | undefined
    }[]
  }[]
  readonly chains: readonly {
    readonly chain: string
    readonly quotable: boolean
    readonly state: string
    readonly head?: { readonly number: string; readonly ageMs: number } | undefined
    readonly readAgeMs?: number | undefined
    readonly consecutiveFailures: number
  }[]
}

type Report = {
  readonly agreed: number
  readonly required: number
  readonly dissenting: readonly string[]
}

const basisPoints = 10_000
const confidences = ['fresh', 'degraded', 'refused']

/** Prices, gas and heads of a service that has a market, read when scraped. All of it is in memory. */
export function watchMarket({ registry }: Pick<HttpMetrics, 'registry'>, health: () => MarketReading): void {
  const reading = oncePerTurn(health)
  watchPrices(registry, () => reading().prices)
  watchHeads(registry, () => reading().chains)
}

/** All gauges of one scrape are read in the same turn of the event loop: what they read is made once. */
function oncePerTurn<Value>(read: () => Value): () => Value {
  let kept: { readonly value: Value } | undefined
  return () => {
    if (kept === undefined) {
      kept = { value: read() }
      setImmediate(() => {
        kept = undefined
      })
    }
    return kept.value
  }
}

function watchPrices(registry: HttpMetrics['registry'], prices: () => MarketReading['prices']): void {
  const ofPrices = (name: string, help: string, read: (price: MarketReading['prices'][number]) => number) =>
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
        confidences.map((each) => ({
          labels: { price: key, confidence: each },
          value: each === confidence ? 1 : 0,
        })),
      ),
  )
  ofPrices(
    'market_price_sources_fresh',
    'Sources of a price that count now',
    ({ sources }) => sources.filter(({ state }) => state === 'fresh').length,
  )
  ofPrices('market_price_sources', 'Sources of a price that are configured', ({ sources }) => sources.length)
  ofPrices(
    'market_price_spread_ratio',
    'How far fresh sources of a price lie apart, of the price; NaN while it is refused',
    ({ spreadBps }) => (spreadBps === undefined ? Number.NaN : Number(spreadBps) / basisPoints),
  )
  const ofSources = (name: string, help: string, member: 'ageMs' | 'readAgeMs') =>
    watchSeries(registry, { name, help, labelNames: ['price', 'source'] }, () =>
      prices().flatMap(({ key, sources }) =>
        sources.flatMap(({ source, [member]: ageMs }) =>
          ageMs === undefined ? [] : [{ labels: { price: key, source }, value: ageMs / 1_000 }],
        ),
      ),
    )
  ofSources('market_price_source_age_seconds', 'Age of what a source says, by the source itself', 'ageMs')
  ofSources(
    'market_price_source_read_age_seconds',
    'Time since a source of a price last answered',
    'readAgeMs',
  )
}

function watchHeads(registry: HttpMetrics['registry'], chains: () => MarketReading['chains']): void {
  type Chain = MarketReading['chains'][number]
  const ofChains = (name: string, help: string, read: (chain: Chain) => number | undefined) =>
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
  ofChains('market_head_block', 'Height of the newest block that enough endpoints share', ({ head }) =>
    head === undefined ? undefined : Number(head.number),
  )
  ofChains(
    'market_head_age_seconds',
    'Age of that block by its own time; negative where a chain runs ahead of the clock',
    ({ head }) => head && head.ageMs / 1_000,
  )
  ofChains(
    'market_read_age_seconds',
    'Time since gas, balances, feeds and pools of a chain were last agreed on',
    ({ readAgeMs }) => readAgeMs && readAgeMs / 1_000,
  )
  ofChains(
    'market_refresh_failures',
    'Failures in a row of reading a chain',
    ({ consecutiveFailures }) => consecutiveFailures,
  )
}

/** Counts how many endpoint hosts agree on each kind of value, and which endpoint says something else. */
export function createAgreementMetrics({
  registry,
}: Pick<HttpMetrics, 'registry'>): (chain: string, on: string, report: Report) => void {
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
