// Goal: what age alone changes is seen at its very moment, by whoever asks first, and worked out once.
// Method: a market of readings made by hand, and a clock that the test moves to each edge.
import { describe, expect, test } from 'vitest'
import { baseReading, quoteFile, type ReadingOptions } from '../../test/support/fixtures.ts'
import { createManualClock } from '../../test/support/manualClock.ts'
import { defaultLimits } from '../limits.ts'
import { planMarket } from '../plan.ts'
import { oneUsdX18 } from '../prices/guards.ts'
import { createMarketState } from './marketState.ts'

/** ETH by its feed alone; heads may be an hour old. */
function setUp() {
  const clock = createManualClock()
  const file = quoteFile((input) => ({
    ...input,
    chains: { ...input.chains, base: { ...input.chains.base, headMaxAgeMs: 3_600_000 } },
  }))
  const state = createMarketState({ plan: planMarket(file), limits: defaultLimits, clock })
  const readBase = (change: Partial<ReadingOptions> = {}) => {
    const value = baseReading({ nowMs: clock.now(), poolUsdPerEth: undefined, ...change })
    state.putChain('base', { value, asOfMs: clock.now() })
  }
  const readOptimism = () => {
    const value = { ...baseReading({ nowMs: clock.now() }), feeds: new Map() }
    state.putChain('optimism', { value, asOfMs: clock.now() })
  }
  const eth = () => state.snapshot().price('ETH/USD')
  return { clock, state, readBase, readOptimism, eth }
}

const at2000 = { usdX18: 2_000n * oneUsdX18 }

describe('age', () => {
  test('ends the earlier price a minute after its reading, while a jump is unconfirmed', async () => {
    const { clock, state, readBase, eth } = setUp()
    readBase()
    await clock.advance(1_000)
    readBase({ ethAnswer: 250_000_000_000n })
    await clock.advance(59_000)
    expect(eth()).toMatchObject(at2000)
    await clock.advance(1)
    expect(eth()).toEqual({ reason: 'unconfirmed_jump' })
    expect(state.awaitsConfirmation('base')).toBe(true)
  })

  test('is seen in the evaluation by itself, before anybody takes a snapshot', async () => {
    const { clock, state, readBase } = setUp()
    readBase()
    await clock.advance(60_001)
    expect(state.evaluation().prices.get('ETH/USD')?.price).toEqual({ reason: 'stale' })
  })

  test('ends a price also where another chain is read at that very moment', async () => {
    const { clock, readBase, readOptimism, eth } = setUp()
    readBase()
    await clock.advance(60_001)
    readOptimism()
    expect(eth()).toEqual({ reason: 'stale' })
  })

  test('is worked out once, at the moment when it changes something, and later never again', async () => {
    const { clock, state, readBase } = setUp()
    readBase()
    const fresh = state.evaluation()
    await clock.advance(30_000)
    expect(state.evaluation()).toBe(fresh)
    await clock.advance(1)
    const staleGas = state.evaluation()
    expect(staleGas).not.toBe(fresh)
    expect(state.evaluation()).toBe(staleGas)
    await clock.advance(7_200_000)
    const allOld = state.evaluation()
    await clock.advance(7_200_000)
    expect(state.evaluation()).toBe(allOld)
  })
})

describe('a chain that is not in the plan', () => {
  test('changes nothing when it is read, and awaits nothing', () => {
    const { clock, state, readBase, eth } = setUp()
    readBase()
    const before = state.snapshot()
    state.putChain('moon', { value: baseReading({ nowMs: clock.now() }), asOfMs: clock.now() })
    expect(state.snapshot()).toBe(before)
    expect(eth()).toMatchObject(at2000)
    expect(state.awaitsConfirmation('moon')).toBe(false)
  })
})

test('the newest reading of a chain is kept as it was read', () => {
  const { clock, state, readBase } = setUp()
  expect(state.chainFacts('base')).toBeUndefined()
  readBase({ block: 7 })
  expect(state.chainFacts('base')).toMatchObject({ readAtMs: clock.now(), reading: { head: { number: 7n } } })
})
