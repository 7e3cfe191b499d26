// Goal: what a quote sees follows from what was read and from time alone. Method: readings made by
// hand and a clock that the test moves; no I/O.
import { type CurrencyKey, divideHalfEven } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { baseReading, native, quoteFile, type ReadingOptions, usdc } from '../../test/support/fixtures.ts'
import { createManualClock } from '../../test/support/manualClock.ts'
import { defaultLimits } from '../limits.ts'
import { planMarket } from '../plan.ts'
import { oneUsdX18 } from '../prices/guards.ts'
import type { MarketSnapshot } from '../snapshot.ts'
import { createMarketState } from './marketState.ts'

function setUp(
  options: { file?: ReturnType<typeof quoteFile>; reserved?: (key: CurrencyKey) => bigint } = {},
) {
  const clock = createManualClock()
  const { file = quoteFile(), reserved } = options
  const state = createMarketState({
    plan: planMarket(file),
    limits: defaultLimits,
    clock,
    ...(reserved !== undefined && { reserved }),
  })
  const readBase = (overrides: Partial<ReadingOptions> = {}) =>
    state.putChain('base', { value: baseReading({ nowMs: clock.now(), ...overrides }), asOfMs: clock.now() })
  const eth = () => seen(state.snapshot(), 'ETH/USD')
  return { clock, state, readBase, eth }
}

/** Whole USD, rounded, and confidence, or the reason of the refusal. */
function seen(snapshot: MarketSnapshot, key: string): string {
  const price = snapshot.price(key)
  return 'reason' in price ? price.reason : `${divideHalfEven(price.usdX18, oneUsdX18)} ${price.confidence}`
}

describe('before anything was read', () => {
  test('every price and chain is refused, known or not', () => {
    const { state } = setUp()
    const snapshot = state.snapshot()
    expect(snapshot.price('ETH/USD')).toEqual({ reason: 'no_source' })
    expect(snapshot.price('XYZ/USD')).toEqual({ reason: 'no_source' })
    expect(snapshot.chain(8_453)).toEqual({ reason: 'no_data' })
    expect(snapshot.chain(1)).toEqual({ reason: 'no_data' })
  })
})

