// Goal: refreshing goes on in the background, whatever one chain or service does.
// Method: sources made by hand and a clock that the test moves.
import { UpstreamUnavailableError } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { baseReading, quoteFile } from '../test/support/fixtures.ts'
import { createManualClock, type ManualClock } from '../test/support/manualClock.ts'
import type { ChainSource } from './chain/chainReading.ts'
import { marketHealthSchema } from './health.ts'
import { defaultLimits } from './limits.ts'
import { planMarket } from './plan.ts'
import { oneUsdX18 } from './prices/guards.ts'
import type { HttpPriceAdapter } from './prices/http/adapter.ts'
import { type RunMarketOptions, runMarket } from './runMarket.ts'

type Sources = Record<string, ChainSource>

/** Two working chains unless `sources` says otherwise; all of them live by one clock. */
function setUp(
  options: Partial<Omit<RunMarketOptions, 'sources'>> & {
    sources?: (parts: { working: ChainSource; clock: ManualClock }) => Sources
  } = {},
) {
  const { sources = ({ working }) => ({ base: working, optimism: working }), ...overrides } = options
  const clock = createManualClock()
  const logged: string[] = []
  const logger = (level: string) => (_fields: object, message: string) => logged.push(`${level} ${message}`)
  const working: ChainSource = {
    read: async () => baseReading({ nowMs: clock.now(), block: clock.now() % 251 }),
  }
  const market = runMarket({
    plan: planMarket(quoteFile()),
    limits: { ...defaultLimits, startTimeoutMs: 200 },
    sources: new Map(Object.entries(sources({ working, clock }))),
    adapters: [],
    clock,
    random: () => 0.5,
    log: { info: logger('info'), warn: logger('warn') },
    ...overrides,
  })
  onTestFinished(() => market.close())
  return { clock, market, logged }
}

/** Starts and lets the first loads settle. */
async function started(set: ReturnType<typeof setUp>) {
  const start = set.market.start()
  await set.clock.advance(0)
  await start
  return set
}

const never: ChainSource = { read: () => new Promise(() => {}) }

describe('start', () => {
  test('resolves once every chain was read', async () => {
    const { market } = await started(setUp())
    expect(market.snapshot().chain(8_453)).toHaveProperty('fees')
    expect(market.snapshot().chain(10)).toHaveProperty('fees')
    expect(market.snapshot().price('ETH/USD')).toHaveProperty('usdX18')
  })

  test('resolves at its limit while one chain hangs, which is refused while the other is priced', async () => {
    const { market } = await started(
      setUp({ sources: ({ working }) => ({ base: working, optimism: never }) }),
    )
    expect(market.snapshot().chain(8_453)).toHaveProperty('fees')
    expect(market.snapshot().chain(10)).toEqual({ reason: 'no_data' })
  })

  test('reads nothing of a chain without a source and does not wait for it', async () => {
    const limits = { ...defaultLimits, startTimeoutMs: 3_600_000 }
    const { market } = await started(setUp({ limits, sources: ({ working }) => ({ base: working }) }))
    expect(market.snapshot().chain(10)).toEqual({ reason: 'no_data' })
    expect(market.health().chains[1]).toMatchObject({ chain: 'optimism', state: 'no_data', refresh: 'empty' })
  })

  test('refuses a feed that is not the one configured, by name', async () => {
    const { market, clock } = setUp({
      sources: ({ clock }) => ({
        base: { read: async () => baseReading({ nowMs: clock.now(), describedAs: 'BTC / USD' }) },
      }),
    })
    const outcome = expect(market.start()).rejects.toThrow(/ETH\/USD: feed base 0x/)
    await clock.advance(0)
    await outcome
  })
})

