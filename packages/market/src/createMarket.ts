import type { ChainGate } from '@causeway/chains'
import type { CurrencyKey, Hex } from '@causeway/core'
import { contractChain, type QuoteFile } from '@causeway/core/config'
import {
  type AgreedClient,
  type AgreementReport,
  createPoolMirror,
  measureShapes,
  type NetworkReader,
  type PoolMirror,
} from '@causeway/families'
import type { JsonRpcClient } from '@causeway/rpc'
import type { AgreedKind, ChainSource } from './chain/chainReading.ts'
import { createChainSource } from './chain/chainSource.ts'
import { createNetworkSource } from './chain/networkSource.ts'
import { createUnitsMeter } from './chain/unitsMeter.ts'
import { defaultLimits, type MarketLimits } from './limits.ts'
import { type ChainPlan, planMarket } from './plan.ts'
import { type Clock, type MarketLog, systemClock } from './ports.ts'
import type { HttpPriceAdapter } from './prices/http/adapter.ts'
import type { PriceConfig } from './prices/pricePlan.ts'
import { logSecondSources, type SourceHosts } from './prices/secondSource.ts'
import { type Market, runMarket } from './runMarket.ts'

export type MarketOptions = {
  /** Parts of a quote file that the market reads: chains, assets, prices and the owner of the inventory. */
  readonly config: PriceConfig & Pick<QuoteFile, 'fillWallet'>
  /** By chain key. A chain without a client is refused with `no_data`. The caller closes the clients. */
  readonly clients: ReadonlyMap<string, JsonRpcClient>
  /**
   * By chain key, for chains that did not answer at start. A gate is a check that must pass before the chain is read;
   * it is tried at each refresh until it does. The start does not wait for these chains.
   */
  readonly gates?: ReadonlyMap<string, ChainGate>
  /** By chain key, for chains that are not read by contract calls. */
  readonly readers?: ReadonlyMap<string, NetworkReader>
  /** Account whose balances are the inventory; default the one of the configuration. */
  readonly fillWallet?: Hex
  /** Hosts through which each source is read: two sources are independent if they share no host. */
  readonly sourceHosts: SourceHosts
  /** HTTP price services that are switched on. */
  readonly adapters?: readonly HttpPriceAdapter[]
  /** Part of a balance that is promised already, in smallest units; it is subtracted from the inventory. */
  readonly reserved?: (key: CurrencyKey) => bigint
  /** Called with the number of a chain's endpoints that agreed, each time they were asked; for metrics. */
  readonly onReport?: (chainKey: string, kind: AgreedKind, report: AgreementReport) => void
  readonly limits?: Partial<MarketLimits>
  readonly clock?: Clock
  /** Spreads refreshes in time, see `RefreshOptions`; default `Math.random`. */
  readonly random?: () => number
  readonly log: MarketLog
}

/**
 * Parts of a refresh's time after which a batch of calls, or the wait for pools, is given up: a silent
 * endpoint must not use up the whole refresh.
 */
const timeShares = { batch: 0.7, pools: 0.2 }
/** Milliseconds that an endpoint may take to estimate; the first reading of a chain waits for it. */
const measureTimeoutMs = 1_500

/**
 * Composes the market of one configuration: plans what is read, makes a source for each chain, and hands both to
 * `runMarket`. Does no I/O before `start`; after it everything is read in the background.
 * @throws ConfigurationError when a price names a chain, pool or currency that is not configured, or has several
 * sources that all share an endpoint host
 * @source rule Q-171
 */
export function createMarket(options: MarketOptions): Market {
  const { config, clients, readers = new Map(), gates = new Map(), reserved } = options
  const { fillWallet = config.fillWallet } = options
  const { clock = systemClock, random = Math.random, adapters = [], log, onReport } = options
  const limits = { ...defaultLimits, ...options.limits }
  const plan = planMarket(config, options.sourceHosts)
  logSecondSources(plan.prices, log)
  const reports = new Map<string, Map<AgreedKind, AgreementReport>>()
  const keepReport = (chainKey: string) => (kind: AgreedKind, report: AgreementReport) => {
    reports.set(chainKey, (reports.get(chainKey) ?? new Map()).set(kind, report))
    onReport?.(chainKey, kind, report)
  }
  const batchTimeoutMs = Math.floor(limits.refreshTimeoutMs * timeShares.batch)
  const sourceOf = (chain: ChainPlan, client: JsonRpcClient) => {
    const mirrorOf = mirrorsOf(chain)
    const meter = meterOf(chain, { client, fillWallet, clock, log })
    return createChainSource({
      plan: chain,
      client,
      batchTimeoutMs,
      poolsTimeoutMs: Math.floor(limits.refreshTimeoutMs * timeShares.pools),
      now: () => clock.now(),
      ...(fillWallet !== undefined && { fillWallet }),
      ...(mirrorOf !== undefined && { mirrorOf }),
      ...(meter !== undefined && { meter }),
      onReport: keepReport(chain.chainKey),
    })
  }
  const ungatedSource = (chain: ChainPlan): ChainSource | undefined => {
    const reader = readers.get(chain.chainKey)
    if (reader !== undefined)
      return createNetworkSource({
        plan: chain,
        reader,
        timeoutMs: batchTimeoutMs,
        onReport: keepReport(chain.chainKey),
      })
    const client = clients.get(chain.chainKey)
    return client && sourceOf(chain, client)
  }
  const sources = new Map<string, ChainSource>(
    plan.chains.flatMap((chain) => {
      const { chainKey } = chain
      const source = ungatedSource(chain)
      const gate = gates.get(chainKey)
      return source === undefined ? [] : [[chainKey, gate === undefined ? source : gated(gate, source)]]
    }),
  )
  return runMarket({
    plan,
    limits,
    sources,
    late: new Set(gates.keys()),
    agreementOf: (chainKey) => reports.get(chainKey),
    adapters,
    clock,
    random,
    log,
    ...(reserved !== undefined && { reserved }),
  })
}

type MeterParts = {
  readonly client: JsonRpcClient
  readonly fillWallet: Hex | undefined
  readonly clock: Clock
  readonly log: MarketLog
}

/**
 * Meter of a chain's gas units, where the configuration's facts about its network were checked (`seen`).
 * @source F-107
 */
function meterOf({ quotable, config, chainKey }: ChainPlan, { client, fillWallet, clock, log }: MeterParts) {
  if (!quotable || config.seen === undefined) return undefined
  return createUnitsMeter({
    measure: () => measureShapes({ client, config, fillWallet, timeoutMs: measureTimeoutMs }),
    now: () => clock.now(),
    onFailure: (error) => log.warn({ chain: chainKey, err: error }, 'gas units not measured'),
  })
}

/** The source, read only after the gate has passed once. */
function gated(gate: ChainGate, source: ChainSource): ChainSource {
  let isPassed = false
  return {
    ...source,
    async read(signal) {
      if (!isPassed) await gate(signal)
      isPassed = true
      return source.read(signal)
    },
  }
}

function mirrorsOf({ config, pools }: ChainPlan): ((client: AgreedClient) => PoolMirror) | undefined {
  if (config.uniswapV3 === undefined || pools.length === 0) return undefined
  const { factory, quoterV2 } = config.uniswapV3
  const { multicall3 } = contractChain(config)
  return (client) => createPoolMirror({ client, multicall3, factory, quoterV2, pools })
}
