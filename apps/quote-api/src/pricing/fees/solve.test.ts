// Goal: worked examples of fees, and the sum of fees of rule Q-150, hold to the last unit.
import { bpsUp, convertDown, divideUp, type FeeParts } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FeeTerms, solveAmountIn, splitFees, withoutFees } from './solve.ts'

const usdc = { decimals: 6, usdX18: 10n ** 18n }
const eth = { decimals: 18, usdX18: 2_500n * 10n ** 18n }

const sumOf = ({ gas, flat, skew, platform }: FeeParts) => gas + flat + skew + platform
const capped = (cap: bigint) => (parts: FeeParts) => (sumOf(parts) < cap ? sumOf(parts) : cap)
const nobody = () => 0n

function example(overrides: Partial<FeeTerms> & { skewBps?: bigint } = {}): FeeTerms {
  const { skewBps = 4n, ...rest } = overrides
  return {
    gas: 10_000n,
    flat: 20_000n,
    platformBps: 6n,
    skew: (amountIn) => bpsUp(amountIn * (skewBps < 0n ? -1n : 1n), skewBps < 0n ? -skewBps : skewBps),
    appFeesBps: [50n],
    rent: 0n,
    subsidy: nobody,
    slopeBpsMin: 9_900n,
    ...rest,
  }
}

describe('worked examples of the fee sheet', () => {
  test.each([
    ['A exact input', 100_000_000n, example(), 130_000n, 500_000n, 0n, 99_370_000n, 39_748_000_000_000_000n],
    [
      'B fully sponsored',
      100_000_000n,
      example({ subsidy: sumOf }),
      130_000n,
      500_000n,
      130_000n,
      99_500_000n,
      39_800_000_000_000_000n,
    ],
    [
      'C capped sponsor',
      100_000_000n,
      example({ subsidy: capped(100_000n) }),
      130_000n,
      500_000n,
      100_000n,
      99_470_000n,
      39_788_000_000_000_000n,
    ],
    ['D odd amount', 123_456_789n, example(), 153_458n, 617_283n, 0n, 122_686_048n, 49_074_419_200_000_000n],
    [
      'E odd amount, capped sponsor',
      123_456_789n,
      example({ subsidy: capped(100_000n) }),
      153_458n,
      617_283n,
      100_000n,
      122_786_048n,
      49_114_419_200_000_000n,
    ],
    [
      'H reward without app fee',
      100_000_000n,
      example({ gas: 10_000n, platformBps: 0n, skewBps: -5n, appFeesBps: [] }),
      -20_000n,
      0n,
      0n,
      100_020_000n,
      40_008_000_000_000_000n,
    ],
  ])('%s', (_name, amountIn, terms, relayer, app, subsidized, net, out) => {
    const split = splitFees(terms, amountIn)
    expect(split).toMatchObject({ amountIn, relayer, app, subsidized, net })
    expect(convertDown(split.net, usdc, eth)).toBe(out)
  })

  test.each([
    ['F exact output', example(), 100_633_804n, 130_635n, 503_169n, 0n],
    ['G exact output, sponsored', example({ subsidy: sumOf }), 100_502_512n, 130_504n, 502_512n, 130_504n],
  ])('%s', (_name, terms, amountIn, relayer, app, subsidized) => {
    const target = divideUp(40_000_000_000_000_000n * eth.usdX18 * 10n ** 6n, usdc.usdX18 * 10n ** 18n)
    expect(target).toBe(100_000_000n)
    expect(solveAmountIn(terms, target)).toMatchObject({ amountIn, relayer, app, subsidized, net: target })
  })
})

const termsArbitrary = fc
  .record({
    gas: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    flat: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    platformBps: fc.bigInt({ min: 0n, max: 100n }),
    skewBps: fc.bigInt({ min: -10n, max: 100n }),
    appFeesBps: fc.array(fc.bigInt({ min: 0n, max: 900n }), { maxLength: 4 }),
    cap: fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }), { nil: undefined }),
  })
  .map(({ cap, ...rest }) =>
    example({
      ...rest,
      subsidy: cap === undefined ? nobody : (parts) => (sumOf(parts) > 0n ? capped(cap)(parts) : 0n),
      slopeBpsMin: 10_000n - rest.platformBps - 110n - rest.appFeesBps.reduce((sum, bps) => sum + bps, 0n),
    }),
  )