describe('reading the market', () => {
  test('does no I/O, however often and whatever is asked', async () => {
    let reads = 0
    const { market, clock } = await started(
      setUp({
        sources: ({ working }) => ({
          base: {
            read: (signal) => {
              reads += 1
              return working.read(signal)
            },
          },
        }),
      }),
    )
    for (let count = 0; count < 1_000; count += 1) {
      const snapshot = market.snapshot()
      snapshot.price('ETH/USD')
      snapshot.chain(10)
      market.health()
    }
    await clock.advance(0)
    expect(reads).toBe(1)
  })
})

describe('a chain that fails', () => {
  test('keeps its last values until they are too old, and recovers by itself', async () => {
    let broken = false
    const slowHeads = quoteFile((input) => ({
      ...input,
      chains: { ...input.chains, base: { ...input.chains.base, headMaxAgeMs: 600_000 } },
    }))
    const { market, clock, logged } = await started(
      setUp({
        plan: planMarket(slowHeads),
        sources: ({ working, clock }) => ({
          optimism: working,
          base: {
            read: async () => {
              if (broken) throw new UpstreamUnavailableError('no', { code: 'RPC_HTTP_ERROR' })
              return baseReading({ nowMs: clock.now() })
            },
          },
        }),
      }),
    )
    broken = true
    await clock.advance(29_000)
    expect(market.snapshot().chain(8_453)).toHaveProperty('fees')
    expect(market.health().chains[0]).toMatchObject({ refresh: 'stale', lastError: 'RPC_HTTP_ERROR' })
    await clock.advance(2_000)
    expect(market.snapshot().chain(8_453)).toEqual({ reason: 'stale_gas' })
    expect(market.snapshot().chain(10)).toHaveProperty('fees')
    broken = false
    await clock.advance(1_500)
    expect(market.snapshot().chain(8_453)).toHaveProperty('fees')
    expect(logged).toEqual(['warn market refresh failed', 'info market refresh works again'])
  })

  test('delays no other, even when it never answers nor listens to its signal', async () => {
    let reads = 0
    const { clock, market } = setUp({
      sources: ({ working }) => ({
        base: never,
        optimism: {
          read: (signal) => {
            reads += 1
            return working.read(signal)
          },
        },
      }),
    })
    void market.start()
    await clock.advance(10_000)
    expect(reads).toBe(11)
    expect(market.health().chains[0]).toMatchObject({
      lastError: 'REQUEST_TIMED_OUT',
      consecutiveFailures: 2,
    })
  })
})

describe('a jump', () => {
  test('is read again soon, so that it shows well before the next regular refresh', async () => {
    let ethAnswer = 200_000_000_000n
    const { market, clock } = await started(
      setUp({
        sources: ({ clock }) => ({
          base: {
            read: async () => baseReading({ nowMs: clock.now(), ethAnswer, poolUsdPerEth: undefined }),
          },
        }),
      }),
    )
    const usd = () => market.snapshot().price('ETH/USD')
    ethAnswer = 300_000_000_000n
    await clock.advance(1_000)
    expect(usd()).toMatchObject({ usdX18: 2_000n * 10n ** 18n })
    await clock.advance(250)
    expect(usd()).toMatchObject({ usdX18: 3_000n * 10n ** 18n })
  })
})