describe('prices', () => {
  test('come from the feed, whatever a pool within the limit says', () => {
    const { readBase, state } = setUp()
    for (const poolUsdPerEth of [1_942, 2_000, 2_058, undefined]) {
      readBase({ ethAnswer: 200_000_000_000n, poolUsdPerEth })
      expect(state.snapshot().price('ETH/USD')).toMatchObject({
        usdX18: 2_000n * oneUsdX18,
        confidence: 'fresh',
        spreadBps: 0n,
      })
    }
  })

  test('Q-170: a feed that moves alone beyond the limit is refused, and both together are followed at once', () => {
    const { readBase, eth, clock } = setUp()
    readBase()
    expect(eth()).toBe('2000 fresh')
    readBase({ ethAnswer: 220_000_000_000n, block: 101 })
    expect(eth()).toBe('deviation')
    readBase({ ethAnswer: 220_000_000_000n, poolUsdPerEth: 2_200, block: 102 })
    expect(eth()).toBe('2200 fresh')
    expect(clock.pendingTasks()).toBe(0)
  })

  test('the feed alone is enough, and the pool alone is not', () => {
    const { readBase, eth } = setUp()
    readBase({ poolUsdPerEth: undefined })
    expect(eth()).toBe('2000 fresh')
    readBase({ ethAnswer: undefined, poolUsdPerEth: 2_020 })
    expect(eth()).toBe('no_source')
  })

  test('a feed alone that jumps is held back until it is read again', async () => {
    const { readBase, eth, clock } = setUp()
    readBase({ poolUsdPerEth: undefined })
    await clock.advance(1_000)
    readBase({ poolUsdPerEth: undefined, ethAnswer: 250_000_000_000n })
    expect(eth()).toBe('2000 fresh')
    await clock.advance(1_000)
    readBase({ poolUsdPerEth: undefined, ethAnswer: 251_000_000_000n })
    expect(eth()).toBe('2510 fresh')
  })

  test('readings of another chain are no second sample of a jump', async () => {
    const { readBase, eth, clock, state } = setUp()
    readBase({ poolUsdPerEth: undefined })
    await clock.advance(1_000)
    readBase({ poolUsdPerEth: undefined, ethAnswer: 250_000_000_000n })
    await clock.advance(1_000)
    const other = { ...baseReading({ nowMs: clock.now() }), feeds: new Map() }
    state.putChain('optimism', { value: other, asOfMs: clock.now() })
    expect(eth()).toBe('2000 fresh')
  })

  test('a feed counts for its heartbeat and a minute', async () => {
    const { readBase, eth, clock } = setUp()
    readBase({ poolUsdPerEth: undefined, feedAgeSeconds: 3_600 })
    expect(eth()).toBe('2000 fresh')
    readBase({ poolUsdPerEth: undefined, feedAgeSeconds: 3_660 })
    expect(eth()).toBe('stale')
    await clock.advance(1)
    expect(eth()).toBe('stale')
  })

  test('a feed that is not the one configured never counts', () => {
    const { readBase, eth } = setUp()
    readBase({ describedAs: 'BTC / USD', poolUsdPerEth: 2_020 })
    expect(eth()).toBe('no_source')
  })

  test('the pool is worth nothing while its other token has no price of its own', () => {
    const { readBase, state } = setUp()
    readBase({ usdcAnswer: 0n, ethAnswer: undefined })
    expect(seen(state.snapshot(), 'ETH/USD')).toBe('no_source')
    expect(seen(state.snapshot(), 'USDC/USD')).toBe('no_source')
  })

  test('the pool guards at the market price of its stablecoin', () => {
    const { readBase, eth } = setUp()
    readBase({ poolUsdPerEth: 2_070 })
    expect(eth()).toBe('deviation')
    readBase({ usdcAnswer: 97_000_000n, poolUsdPerEth: 2_070 })
    expect(eth()).toBe('2000 fresh')
  })

  test('sources of a silent chain stop counting with its head, and come back with it', async () => {
    const { readBase, eth, clock } = setUp()
    readBase({ headAgeMs: 0 })
    await clock.advance(20_000)
    expect(eth()).toBe('2000 fresh')
    await clock.advance(1_000)
    expect(eth()).toBe('stale')
    readBase()
    expect(eth()).toBe('2000 fresh')
  })

  test('a source that was not read for a minute counts no longer, whatever its heartbeat', async () => {
    const file = quoteFile((input) => ({
      ...input,
      chains: { ...input.chains, base: { ...input.chains.base, headMaxAgeMs: 3_600_000 } },
    }))
    const { readBase, eth, clock, state } = setUp({ file })
    readBase({ feedAgeSeconds: 0 })
    await clock.advance(60_000)
    expect(eth()).toBe('2000 fresh')
    await clock.advance(1)
    expect(eth()).toBe('stale')
    expect(seen(state.snapshot(), 'USDC/USD')).toBe('stale')
  })

  test('an HTTP adapter adds to the spread once it answers', () => {
    const { readBase, eth, state, clock } = setUp()
    readBase()
    const quote = {
      usdX18: 2_010n * oneUsdX18,
      updatedAtMs: clock.now(),
      freshUntilMs: clock.now() + 600_000,
    }
    state.putHttp('defillama', {
      kind: 'http',
      quotes: new Map([['coingecko:ethereum', quote]]),
      readAtMs: clock.now(),
    })
    expect(eth()).toBe('2000 fresh')
    expect(state.snapshot().price('ETH/USD')).toMatchObject({ spreadBps: 50n })
    const sources = state
      .evaluation()
      .prices.get('ETH/USD')
      ?.readings.map(({ source }) => source)
    expect(sources).toContain('http defillama')
  })
})

