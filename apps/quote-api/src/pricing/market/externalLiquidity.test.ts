// Goal: with `useExternalLiquidity` what others bring makes a quote of what the solver alone cannot pay, at a price and
// after a time that the answer tells. Who gains by breaking it: a source that brings nothing, or asks for the moon, and
// an integrator who is quoted it without having asked.
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import { leastSeen } from '../../../test/fixtures/leastSeen.ts'
import {
  chainA,
  chainB,
  marketWithPools,
  native,
  openedRewards,
  recipient,
  testChainMarket,
  testConfig,
  testRegistry,
  testSnapshot,
  tide,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'
import { toQuoteRequest } from '../../http/wire/quoteBody.ts'
import { feeTerms, plainUse } from '../fees/feeTerms.ts'
import { splitFees } from '../fees/solve.ts'
import { planLegs } from '../legs/planLegs.ts'
import { resolveRoute } from '../routes/route.ts'
import { type FindLiquidity, isAcceptable, type LiquidityOffer, offerOf } from './externalLiquidity.ts'
import { createInventoryViews } from './inventoryView.ts'

/** More than the solver has on any chain. */
const amount = '3000000000000'
const offer: LiquidityOffer = { available: 10n ** 13n, feeBps: 7, readySeconds: 120 }

async function price(change: object, options: TestAppOptions = {}) {
  const app = await testApp({ market: { current: marketWithPools() }, ...options })
  onTestFinished(() => app.close())
  return ask(app, change)
}

async function ask(app: Awaited<ReturnType<typeof testApp>>, change: object) {
  const payload = {
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    tradeType: 'EXACT_INPUT',
    originCurrency: usdc,
    destinationCurrency: usdc,
    amount,
    ...change,
  }
  const answer = await app.inject({ method: 'POST', url: '/price', payload })
  return { status: answer.statusCode, json: answer.json() }
}

/** A source that offers this, and what it was asked for. */
function source(offered: LiquidityOffer | undefined) {
  const asked: string[] = []
  const findLiquidity: FindLiquidity = async ({ currency, amount: wanted }) => {
    asked.push(`${wanted} ${currency.symbol} on ${currency.chainId}`)
    return offered
  }
  return { asked, findLiquidity }
}

describe('an amount that the solver cannot pay', () => {
  test('Q-33: is quoted where somebody brings it, and only with useExternalLiquidity', async () => {
    const { asked, findLiquidity } = source(offer)
    expect((await price({}, { findLiquidity })).json.errorCode).toBe('INSUFFICIENT_LIQUIDITY')
    expect(asked).toEqual([])
    const { status, json } = await price({ useExternalLiquidity: true }, { findLiquidity })
    expect([status, json.details?.externalLiquidity]).toEqual([200, 'used'])
    expect(asked).toEqual([`3150000000000 USDC on ${chainB}`])
  })

  test('Q-33: costs what is asked for bringing it, and takes as much longer', async () => {
    const at = async (terms: Partial<LiquidityOffer>) =>
      (
        await price(
          { useExternalLiquidity: true },
          { findLiquidity: source({ ...offer, ...terms }).findLiquidity },
        )
      ).json.details
    const [free, dear] = [await at({ feeBps: 0, readySeconds: 0 }), await at({})]
    const less = BigInt(free.currencyOut.amount) - BigInt(dear.currencyOut.amount)
    expect([less >= 2_099_000_000n, less <= 2_101_000_000n]).toEqual([true, true])
    expect(dear.timeEstimate - free.timeEstimate).toBe(120)
  })

  test.each([
    ['nobody brings anything', undefined],
    ['too little is brought', { ...offer, available: 1_000_000n }],
  ])('is refused where %s', async (_what, offered) => {
    const { findLiquidity } = source(offered)
    const { json } = await price({ useExternalLiquidity: true }, { findLiquidity })
    expect(json.errorCode).toBe('INSUFFICIENT_LIQUIDITY')
  })

  test('is refused where no source is configured', async () => {
    expect((await price({ useExternalLiquidity: true })).json.errorCode).toBe('INSUFFICIENT_LIQUIDITY')
  })
})

describe('the inventory that prices and rewards are read from', () => {
  const usd = 10n ** 6n
  /** USDC of the solver on each chain, of which each is to have one half. */
  const stocked = (onA: bigint, onB: bigint) => ({
    current: testSnapshot({
      chains: [
        testChainMarket(chainA, { inventory: { [native]: 500n * 10n ** 18n, [usdc]: onA } }),
        testChainMarket(chainB, { inventory: { [native]: 500n * 10n ** 18n, [usdc]: onB } }),
      ],
    }),
  })

  test('Q-34: an offer earns nobody a reward: 2,500,000 USDC buy less than 2,500,000', async () => {
    const { findLiquidity } = source({ ...offer, feeBps: 0 })
    const { json } = await price(
      { useExternalLiquidity: true, amount: '2500000000000' },
      { findLiquidity, config: { kappaBps: 20 }, market: stocked(1_000_000n * usd, 1_000_000n * usd) },
    )
    expect(json.details.externalLiquidity).toBe('used')
    expect(BigInt(json.fees.relayerService.amount)).toBeGreaterThan(0n)
    expect(BigInt(json.details.currencyOut.amount)).toBeLessThan(2_500_000n * usd)
  })

  const registry = testRegistry({ kappaBps: 20 })
  const { schedule } = testConfig()
  const request = toQuoteRequest({
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    tradeType: 'EXACT_INPUT',
    originCurrency: usdc,
    destinationCurrency: usdc,
    amount: '1',
  })
  const route = resolveRoute(registry, request)
  const [plan] = planLegs(route, 'configured')
  if (plan === undefined) throw new Error('USDC is paid out as it is')

  /** The rest of an input after its fees, at one inventory with and without an offer. */
  const netOf = (amountIn: bigint, market: ReturnType<typeof stocked>, offer: LiquidityOffer | undefined) => {
    const { terms } = feeTerms({
      request,
      route,
      plan,
      schedule,
      use: plainUse,
      lack: {},
      subsidy: () => () => 0n,
      rewards: openedRewards().limitOf({ hasKey: true, nowSeconds: 0 }),
      snapshot: market.current,
      inventory: createInventoryViews(registry)(market.current),
      external: offer === undefined ? [] : [{ ...offer, currency: plan.payoutCurrency }],
    })
    return { net: splitFees(terms, amountIn).net, gas: terms.gas }
  }

  const stock = fc.bigInt({ min: 0n, max: 5_000_000n * usd })
  const offered = fc.record({
    available: fc.bigInt({ min: 1n, max: 20_000_000n * usd }),
    feeBps: fc.integer({ min: 0, max: 50 }),
    readySeconds: fc.constant(0),
  })
  const size = fc.bigInt({ min: 1n, max: 10_000_000n * usd })

  test('Q-34: over offers and sizes no output is more than without the offer, or more than input less gas', () => {
    let rewarded = 0
    fc.assert(
      fc.property(stock, stock, offered, size, (onA, onB, offer, amountIn) => {
        const market = stocked(onA, onB)
        const without = netOf(amountIn, market, undefined).net
        const { net, gas } = netOf(amountIn, market, offer)
        expect(net).toBeLessThanOrEqual(without)
        expect(net).toBeLessThanOrEqual(amountIn - gas)
        if (without > amountIn - gas) rewarded += 1
      }),
      { numRuns: 2_000, endOnFailure: true },
    )
    expect(rewarded).toBeGreaterThanOrEqual(leastSeen(100, 2_000))
  })

  test('Q-34: what only an offer makes payable costs at least the gas, whichever side the request names', async () => {
    const market = stocked(0n, 0n)
    let offering: LiquidityOffer = offer
    const findLiquidity: FindLiquidity = async () => offering
    const app = await testApp({ findLiquidity, config: { kappaBps: 20 }, market })
    onTestFinished(() => app.close())
    const tradeTypes = fc.constantFrom('EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT')
    let used = 0
    await fc.assert(
      fc.asyncProperty(
        stock,
        stock,
        offered,
        size,
        tradeTypes,
        async (onA, onB, bring, amount, tradeType) => {
          market.current = stocked(onA, onB).current
          offering = bring
          const { status, json } = await ask(app, {
            amount: amount.toString(),
            tradeType,
            useExternalLiquidity: true,
          })
          if (status !== 200 || json.details.externalLiquidity !== 'used') return
          used += 1
          const { currencyIn, currencyOut } = json.details
          expect(BigInt(currencyOut.amount)).toBeLessThanOrEqual(
            BigInt(currencyIn.amount) - BigInt(json.fees.relayerGas.amount),
          )
        },
      ),
      { numRuns: 300, endOnFailure: true },
    )
    expect(used).toBeGreaterThanOrEqual(leastSeen(10, 300))
  })
})

test('what the solver can pay asks nobody, costs the same, and says so', async () => {
  const { asked, findLiquidity } = source(offer)
  const small = { amount: '100000000' }
  const [plain, allowed] = [
    await price(small, { findLiquidity }),
    await price({ ...small, useExternalLiquidity: true }, { findLiquidity }),
  ]
  const { externalLiquidity, ...details } = allowed.json.details
  expect(details).toEqual(plain.json.details)
  expect([externalLiquidity, asked]).toEqual(['none', []])
})

test('a swap that its user executes alone asks nobody', async () => {
  const { asked, findLiquidity } = source(offer)
  const swap = { destinationChainId: chainA, destinationCurrency: tide, amount: '90000000000000' }
  const { json } = await price({ ...swap, useExternalLiquidity: true }, { findLiquidity })
  expect([json.errorCode, asked]).toEqual(['INSUFFICIENT_LIQUIDITY', []])
})

test.each([
  [true, {}],
  [false, { available: 0n }],
  [true, { feeBps: 50, readySeconds: 240 }],
  [false, { feeBps: 51 }],
  [false, { readySeconds: 241 }],
])('counts (%s) with %o', (counts, change) => {
  const settings = { maxFeeBps: 50, maxReadySeconds: 240, timeoutMs: 400 }
  expect(isAcceptable({ ...offer, ...change }, settings)).toBe(counts)
})

test('Q-34: an offer counts for its own currency on its chain alone', () => {
  const [here, there] = testRegistry().chains.map(({ currencies }) => currencies.get(usdc))
  if (here === undefined || there === undefined) throw new Error('the test configuration has no USDC')
  const external = { ...offer, currency: here }
  expect(offerOf(here, [external])).toBe(external)
  expect([offerOf(there, [external]), offerOf(here)]).toEqual([undefined, undefined])
})
