import { ConfigurationError, type CurrencyKey } from '@causeway/core'
import type { AgreedHead, ChainReading, ChainSource } from './chain/chainReading.ts'
import type { AgreementOf } from './evaluation/buildSnapshot.ts'
import type { Evaluation } from './evaluation/evaluate.ts'
import { createMarketState, type MarketState } from './evaluation/marketState.ts'
import { describeMarket, type MarketHealth, type RefreshHealth } from './health.ts'
import { type MarketLimits, pollIntervalMs } from './limits.ts'
import type { MarketPlan } from './plan.ts'
import type { Clock, MarketLog } from './ports.ts'
import type { HttpPriceAdapter, HttpQuote } from './prices/http/adapter.ts'
import { RefreshedValue } from './refreshedValue.ts'
import type { MarketSnapshot } from './snapshot.ts'

/** Live prices, gas, pools and inventory. All I/O happens in the background. */
export type Market = {
  /** The present snapshot, from memory. */
  snapshot(): MarketSnapshot
  /**
   * Starts refreshing. Resolves after the first complete refresh of all chains or a time limit. Until a chain or price
   * was read, snapshots refuse it.
   * @throws ConfigurationError when a feed that answered is not the one configured
   */
  start(): Promise<void>
  /** Stops all refreshing. The snapshot stays readable and ages. */
  close(): void
  /** Sources of every price and state of every chain, for operators. */
  health(): MarketHealth
  /** Tells that a chain may have a new block, so that it is read sooner. */
  hint(chainKey: string): void
  /**
   * The newest head of a chain that enough endpoints share; newer than the snapshot's while the rest is still read.
   * `undefined` where none is known, or its blocks have no hash.
   */
  agreedHead(chainKey: string): AgreedHead | undefined
  /** Calls `listener` with each new snapshot. @returns a function that ends this */
  onChange(listener: (snapshot: MarketSnapshot) => void): () => void
}

export type RunMarketOptions = {
  readonly plan: MarketPlan
  readonly limits: MarketLimits
  /** By chain key; a chain without one is never read and stays refused. */
  readonly sources: ReadonlyMap<string, ChainSource>
  /** Chains that the start does not wait for; default: none. */
  readonly late?: ReadonlySet<string>
  /** Number of endpoints that agreed on each kind of data in the last reading of a chain. */
  readonly agreementOf?: AgreementOf
  readonly adapters: readonly HttpPriceAdapter[]
  readonly reserved?: (key: CurrencyKey) => bigint
  readonly clock: Clock
  readonly random: () => number
  readonly log: MarketLog
}

/** Runs the market over given sources. Each is refreshed by itself, so that a stuck one delays no other. */
export function runMarket(options: RunMarketOptions): Market {
  const { plan, limits, clock, reserved } = options
  const { agreementOf = () => undefined, late } = options
  const state = createMarketState({
    plan,
    limits,
    clock,
    agreementOf,
    ...(reserved !== undefined && { reserved }),
  })
  const chains = plan.chains.flatMap((chain) => {
    const source = options.sources.get(chain.chainKey)
    if (source === undefined) return []
    const intervalMs = pollIntervalMs(chain.config)
    return refreshChain({ chainKey: chain.chainKey, intervalMs, source, state, options })
  })
  const byKey = new Map(chains.map((chain) => [chain.chainKey, chain]))
  const refreshed = [
    ...chains.map(({ reading }) => reading),
    ...options.adapters.map((adapter) => refreshAdapter(adapter, state, options)),
  ]

  return {
    snapshot: () => state.snapshot(),
    async start() {
      for (const value of refreshed) value.start()
      const awaited = chains.filter(({ chainKey }) => late?.has(chainKey) !== true)
      await atMost(limits.startTimeoutMs, Promise.all(awaited.map(({ firstReading }) => firstReading)))
      refuseMisdescribedFeeds(state.evaluation())
    },
    close() {
      for (const value of refreshed) value.close()
    },
    health: () =>
      describeMarket({
        version: state.snapshot().version,
        plan,
        evaluation: state.evaluation(),
        chainFacts: (chainKey) => state.chainFacts(chainKey),
        refreshHealth: (chainKey) => byKey.get(chainKey)?.health() ?? neverRefreshed,
        agreementOf,
        nowMs: clock.now(),
      }),
    hint: (chainKey) => byKey.get(chainKey)?.reading.hasten(),
    agreedHead: (chainKey) => options.sources.get(chainKey)?.agreedHead?.(),
    onChange: (listener) => state.onChange(listener),
  }
}