describe('chains', () => {
  test('show head, gas, fees, pools and inventory of one reading', () => {
    const { readBase, state, clock } = setUp()
    readBase({ block: 7 })
    expect(state.snapshot().chain(8_453)).toMatchObject({
      chainId: 8_453,
      asOfMs: clock.now(),
      head: { number: 7n },
      fees: { gasPrice: { expectedWei: 1_000_000n } },
      pools: [{ blockHash: `0x${'07'.repeat(32)}` }],
      inventory: new Map([[`8453:${usdc}`, 5_000_000n]]),
    })
    expect(state.snapshot().chain(10)).toEqual({ reason: 'no_data' })
  })

  test('are refused with stale_gas after thirty silent seconds and return with the next reading', async () => {
    const file = quoteFile((input) => ({
      ...input,
      chains: { ...input.chains, base: { ...input.chains.base, headMaxAgeMs: 600_000 } },
    }))
    const { readBase, state, clock } = setUp({ file })
    readBase()
    await clock.advance(30_000)
    expect(state.snapshot().chain(8_453)).toHaveProperty('fees')
    await clock.advance(1)
    expect(state.snapshot().chain(8_453)).toEqual({ reason: 'stale_gas' })
    readBase()
    expect(state.snapshot().chain(8_453)).toHaveProperty('fees')
  })

  test('are refused with stale_head while an old head is still confirmed', async () => {
    const { readBase, state, clock } = setUp()
    readBase({ headAgeMs: 0 })
    await clock.advance(20_000)
    readBase({ headAgeMs: 20_000 })
    expect(state.snapshot().chain(8_453)).toHaveProperty('fees')
    await clock.advance(1)
    expect(state.snapshot().chain(8_453)).toEqual({ reason: 'stale_head' })
  })

  test('are refused while their head claims to be far ahead', async () => {
    const { readBase, state, clock, eth } = setUp()
    readBase({ headAgeMs: -600_000 })
    expect(state.snapshot().chain(8_453)).toHaveProperty('fees')
    readBase({ headAgeMs: -620_000 })
    expect(state.snapshot().chain(8_453)).toEqual({ reason: 'stale_head' })
    expect(eth()).toBe('no_source')
    await clock.advance(20_000)
    expect(state.snapshot().chain(8_453)).toHaveProperty('fees')
  })

  test('a silent chain leaves the others as they are', async () => {
    const { readBase, state, clock } = setUp()
    readBase()
    const other = { ...baseReading({ nowMs: clock.now() + 40_000 }), feeds: new Map() }
    await clock.advance(40_000)
    state.putChain('optimism', { value: other, asOfMs: clock.now() })
    expect(state.snapshot().chain(8_453)).toEqual({ reason: 'stale_gas' })
    expect(state.snapshot().chain(10)).toHaveProperty('fees')
  })

  test('await confirmation while a jump of a price is held back, and only then', () => {
    const { readBase, state } = setUp()
    readBase({ poolUsdPerEth: undefined })
    expect(state.awaitsConfirmation('base')).toBe(false)
    readBase({ poolUsdPerEth: undefined, ethAnswer: 300_000_000_000n })
    expect(state.awaitsConfirmation('base')).toBe(true)
    expect(state.awaitsConfirmation('optimism')).toBe(false)
  })

  test('Q-163: gas above the ceiling refuses the chain, and comes back below it', () => {
    const { state, clock } = setUp()
    const put = (block: number, gasWei: bigint) =>
      state.putChain('base', {
        value: baseReading({ nowMs: clock.now(), block, gasWei, gasCeilingWei: 4_000n }),
        asOfMs: clock.now(),
      })
    put(100, 4_000n)
    expect(state.snapshot().chain(8_453)).toHaveProperty('fees')
    put(101, 4_001n)
    const refused = {
      reason: 'gas_above_ceiling',
      charge: 'Gas',
      cost: 'costs 4001 wei',
      ceiling: '4000 wei that its last blocks give',
    }
    expect(state.snapshot().chain(8_453)).toEqual(refused)
    // Other data of the chain stays: its feed prices other chains.
    expect(state.snapshot().price('ETH/USD')).toHaveProperty('usdX18')
    put(102, 3_999n)
    expect(state.snapshot().chain(8_453)).toHaveProperty('fees')
  })

  test('gas that endpoints dispute refuses the chain alone, not the prices read there', () => {
    const { state, clock } = setUp()
    const value = baseReading({ nowMs: clock.now(), gasWei: undefined })
    state.putChain('base', { value, asOfMs: clock.now() })
    expect(state.snapshot().chain(8_453)).toEqual({ reason: 'gas_disputed' })
    expect(state.snapshot().price('ETH/USD')).toHaveProperty('usdX18')
  })

  test('inventory is what is left after reservations, never below zero', () => {
    const inventory = new Map<CurrencyKey, bigint>([
      [`8453:${usdc}`, 100n],
      [`8453:${native}`, 5n],
    ])
    const { readBase, state } = setUp({ reserved: (key) => (key === `8453:${usdc}` ? 30n : 7n) })
    readBase({ inventory })
    expect(state.snapshot().chain(8_453)).toMatchObject({
      inventory: new Map([
        [`8453:${usdc}`, 70n],
        [`8453:${native}`, 0n],
      ]),
    })
  })

  test('a chain that is only read for its feeds is never priced itself', () => {
    const file = quoteFile((input) => ({
      ...input,
      chains: { ...input.chains, base: { ...input.chains.base, enabled: false } },
    }))
    const { readBase, state, eth } = setUp({ file })
    readBase()
    expect(eth()).toBe('2000 fresh')
    expect(state.snapshot().chain(8_453)).toEqual({ reason: 'no_data' })
  })
})

