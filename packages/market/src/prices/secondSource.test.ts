// Goal: whoever holds one endpoint, one service or one pool neither makes nor moves nor stops a price.
// Method: the market of readings made by hand, where nothing is exempt; each attack is one test.
import { readFile } from 'node:fs/promises'
import { ConfigurationError, type Hex, type PoolState, sqrtPriceX96FromAmounts } from '@causeway/core'
import { quoteFileSchema } from '@causeway/core/config'
import { describe, expect, test } from 'vitest'
import {
  baseReading,
  blockHash,
  poolAt,
  quoteFile,
  type ReadingOptions,
  wethUsdcPool,
} from '../../test/support/fixtures.ts'
import { createManualClock } from '../../test/support/manualClock.ts'
import { createMarketState } from '../evaluation/marketState.ts'
import { defaultLimits } from '../limits.ts'
import { planMarket } from '../plan.ts'
import type { MarketLog } from '../ports.ts'
import { oneUsdX18 } from './guards.ts'
import { hostOf, logSecondSources, type SourceHosts } from './secondSource.ts'

const secondHost = 'prices.example'

function reach(change: Partial<SourceHosts> = {}): SourceHosts {
  return {
    isExempt: false,
    chains: new Map([['base', ['rpc-a.example', 'rpc-b.example', 'rpc-c.example']]]),
    adapters: new Map([['defillama', secondHost]]),
    ...change,
  }
}

/** ETH/USD as in the fixtures: a feed and a pool on base, and one HTTP service. USDC/USD has its feed alone. */
function setUp(where: SourceHosts = reach()) {
  const clock = createManualClock()
  const state = createMarketState({ plan: planMarket(quoteFile(), where), limits: defaultLimits, clock })
  const readBase = (overrides: Partial<ReadingOptions> = {}, pools?: readonly PoolState[]) => {
    const value = baseReading({ nowMs: clock.now(), ...overrides })
    state.putChain('base', { value: { ...value, pools: pools ?? value.pools }, asOfMs: clock.now() })
  }
  const say = (usd: number) => {
    const usdX18 = (BigInt(Math.round(usd * 100)) * oneUsdX18) / 100n
    const quote = { usdX18, updatedAtMs: clock.now(), freshUntilMs: clock.now() + 30_000 }
    state.putHttp('defillama', {
      kind: 'http',
      quotes: new Map([['coingecko:ethereum', quote]]),
      readAtMs: clock.now(),
    })
  }
  const eth = () => state.snapshot().price('ETH/USD')
  return { clock, readBase, say, eth, state }
}

const honest = { usdX18: 2_000n * oneUsdX18, confidence: 'fresh', spreadBps: 0n }

/** A pool with 105,000 USD around its price, which about 1.50 USD of fees move by 2.9 % and back. */
function thinPool(centsPerEth: number): PoolState {
  const sqrtPriceX96 = sqrtPriceX96FromAmounts({
    amount0: 10n ** 20n,
    amount1: BigInt(centsPerEth) * 10n ** 6n,
  })
  const liquidity = ((105_000n * 10n ** 6n) << 96n) / sqrtPriceX96
  return { ...poolAt(2_000, blockHash(1)), sqrtPriceX96, liquidity }
}

describe('a pool that is moved', () => {
  test.each([
    ['by 2.9 %', 205_800],
    ['by 3.5 %', 207_000],
    ['by 3.5 % downwards', 193_000],
    ['to twice its price', 400_000],
  ])('Q-174: %s for a few USD neither moves nor widens nor stops a price', (_name, cents) => {
    const { readBase, say, eth } = setUp()
    say(2_000)
    readBase({}, [thinPool(cents)])
    expect(eth()).toMatchObject(honest)
  })

  test('by 3.5 % stops no price that rests on one voice either, while it is cheap to move', () => {
    const { readBase, eth } = setUp(reach({ adapters: new Map() }))
    readBase({}, [thinPool(207_000)])
    expect(eth()).toMatchObject(honest)
  })

  test('however deep is overruled by two sources that are reached apart', () => {
    const { readBase, say, eth } = setUp()
    say(2_000)
    readBase({ poolUsdPerEth: 4_000 })
    expect(eth()).toMatchObject(honest)
  })

  test('by 3.5 % though it is dear to move refuses what rests on one voice: it stands guard', () => {
    const { readBase, eth } = setUp(reach({ adapters: new Map() }))
    readBase({ poolUsdPerEth: 2_070 })
    expect(eth()).toEqual({ reason: 'deviation' })
  })
})