const neverRefreshed: RefreshHealth = { state: 'empty', consecutiveFailures: 0, lastError: undefined }

type ChainRefresh = {
  readonly chainKey: string
  readonly reading: RefreshedValue<ChainReading>
  /** Resolves after the first reading that includes pools. */
  readonly firstReading: Promise<void>
  health(): RefreshHealth
}

function refreshChain(args: {
  readonly chainKey: string
  readonly intervalMs: number
  readonly source: ChainSource
  readonly state: MarketState
  readonly options: RunMarketOptions
}): ChainRefresh {
  const { chainKey, intervalMs, source, state } = args
  const { clock, random, limits } = args.options
  const trouble = troubleLog({ chain: chainKey }, args.options.log)
  let announceFirst: () => void = () => {}
  const firstReading = new Promise<void>((resolve) => {
    announceFirst = resolve
  })
  const reading = new RefreshedValue<ChainReading>({
    load: (signal) => source.read(signal),
    intervalMs,
    timeoutMs: limits.refreshTimeoutMs,
    softMaxAgeMs: 3 * intervalMs,
    hardMaxAgeMs: limits.gasHardMaxAgeMs,
    clock,
    random,
    onLoaded(sample) {
      trouble.noteSuccess()
      state.putChain(chainKey, sample)
      if (sample.value.poolsLive) announceFirst()
    },
    isUrgent: () => state.awaitsConfirmation(chainKey),
    onFailed: trouble.noteFailure,
  })
  const health = () => ({
    state: reading.read().state,
    consecutiveFailures: reading.consecutiveFailures(),
    lastError: trouble.lastError(),
  })
  return { chainKey, reading, firstReading, health }
}

/** Refreshes an optional price service. The start does not wait for it, and it is asked less often while it fails. */
function refreshAdapter(
  adapter: HttpPriceAdapter,
  state: MarketState,
  { plan, clock, random, log }: RunMarketOptions,
): RefreshedValue<ReadonlyMap<string, HttpQuote>> {
  const uses = plan.prices.flatMap(({ http }) => http).filter((use) => use.adapter === adapter.name)
  const ids = [...new Set(uses.map(({ id }) => id))]
  const trouble = troubleLog({ adapter: adapter.name }, log)
  return new RefreshedValue<ReadonlyMap<string, HttpQuote>>({
    load: async (signal) =>
      ids.length === 0 ? new Map() : adapter.read(ids, { nowMs: clock.now(), signal }),
    intervalMs: adapter.intervalMs,
    // The bound is low, because a price may be refused until the service is back.
    backoffMaxMs: 4 * adapter.intervalMs,
    timeoutMs: adapter.intervalMs,
    // Nobody reads the state that these two limits decide: each quote has an age limit of its own.
    softMaxAgeMs: 2 * adapter.intervalMs,
    hardMaxAgeMs: 600_000,
    clock,
    random,
    onLoaded({ value, asOfMs }) {
      trouble.noteSuccess()
      state.putHttp(adapter.name, { kind: adapter.kind, quotes: value, readAtMs: asOfMs })
    },
    onFailed: trouble.noteFailure,
  })
}

/**
 * Refuses to start with a feed that has another description or other decimals than configured, since it would misprice
 * everything.
 * @throws ConfigurationError naming each such feed
 */
function refuseMisdescribedFeeds({ prices }: Evaluation): void {
  const misdescribedFeeds = [...prices].flatMap(([key, { readings }]) =>
    readings
      .filter(({ result }) => 'fault' in result && result.fault === 'misdescribed')
      .map(({ source }) => `${key}: ${source}`),
  )
  if (misdescribedFeeds.length === 0) return
  throw new ConfigurationError(
    `Feeds with another description or other decimals:\n${misdescribedFeeds.join('\n')}`,
  )
}

/** Logs when refreshing begins to fail and when it works again, not each failure between. */
function troubleLog(subject: object, log: MarketLog) {
  let lastError: unknown
  let isFailing = false
  return {
    noteFailure(error: unknown) {
      if (!isFailing) log.warn({ ...subject, err: error }, 'market refresh failed')
      isFailing = true
      lastError = error
    },
    noteSuccess() {
      if (isFailing) log.info(subject, 'market refresh works again')
      isFailing = false
      lastError = undefined
    },
    lastError: () => lastError,
  }
}

/** Settles with the promise, or at the limit if that is earlier. The timer keeps the process alive while it waits. */
async function atMost(limitMs: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs)
  })
  try {
    await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