describe('F-86: after its chain stood for minutes', () => {
  /** The head of block 100, still confirmed so many seconds later; ETH has one source. */
  async function stood(seconds: number) {
    const set = setUp()
    const { clock, state } = set
    const value = baseReading({ nowMs: clock.now(), headAgeMs: 0, poolUsdPerEth: undefined })
    state.putChain('base', { value, asOfMs: clock.now() })
    await clock.advance(seconds * 1_000)
    state.putChain('base', { value, asOfMs: clock.now() })
    const goOn = (block: number, feedAgeSeconds: number, headAgeMs = 0) =>
      set.readBase({ block, headAgeMs, feedAgeSeconds, poolUsdPerEth: undefined })
    return { ...set, goOn }
  }

  test('a feed counts only from a round that is newer than the block with which the chain went on', async () => {
    const { goOn, eth, clock } = await stood(121)
    goOn(101, 131)
    expect(eth()).toBe('no_source')
    await clock.advance(3_000)
    goOn(102, 3)
    expect(eth()).toBe('no_source')
    goOn(103, 2)
    expect(eth()).toBe('2000 fresh')
  })

  test('blocks that fill the gap later are part of it', async () => {
    const { goOn, eth, clock } = await stood(600)
    goOn(101, 0, 590_000)
    goOn(150, 0, 300_000)
    goOn(400, 1)
    expect(eth()).toBe('no_source')
    await clock.advance(2_000)
    goOn(401, 1)
    expect(eth()).toBe('2000 fresh')
  })

  test('a host clock that was minutes ahead for a while says nothing of a feed', async () => {
    const { state, eth, clock } = setUp()
    const read = (block: number) => {
      const chainMs = clock.steadyNow()
      const value = baseReading({
        nowMs: chainMs,
        block,
        headAgeMs: 0,
        feedAgeSeconds: 60,
        poolUsdPerEth: undefined,
      })
      state.putChain('base', { value, asOfMs: clock.now() })
    }
    read(100)
    clock.step(240_000)
    for (const block of [101, 102]) {
      await clock.advance(2_000)
      read(block)
    }
    clock.step(-240_000)
    read(103)
    expect(eth()).toBe('2000 fresh')
  })

  test('a shorter pause says nothing of a feed', async () => {
    const { goOn, eth } = await stood(119)
    goOn(101, 131)
    expect(eth()).toBe('2000 fresh')
  })
})

describe('snapshots', () => {
  test('are the same object until something changed, and readings that change nothing do not count', async () => {
    const { readBase, state, clock } = setUp()
    const headAt = clock.now()
    readBase({ headAgeMs: 0 })
    const first = state.snapshot()
    await clock.advance(1_000)
    state.putChain('base', { value: baseReading({ nowMs: headAt, headAgeMs: 0 }), asOfMs: clock.now() })
    expect(state.snapshot()).toBe(first)
    readBase({ block: 101 })
    expect(state.snapshot()).not.toBe(first)
    expect(state.snapshot().version).toBe(first.version + 1)
  })

  test('are kept fresh by readings that change nothing', async () => {
    const { state, clock } = setUp()
    const headAt = clock.now()
    for (let second = 0; second <= 19; second += 1) {
      state.putChain('base', { value: baseReading({ nowMs: headAt, headAgeMs: 0 }), asOfMs: clock.now() })
      await clock.advance(1_000)
    }
    expect(state.snapshot().chain(8_453)).toHaveProperty('fees')
  })

  test('never change once taken: values that did not change keep their identity in the next one', () => {
    const { readBase, state } = setUp()
    readBase()
    const before = state.snapshot()
    const price = before.price('ETH/USD')
    readBase({ block: 101, gasWei: 1_100_000n })
    const after = state.snapshot()
    expect(before.chain(8_453)).toMatchObject({ fees: { gasPrice: { expectedWei: 1_000_000n } } })
    expect(after.chain(8_453)).toMatchObject({ fees: { gasPrice: { expectedWei: 1_100_000n } } })
    expect(after.price('ETH/USD')).toBe(price)
    expect(Object.isFrozen(after)).toBe(true)
  })

  test.each<[string, Partial<ReadingOptions>]>([
    ['the head', { block: 101 }],
    ['gas', { gasWei: 1_000_001n }],
    ['inventory', { inventory: new Map([[`8453:${usdc}`, 4_999_999n]]) }],
    ['pools', { poolUsdPerEth: undefined }],
    ['a price', { ethAnswer: 200_000_000_001n }],
  ])('get a new version when %s changes', (_name, change) => {
    const { readBase, state } = setUp()
    readBase()
    const { version } = state.snapshot()
    readBase(change)
    expect(state.snapshot().version).toBe(version + 1)
  })

  test('are announced to those who listen, until they stop', () => {
    const { readBase, state } = setUp()
    const versions: number[] = []
    const stop = state.onChange(({ version }) => versions.push(version))
    readBase()
    readBase()
    readBase({ block: 101 })
    stop()
    readBase({ block: 102 })
    expect(versions).toEqual([2, 3])
  })
})