describe('a second source', () => {
  test('Q-171: that is configured and missing refuses the asset and no other one', async () => {
    const { readBase, say, eth, clock, state } = setUp()
    readBase()
    expect(eth()).toEqual({ reason: 'second_source_missing' })
    expect(state.snapshot().price('USDC/USD')).toHaveProperty('usdX18')
    say(2_000)
    expect(eth()).toMatchObject(honest)
    await clock.advance(30_000)
    readBase()
    expect(eth()).toMatchObject(honest)
    await clock.advance(1)
    expect(eth()).toEqual({ reason: 'second_source_missing' })
    say(2_001)
    expect(eth()).toHaveProperty('usdX18')
  })

  test('does not stand in for a feed that is silent', () => {
    const { readBase, say, eth } = setUp()
    say(2_000)
    readBase({ ethAnswer: undefined })
    expect(eth()).toEqual({ reason: 'second_source_missing' })
  })

  test.each([
    ['a service on a host of the chain', reach({ adapters: new Map([['defillama', 'rpc-b.example']]) })],
    [
      'a service on the one host that several endpoints share',
      reach({ chains: new Map([['base', [secondHost, secondHost]]]) }),
    ],
  ])('Q-171: that shares a host with the first is refused at start, by name: %s', (_name, shared) => {
    expect(() => planMarket(quoteFile(), shared)).toThrow(ConfigurationError)
    expect(() => planMarket(quoteFile(), shared)).toThrow(/ETH\/USD: .*http defillama.*one endpoint host/)
  })

  test('may be a feed of another chain over other hosts, and not over the same ones', () => {
    const feed: Hex = '0x00000000000000000000000000000000000000f3'
    const file = quoteFile((input) => ({
      ...input,
      prices: input.prices.map((price) => ({
        ...price,
        feeds: [...price.feeds, ...price.feeds.map((own) => ({ ...own, chain: 'optimism', address: feed }))],
        http: [],
      })),
    }))
    const over = (...hosts: readonly string[]) =>
      reach({ chains: new Map([...reach().chains, ['optimism', hosts]]) })
    const rules = planMarket(file, over('rpc-d.example')).prices.map(({ secondSource }) => secondSource)
    expect(rules).toEqual(['required', 'required'])
    expect(() => planMarket(file, over('rpc-d.example', 'rpc-a.example'))).toThrow(/ETH\/USD: .*USDC\/USD: /s)
  })

  test('is no other port or other spelling of the same host', () => {
    expect(hostOf('https://RPC.example:8545/v2/key')).toBe(hostOf('http://rpc.example:9545'))
  })

  test('is asked of nobody in local', () => {
    const { readBase, eth } = setUp(reach({ isExempt: true }))
    readBase()
    expect(eth()).toMatchObject(honest)
  })
})

describe('a jump', () => {
  test('that one source repeats for ever counts for nothing, and the old price is no offer meanwhile', async () => {
    const { readBase, say, eth, clock } = setUp()
    say(2_000)
    readBase()
    for (let second = 0; second < 20; second += 1) {
      await clock.advance(1_000)
      readBase({ ethAnswer: 206_200_000_000n, poolUsdPerEth: 2_062 })
      say(2_020)
      expect(eth()).toEqual({ reason: 'unconfirmed_jump' })
    }
    say(2_061)
    expect(eth()).toMatchObject({ usdX18: 2_062n * oneUsdX18 })
  })

  test('is never confirmed by a pool', async () => {
    const { readBase, eth, clock } = setUp(reach({ adapters: new Map() }))
    readBase()
    await clock.advance(1_000)
    readBase({ ethAnswer: 250_000_000_000n, poolUsdPerEth: 2_500 })
    expect(eth()).toEqual({ reason: 'unconfirmed_jump' })
  })
})

describe('one of two sources that lies', () => {
  test.each([
    ['a little up', 2_019],
    ['a little down', 1_981],
  ])('Q-173: %s moves no price, it widens the spread that protects the solver', (_name, lie) => {
    const { readBase, say, eth } = setUp()
    say(lie)
    readBase()
    expect(eth()).toMatchObject({ usdX18: 2_000n * oneUsdX18 })
  })

  test('beyond the limit ends the price, whichever of the two it is', () => {
    const { readBase, say, eth } = setUp()
    say(4_000)
    readBase()
    expect(eth()).toEqual({ reason: 'deviation' })
    say(2_000)
    readBase({ ethAnswer: 400_000_000_000n })
    expect(eth()).toEqual({ reason: 'deviation' })
  })
})