describe('HTTP adapters', () => {
  function adapter(read: HttpPriceAdapter['read']) {
    const asked: { ids: readonly string[]; atMs: number }[] = []
    const service: HttpPriceAdapter = {
      name: 'defillama',
      kind: 'http',
      intervalMs: 1_000,
      read: (ids, options) => {
        asked.push({ ids, atMs: options.nowMs })
        return read(ids, options)
      },
    }
    return { asked, service }
  }

  test('are asked for all their ids at once and count as a source', async () => {
    const { asked, service } = adapter(async (_ids, { nowMs }) => {
      const quote = { usdX18: 2_000n * oneUsdX18, updatedAtMs: nowMs, freshUntilMs: nowMs + 600_000 }
      return new Map([['coingecko:ethereum', quote]])
    })
    const { market, clock } = await started(setUp({ adapters: [service], sources: () => ({}) }))
    await clock.advance(1_000)
    expect(asked.map(({ ids }) => ids)).toEqual([['coingecko:ethereum'], ['coingecko:ethereum']])
    expect(market.snapshot().price('ETH/USD')).toMatchObject({ usdX18: 2_000n * oneUsdX18 })
    expect(market.snapshot().price('USDC/USD')).toEqual({ reason: 'no_source' })
  })

  test('are asked less while they fail, and again within four intervals, and nobody waits for them', async () => {
    const { asked, service } = adapter(async () => {
      throw new UpstreamUnavailableError('429')
    })
    const set = await started(setUp({ adapters: [service] }))
    await set.clock.advance(15_000)
    const first = asked[0]?.atMs ?? 0
    expect(asked.map(({ atMs }) => atMs - first)).toEqual([0, 2_000, 6_000, 10_000, 14_000])
    expect(set.market.snapshot().price('ETH/USD')).toHaveProperty('usdX18')
  })

  test('that are off are no source', async () => {
    const { market } = await started(setUp())
    const kinds = market.health().prices.flatMap(({ sources }) => sources.map(({ kind }) => kind))
    expect(kinds).not.toContain('http')
  })
})

describe('close', () => {
  test('stops everything and leaves nothing scheduled', async () => {
    const set = await started(setUp())
    set.market.close()
    expect(set.clock.pendingTasks()).toBe(0)
    expect(set.market.snapshot().price('ETH/USD')).toHaveProperty('usdX18')
  })
})

describe('listeners', () => {
  test('hear of each new snapshot', async () => {
    const set = setUp()
    const versions: number[] = []
    set.market.onChange(({ version }) => versions.push(version))
    await started(set)
    expect(versions.at(-1)).toBe(set.market.snapshot().version)
  })
})

describe('health', () => {
  test('names every source of a price, and every answer keeps the schema', async () => {
    const { market, clock } = await started(setUp())
    await clock.advance(500)
    const health = market.health()
    expect(marketHealthSchema.parse(health)).toEqual(health)
    expect(health.status).toBe('ok')
    expect(health.prices[0]).toMatchObject({
      key: 'ETH/USD',
      class: 'major',
      confidence: 'fresh',
      sources: [
        { kind: 'feed', state: 'fresh', usd: '2000.0', readAgeMs: 500, block: expect.any(String) },
        { kind: 'pool', state: 'fresh', readAgeMs: 500 },
      ],
    })
    expect(health.chains[0]).toMatchObject({
      chain: 'base',
      chainId: 8_453,
      quotable: true,
      state: 'ok',
      refresh: 'fresh',
      gas: { expectedWei: '1000000' },
      pools: { state: 'live', configured: 1, mirrored: 1, leftOut: [] },
      consecutiveFailures: 0,
      readAgeMs: 500,
    })
  })

  test('is degraded before the first reading and says what is missing', () => {
    const { market } = setUp()
    const health = market.health()
    expect(marketHealthSchema.parse(health)).toEqual(health)
    expect(health.status).toBe('degraded')
    expect(health.prices[0]).toMatchObject({
      confidence: 'refused',
      refusal: 'no_source',
      sources: [
        { state: 'faulty', fault: 'no_answer' },
        { state: 'faulty', fault: 'no_answer' },
      ],
    })
    expect(health.chains[0]).toMatchObject({ state: 'no_data', refresh: 'empty' })
  })

  test('never shows a balance or what an endpoint said', async () => {
    const failing: ChainSource = {
      read: async () => {
        throw new Error('https://node.example/secret-key refused')
      },
    }
    const { market } = await started(
      setUp({ sources: ({ working }) => ({ base: working, optimism: failing }) }),
    )
    const text = JSON.stringify(market.health())
    expect(text).not.toContain('5000000')
    expect(text).not.toContain('secret-key')
    expect(market.health().chains[1]).toMatchObject({ lastError: 'INTERNAL' })
  })
})