describe('identity in = net + relayer + app − subsidized', () => {
  const holds = (split: ReturnType<typeof splitFees>) => {
    expect(split.amountIn).toBe(split.net + split.relayer + split.app - split.subsidized)
    expect(split.relayer).toBe(split.relayerGas + split.relayerService)
    expect(split.appFees.reduce((sum, fee) => sum + fee, 0n)).toBe(split.app)
  }

  test('holds forward for amounts from 1 unit to 2^128', () => {
    fc.assert(
      fc.property(termsArbitrary, fc.bigInt({ min: 1n, max: 2n ** 128n }), (terms, amountIn) => {
        holds(splitFees(terms, amountIn))
      }),
      { numRuns: 2_000 },
    )
  })

  test('holds backward, and a forward pass of the solved input reaches the target', () => {
    fc.assert(
      fc.property(termsArbitrary, fc.bigInt({ min: 1n, max: 2n ** 128n }), (terms, target) => {
        const solved = solveAmountIn(terms, target)
        holds(solved)
        expect(solved.net).toBe(target)
        expect(splitFees(terms, solved.amountIn).net).toBeGreaterThanOrEqual(target)
      }),
      { numRuns: 2_000 },
    )
  })

  test('Q-150: holds backward for inputs in steps, also where fees step up between them', () => {
    const step = fc.bigInt({ min: 1n, max: 200n })
    fc.assert(
      fc.property(termsArbitrary, fc.bigInt({ min: 1n, max: 2n ** 128n }), step, (terms, target, ofSteps) => {
        const solved = solveAmountIn(terms, target, ofSteps)
        holds(solved)
        expect([solved.net, solved.amountIn % ofSteps]).toEqual([target, 0n])
        expect(solved.parts.surplus).toBeGreaterThanOrEqual(0n)
        expect(solved.amountIn - solveAmountIn(terms, target).amountIn).toBeLessThan(ofSteps + 20n)
      }),
      { numRuns: 2_000 },
    )
  })

  test('backward finds the smallest input over all, dips included', () => {
    fc.assert(
      fc.property(termsArbitrary, fc.bigInt({ min: 1n, max: 50_000n }), (base, target) => {
        const terms = { ...base, gas: base.gas % 1_000n, flat: base.flat % 1_000n }
        const { amountIn } = solveAmountIn(terms, target)
        for (
          let candidate = amountIn - 1n;
          candidate >= 0n && candidate > amountIn - 3_000n;
          candidate -= 1n
        ) {
          expect(splitFees(terms, candidate).net).toBeLessThan(target)
        }
      }),
      { numRuns: 60 },
    )
  })
})

/** Fees whose sizes depend on the input alone, but for `gas`. */
const rounded = (appFeesBps: readonly bigint[], platformBps: bigint, more: Partial<FeeTerms> = {}) => {
  const appBps = appFeesBps.reduce((sum, bps) => sum + bps, 0n)
  const slopeBpsMin = 10_000n - appBps - platformBps
  return example({ gas: 0n, flat: 0n, skewBps: 0n, appFeesBps, platformBps, slopeBpsMin, ...more })
}

test.each([
  // Each of ten fees takes a unit more at the same inputs: between 233 and 380, some reach 21 and some do not.
  ['far below the one that bisection ends at', rounded(Array(10).fill(900n), 500n), 21n, 1n, 233n, 0n],
  [
    'for nothing, where two fees take the first unit',
    rounded([], 6n, { skew: (amountIn) => bpsUp(amountIn, 4n), slopeBpsMin: 9_990n }),
    0n,
    1n,
    0n,
    0n,
  ],
  ['for nothing, which costs the gas', rounded([], 0n, { gas: 10n }), 0n, 1n, 10n, 0n],
  // 197 reaches it; at 200 four fees take a unit more, and leave 196.
  ['in steps, above one at which the fees step up', rounded([50n, 50n, 50n, 50n], 0n), 197n, 5n, 205n, 4n],
])('Q-150: the smallest input is found %s', (_what, terms, target, step, amountIn, surplus) => {
  const solved = solveAmountIn(terms, target, step)
  expect([solved.amountIn, solved.net, solved.parts.surplus]).toEqual([amountIn, target, surplus])
})

test('an output that no amount of its currency reaches is refused', () => {
  expect(() => solveAmountIn(rounded([], 0n, { gas: 2n ** 256n }), 1n)).toThrow(
    expect.objectContaining({ code: 'INSUFFICIENT_LIQUIDITY' }),
  )
})

test('a route without a solver has no fees', () => {
  expect(withoutFees(7n)).toEqual({
    amountIn: 7n,
    net: 7n,
    relayerGas: 0n,
    relayerService: 0n,
    relayer: 0n,
    app: 0n,
    appFees: [],
    subsidized: 0n,
    parts: { gas: 0n, flat: 0n, skew: 0n, platform: 0n, surplus: 0n, app: 0n, rent: 0n },
  })
})

test.each([0n, 1n, 499n])(
  'fees that leave %s bps of an input are refused before any search',
  (slopeBpsMin) => {
    let asked = 0
    const terms = example({
      slopeBpsMin,
      skew: () => {
        asked += 1
        return 0n
      },
    })
    expect(() => solveAmountIn(terms, 1n)).toThrow(
      expect.objectContaining({ code: 'AMOUNT_TOO_LOW', data: { field: 'appFees' } }),
    )
    expect(asked).toBe(0)
  },
)

test('the search stays small where fees leave the least that is served', () => {
  let asked = 0
  const terms = example({
    appFeesBps: Array.from({ length: 10 }, () => 940n),
    slopeBpsMin: 500n,
    skew: () => {
      asked += 1
      return 0n
    },
  })
  solveAmountIn(terms, 10n ** 30n)
  // A hundred halvings, and the inputs of the window.
  expect(asked).toBeLessThan(400)
})
