// Goal: evaluating only what new facts can have changed gives what evaluating everything gives.
// Method: random readings of two chains and random pauses; both ways after every step.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { baseReading, quoteFile } from '../../test/support/fixtures.ts'
import type { ChainFacts } from '../chain/chainState.ts'
import { defaultLimits } from '../limits.ts'
import { planMarket } from '../plan.ts'
import { type Evaluation, evaluate } from './evaluate.ts'
import type { MarketFacts } from './readSources.ts'

/** ETH/USD from base and a pool there; USDC/USD, which that pool is quoted in, from optimism. */
const plan = planMarket(
  quoteFile((input) => ({
    ...input,
    prices: input.prices.map((price) =>
      price.key === 'USDC/USD'
        ? { ...price, feeds: price.feeds.map((feed) => ({ ...feed, chain: 'optimism' })) }
        : price,
    ),
  })),
)

const reading = fc.record(
  {
    block: fc.integer({ min: 1, max: 250 }),
    headAgeMs: fc.constantFrom(0, 1_000, 15_000, 25_000, -700_000),
    gasWei: fc.constantFrom(1_000n, 1_100n, 9_000n),
    ethAnswer: fc.constantFrom(200_000_000_000n, 201_000_000_000n, 260_000_000_000n, 0n, undefined),
    usdcAnswer: fc.constantFrom(100_000_000n, 99_000_000n, 90_000_000n, 0n),
    feedAgeSeconds: fc.constantFrom(10, 3_600, 4_000),
    poolUsdPerEth: fc.constantFrom(2_000, 2_050, 2_600, undefined),
  },
  { requiredKeys: [] },
)
const steps = fc.array(
  fc.record({
    chain: fc.constantFrom('base', 'optimism'),
    reading,
    pauseMs: fc.constantFrom(1, 500, 5_000, 31_000, 61_000),
  }),
  { minLength: 1, maxLength: 12 },
)

function values({ prices, chains }: Evaluation) {
  return {
    prices: [...prices].map(([key, { price, readings }]) => ({ key, price, readings })),
    chains: [...chains].map(([key, { state }]) => ({ key, state })),
  }
}

describe('evaluate', () => {
  test('in the scope of a reading gives what evaluating everything gives', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        let nowMs = 1_800_000_000_000
        const chains = new Map<string, ChainFacts>()
        const factsNow = (): MarketFacts => ({ plan, chains, http: new Map(), limits: defaultLimits, nowMs })
        let before = evaluate(factsNow())
        for (const { chain, reading: options, pauseMs } of sequence) {
          nowMs += pauseMs
          if (nowMs >= before.changesAtMs) before = evaluate(factsNow(), before)
          const value = baseReading({ nowMs, ...options })
          chains.set(chain, { reading: value, readAtMs: nowMs })
          const scope = { prices: plan.pricesByChain.get(chain) ?? [], chains: [chain] }
          const partly = evaluate(factsNow(), before, scope)
          expect(values(partly)).toEqual(values(evaluate(factsNow(), before)))
          before = partly
        }
      }),
      { numRuns: 500 },
    )
  })

  test('says until when its result holds: no earlier moment gives another one', () => {
    fc.assert(
      fc.property(steps, fc.double({ min: 0, max: 1, noNaN: true }), (sequence, part) => {
        let nowMs = 1_800_000_000_000
        const chains = new Map<string, ChainFacts>()
        const factsAt = (atMs: number): MarketFacts => ({
          plan,
          chains,
          http: new Map(),
          limits: defaultLimits,
          nowMs: atMs,
        })
        for (const { chain, reading: options, pauseMs } of sequence) {
          nowMs += pauseMs
          const value = baseReading({ nowMs, ...options })
          chains.set(chain, { reading: value, readAtMs: nowMs })
        }
        const evaluation = evaluate(factsAt(nowMs))
        const endsAtMs = Math.min(evaluation.changesAtMs, nowMs + 10_000_000)
        const laterMs = nowMs + Math.floor((endsAtMs - 1 - nowMs) * part)
        expect(values(evaluate(factsAt(laterMs), evaluation))).toEqual(values(evaluation))
      }),
      { numRuns: 500 },
    )
  })
})
