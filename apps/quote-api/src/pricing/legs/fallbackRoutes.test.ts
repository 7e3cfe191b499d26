// Goal: `useFallbacks` quotes what no listed pool of a pair can serve, and nothing at a worse price than listed pools
// may have. Who gains by breaking it: who made or moved a pool that nobody listed, and is sold to below the market.
import type { PoolQuote, PoolState } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  deepTide,
  e18,
  million,
  pool,
  pools,
  recipient,
  testChainMarket,
  testSnapshot,
  tide,
  usdc,
  usdx,
  user,
} from '../../../test/fixtures/market.ts'
import type { OnChainQuoter } from './poolLegQuoter.ts'

const poolsOn = (poolsOfA: readonly PoolState[]) => ({
  current: testSnapshot({
    chains: [testChainMarket(chainA, { pools: poolsOfA }), testChainMarket(chainB, { pools })],
  }),
})

async function price(change: object, options: TestAppOptions = {}) {
  const app = await testApp({ market: poolsOn(pools), facts: { allowance: 2n ** 255n }, ...options })
  onTestFinished(() => app.close())
  const payload = {
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainA,
    originCurrency: usdx,
    destinationCurrency: tide,
    amount: '100000000',
    tradeType: 'EXACT_INPUT',
    ...change,
  }
  const { statusCode, json } = await app.inject({ method: 'POST', url: '/price', payload })
  return { statusCode, json: json() }
}

describe('two pools in a row', () => {
  test('Q-179: are quoted with useFallbacks, and only with it', async () => {
    expect((await price({})).json.errorCode).toBe('NO_SWAP_ROUTES_FOUND')
    const { statusCode, json } = await price({ useFallbacks: true })
    expect([statusCode, json.details?.fallbackType]).toEqual([200, 'two-hops'])
    const [first, second] = await Promise.all([
      price({ destinationCurrency: usdc }),
      price({ originCurrency: usdc, amount: '99990000' }),
    ])
    expect(first.json.details.currencyOut.amount).toMatch(/^9998/)
    const alone = BigInt(second.json.details.currencyOut.amount)
    const out = BigInt(json.details.currencyOut.amount)
    expect(out).toBeLessThanOrEqual(alone)
    expect(out * 1_000n).toBeGreaterThan(alone * 999n)
  })

  test('give exactly what they are asked for, for more than the output of less', async () => {
    const amount = String(24n * e18)
    const { json } = await price({ useFallbacks: true, tradeType: 'EXACT_OUTPUT', amount })
    const { amount: paid } = json.details.currencyIn
    expect(json.details.currencyOut.minimumAmount).toBe(amount)
    const back = await price({ useFallbacks: true, amount: paid })
    expect(BigInt(back.json.details.currencyOut.amount)).toBeGreaterThanOrEqual(24n * e18)
    const less = await price({ useFallbacks: true, amount: String(BigInt(paid) - 2n) })
    expect(BigInt(less.json.details.currencyOut.amount)).toBeLessThan(24n * e18)
  })

  test('serve an output on another chain, in every trade type', async () => {
    const between = { originCurrency: tide, destinationChainId: chainB, destinationCurrency: usdx }
    for (const tradeType of ['EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT']) {
      const amount = tradeType === 'EXACT_INPUT' ? String(25n * e18) : '50000000'
      const { json } = await price({ ...between, tradeType, amount, useFallbacks: true })
      // Listed pools do.
      expect([tradeType, json.details?.fallbackType]).toEqual([tradeType, 'none'])
    }
  })

  test('of which one was moved against who asks are refused', async () => {
    const moved = pool('f4', tide, 3_000, 60, [5n * million, million * 10n ** 12n])
    const market = poolsOn(pools.map((state) => (state.address === deepTide.address ? moved : state)))
    const { json } = await price({ useFallbacks: true }, { market })
    expect(json).toMatchObject({ errorCode: 'PRICE_FETCH_FAILED', message: expect.stringMatching('too far') })
  })

  test('are left out where the caller wants no swap source of ours', async () => {
    const { json } = await price({ useFallbacks: true, excludedSwapSources: ['uniswap-v3'] })
    expect(json.errorCode).toBe('NO_SWAP_ROUTES_FOUND')
  })
})