test('the start says what each price asks of its sources', () => {
  const said: [string, object, string][] = []
  const log: MarketLog = {
    info: (fields, message) => void said.push(['info', fields, message]),
    warn: (fields, message) => void said.push(['warn', fields, message]),
  }
  logSecondSources(planMarket(quoteFile(), reach()).prices, log)
  logSecondSources(planMarket(quoteFile()).prices, log)
  const { feeds } = quoteFile().prices[0] ?? {}
  expect(feeds?.map(({ chain }) => chain)).toEqual(['base'])
  const elsewhere = { ...reach(), chains: new Map([['optimism', ['a.example']]]) }
  logSecondSources(planMarket(quoteFile(), elsewhere).prices.slice(0, 1), log)
  expect(said).toEqual([
    ['info', { prices: ['ETH/USD'] }, expect.stringContaining('second source is missing')],
    ['warn', { prices: ['USDC/USD'] }, expect.stringContaining('one source')],
    ['info', { prices: ['ETH/USD', 'USDC/USD'] }, expect.stringContaining('local')],
    ['warn', { price: 'ETH/USD', chains: ['base'] }, expect.stringContaining('has an endpoint')],
    ['info', { prices: ['ETH/USD'] }, expect.stringContaining('second source is missing')],
  ])
})

describe('the configurations of real networks', () => {
  type Running = {
    readonly adapters?: readonly string[]
    readonly chains?: readonly string[]
    readonly hosts?: ReadonlyMap<string, readonly string[]>
  }
  const planOf = async (environment: string, { adapters = [], chains, hosts }: Running) => {
    const path = new URL(`../../../../configs/quote.${environment}.json`, import.meta.url)
    const input: unknown = JSON.parse(await readFile(path, 'utf8'))
    const file = quoteFileSchema.parse({ ...Object(input), fillWallet: undefined, servers: [] })
    const { prices } = planMarket(file, {
      isExempt: false,
      chains:
        hosts ?? new Map((chains ?? Object.keys(file.chains)).map((chain) => [chain, [`${chain}.example`]])),
      adapters: new Map(adapters.map((adapter) => [adapter, `${adapter}.example`])),
    })
    return prices
  }

  test.each(['mainnets.prod', 'testnets.prod'])(
    'ask two sources of every price of %s, which feeds alone are',
    async (environment) => {
      const prices = await planOf(environment, {})
      expect(prices.length).toBeGreaterThan(1)
      for (const { key, secondSource, lackingChains } of prices)
        expect([key, secondSource, lackingChains]).toEqual([key, 'required', []])
    },
  )

  const lackingWith = async (running: Running) =>
    (await planOf('mainnets.prod', running)).flatMap(({ key, lackingChains }) =>
      lackingChains.length === 0 ? [] : [`${key}: ${lackingChains.join(' ')}`],
    )

  test('O-154: price what two chains alone trade, and name the chains that the other prices lack', async () => {
    expect(await lackingWith({ chains: ['base', 'optimism'] })).toEqual([
      'WBTC/USD: arbitrum',
      'POL/USD: polygon arbitrum',
    ])
    expect(await lackingWith({ chains: ['ethereum', 'solana'] })).toEqual([
      'USDC/USD: base optimism',
      'ETH/USD: base optimism',
      'USDT/USD: base optimism',
      'WBTC/USD: optimism arbitrum',
      'POL/USD: polygon arbitrum base',
      'SOL/USD: optimism base arbitrum',
    ])
  })

  test('stop the start where all that is reached is one host, however many chains are not', async () => {
    const oneHost = new Map(['base', 'optimism'].map((chain) => [chain, ['rpc.example']]))
    await expect(planOf('mainnets.prod', { hosts: oneHost })).rejects.toThrow(
      /ETH\/USD: its sources \(feed base \w+, feed optimism \w+\) are read through one endpoint host/,
    )
  })

  test('are content with one feed and a service, or two services', async () => {
    const served = await lackingWith({ chains: ['ethereum', 'solana'], adapters: ['defillama'] })
    expect(served).toEqual([
      'WBTC/USD: optimism arbitrum',
      'POL/USD: polygon arbitrum base',
      'SOL/USD: optimism base arbitrum',
    ])
    expect(await lackingWith({ chains: ['ethereum'], adapters: ['hermes', 'coingecko'] })).toEqual([])
  })
})

test('the pool of these tests is the one that the configuration names', () => {
  expect(thinPool(200_000).address).toBe(wethUsdcPool)
})