describe('pools that nobody listed', () => {
  const config = { fallbackFeeTiers: [500, 3_000] }
  const between = { originCurrency: tide, destinationCurrency: usdc, amount: String(25n * e18) }
  const market = poolsOn([])
  /** Every pool of 500 pips gives so much for 25 TIDE, which are worth 100 USDC; there is no other. */
  const gives =
    (amountOut: bigint): OnChainQuoter =>
    async ({ pool: { feePips }, amount }) => {
      const answer: PoolQuote = {
        amountIn: amount,
        amountOut,
        sqrtPriceX96After: 2n ** 96n,
        initializedTicksCrossed: 1,
        exhausted: false,
      }
      return feePips === 500 ? answer : undefined
    }
  const asked = (amountOut: bigint, change: object = {}) =>
    price({ ...between, ...change }, { config, market, quoteOnChain: gives(amountOut) })

  test('are asked for with useFallbacks, and only with it', async () => {
    expect((await asked(99_000_000n)).json.errorCode).toBe('NO_SWAP_ROUTES_FOUND')
    const { json } = await asked(99_000_000n, { useFallbacks: true })
    expect(json.details?.currencyOut.amount).toBe('99000000')
    expect(json.details.fallbackType).toBe('more-fee-tiers')
  })

  test('Q-179: that lose more than a listed pool may stand off are refused', async () => {
    // 150 bps of a long-tail token and the fee of 5.
    expect((await asked(98_450_000n, { useFallbacks: true })).statusCode).toBe(200)
    const { json } = await asked(98_440_000n, { useFallbacks: true })
    expect(json).toMatchObject({ errorCode: 'PRICE_FETCH_FAILED', message: expect.stringMatching('too far') })
  })

  test('that give more than any honest pool are refused', async () => {
    expect((await asked(110_000_000n, { useFallbacks: true })).json.errorCode).toBe('PRICE_FETCH_FAILED')
  })

  test('are not asked for where no fees are configured', async () => {
    const quoteOnChain = gives(99_000_000n)
    const { json } = await price({ ...between, useFallbacks: true }, { market, quoteOnChain })
    expect(json.errorCode).toBe('NO_SWAP_ROUTES_FOUND')
  })
})

describe('the refusal of a pair that no listed pool swaps', () => {
  const advice = 'useFallbacks: true also tries other pools.'
  const anyTier = { fallbackFeeTiers: [500] }
  /** One listed pool of 100 pips, and no currency between. */
  const direct = { originCurrency: usdx, destinationCurrency: usdc }
  /** No pool is mirrored, and the chain's quoter knows none. */
  const bare = { market: poolsOn([]) }
  const excluded = { excludedSwapSources: ['uniswap-v3'] }
  const inLegs = { originCurrency: tide, destinationCurrency: usdx, amount: String(25n * e18) }

  test.each<readonly [string, boolean, object, TestAppOptions]>([
    ['two listed pools in a row join it', true, {}, {}],
    ['pools of other fees may swap it', true, direct, { config: anyTier, ...bare }],
    [
      'pools of other fees may swap it in a solver’s leg',
      true,
      { ...direct, destinationChainId: chainB },
      { config: anyTier, ...bare },
    ],
    ['nothing else is configured', false, direct, bare],
    [
      'every configured fee is that of a listed pool',
      false,
      direct,
      { config: { fallbackFeeTiers: [100] }, ...bare },
    ],
    ['the caller excludes all pools', false, excluded, {}],
    [
      'the caller excludes pools of other fees, too',
      false,
      { ...direct, ...excluded },
      { config: anyTier, ...bare },
    ],
    ['the flag was sent', false, { ...direct, useFallbacks: true }, { config: anyTier, ...bare }],
    ['two pools were tried, and none swaps', false, { ...inLegs, useFallbacks: true }, bare],
  ])('Q-8: names useFallbacks only where that tries more: %s', async (_where, isAdvised, change, options) => {
    const { statusCode, json } = await price(change, options)
    expect([statusCode, json.errorCode]).toEqual([400, 'NO_SWAP_ROUTES_FOUND'])
    expect(json.message.endsWith(` ${advice}`), json.message).toBe(isAdvised)
    expect(JSON.parse(json.errorData).field === 'useFallbacks').toBe(isAdvised)
  })

  test('Q-8: does not name it for a leg that it would not help', async () => {
    // The origin has a way over another currency; the destination has one pool, which does not answer.
    const change = { ...inLegs, destinationChainId: chainB }
    const market = {
      current: testSnapshot({
        chains: [testChainMarket(chainA, { pools }), testChainMarket(chainB, { pools: [] })],
      }),
    }
    const { json } = await price(change, { market })
    expect([json.errorCode, json.message]).toEqual([
      'NO_SWAP_ROUTES_FOUND',
      `No listed pool on chain ${chainB} swaps USDC to USDX now.`,
    ])
  })
})
