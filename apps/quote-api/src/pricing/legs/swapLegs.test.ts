// Goal: what routes with pool legs promise: best pool, slippage by class and impact, refusals, and the
// chain's own quoter while a pool is not mirrored.
import type { PoolQuote, PoolState } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  deepTide,
  e18,
  examplePrices,
  million,
  pool,
  pools,
  recipient,
  testChainMarket,
  testSnapshot,
  tide,
  usdc,
  usdPrice,
  usdx,
  user,
  weth,
} from '../../../test/fixtures/market.ts'
import type { OnChainQuoter } from './poolLegQuoter.ts'

function market(options: { poolsOfA?: readonly PoolState[]; spreadBps?: bigint } = {}) {
  const { poolsOfA = pools, spreadBps = 0n } = options
  const prices = { ...examplePrices, 'USDC/USD': usdPrice(e18, { spreadBps }) }
  const chains = [testChainMarket(chainA, { pools: poolsOfA }), testChainMarket(chainB, { pools })]
  return { current: testSnapshot({ prices, chains }) }
}

async function price(change: object, options: TestAppOptions = {}) {
  const app = await testApp({ market: market(), facts: { allowance: 2n ** 255n }, ...options })
  onTestFinished(() => app.close())
  const payload = {
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    originCurrency: tide,
    destinationCurrency: usdc,
    amount: String(25n * e18),
    tradeType: 'EXACT_INPUT',
    ...change,
  }
  const response = await app.inject({ method: 'POST', url: '/price', payload })
  return { statusCode: response.statusCode, json: response.json() }
}

describe('automatic slippage', () => {
  test('Q-152: is the class base plus half the impact of the legs, on either side alone', async () => {
    const { json } = await price({})
    const { slippageTolerance, swapImpact, currencyOut } = json.details
    // 0.3 % pool fee and a little price movement are 31 bps: 150 + 31 / 2.
    expect(slippageTolerance.total).toBe('165')
    expect(slippageTolerance.origin.percent).toBe('1.65')
    expect(slippageTolerance.destination.percent).toBe('1.65')
    expect(BigInt(slippageTolerance.origin.value)).toBeGreaterThan(1_600_000n)
    expect(swapImpact.percent).toMatch(/^-0\.3/)
    const { amount, minimumAmount } = currencyOut
    expect(BigInt(minimumAmount)).toBe((BigInt(amount) * (10_000n - 165n)) / 10_000n)
  })

  test('grows with the disagreement of price sources', async () => {
    const { json } = await price({}, { market: market({ spreadBps: 40n }) })
    expect(json.details.slippageTolerance.total).toBe('205')
  })

  test('an explicit tolerance replaces it', async () => {
    const { json } = await price({ slippageTolerance: '7' })
    expect(json.details.slippageTolerance.total).toBe('7')
  })

  test('is the stable base for stable pairs', async () => {
    const { json } = await price({ originCurrency: usdx, amount: '25000000' })
    expect(json.details.slippageTolerance.total).toBe('26')
  })
})

describe('what an order may receive after an origin swap', () => {
  test('is the least deposit from which the minimum output can still be paid', async () => {
    const app = await testApp({ market: market() })
    onTestFinished(() => app.close())
    const payload = {
      user,
      recipient,
      originChainId: chainA,
      destinationChainId: chainB,
      originCurrency: tide,
      destinationCurrency: usdc,
      amount: String(25n * e18),
      tradeType: 'EXACT_INPUT',
      slippageTolerance: '100',
    }
    const json = (await app.inject({ method: 'POST', url: '/quote', payload })).json()
    const deposit = BigInt(json.protocol.v2.orderData.inputs[0].payment.amount)
    const expected = BigInt(json.details.route.origin.outputCurrency.amount)
    // Gas and the flat fee are fixed, the platform fee is 15 bps of what arrives.
    const fees = BigInt(json.fees.relayerGas.amount) + 20_000n + (deposit * 15n + 9_999n) / 10_000n
    const minimum = BigInt(json.details.currencyOut.minimumAmount)
    expect(deposit).toBeLessThan(expected)
    expect(deposit).toBeGreaterThan((expected * 99n) / 100n)
    expect(deposit - fees).toBeGreaterThanOrEqual(minimum)
    expect(deposit - fees - minimum).toBeLessThan(3n)
  })
})

describe('pools', () => {
  test('the best of several serves the swap', async () => {
    const sameChain = {
      destinationChainId: chainA,
      originCurrency: usdc,
      destinationCurrency: weth,
      amount: '1000000000',
    }
    const both = await price(sameChain)
    const dear = await price(sameChain, {
      market: market({ poolsOfA: pools.filter(({ feePips }) => feePips === 3_000) }),
    })
    expect(BigInt(both.json.details.currencyOut.amount)).toBeGreaterThan(
      BigInt(dear.json.details.currencyOut.amount),
    )
  })

  test('Q-155: a loss above the limit is refused unless the caller accepts it', async () => {
    const shallow = market({ poolsOfA: [pool('f4', tide, 3_000, 60, [1_000_000_000n, 250n * e18])] })
    const refused = await price({}, { market: shallow })
    expect(refused.json).toMatchObject({ statusCode: 400, errorCode: 'SWAP_IMPACT_TOO_HIGH' })
    expect(JSON.parse(refused.json.errorData)).toMatchObject({ limitBps: 500 })
    expect((await price({ overridePriceImpact: true }, { market: shallow })).statusCode).toBe(200)
  })

  test('a gain that no honest pool gives is refused', async () => {
    const wrong = market({ poolsOfA: [pool('f4', tide, 3_000, 60, [5n * million, million * 10n ** 12n])] })
    expect((await price({}, { market: wrong })).json).toMatchObject({
      statusCode: 503,
      errorCode: 'PRICE_FETCH_FAILED',
    })
  })

  test('Q-155: more than a pool can take is beyond liquidity', async () => {
    const { json } = await price({
      destinationChainId: chainA,
      originCurrency: usdc,
      destinationCurrency: usdx,
      amount: '9'.repeat(30),
      tradeType: 'EXACT_OUTPUT',
    })
    expect(json).toMatchObject({ statusCode: 400, errorCode: 'INSUFFICIENT_LIQUIDITY' })
  })

  test('more than a pool can count is beyond liquidity', async () => {
    const amount = String(2n ** 256n - 1n)
    expect((await price({ amount })).json).toMatchObject({
      statusCode: 400,
      errorCode: 'INSUFFICIENT_LIQUIDITY',
    })
  })

  test('swap dust on one chain is refused, wrap dust is not', async () => {
    const sameChain = { destinationChainId: chainA, originCurrency: usdc, destinationCurrency: usdx }
    const refused = await price({ ...sameChain, amount: '49999' })
    expect(refused.json.errorCode).toBe('AMOUNT_TOO_LOW')
    const { minimumAmount } = JSON.parse(refused.json.errorData)
    expect((await price({ ...sameChain, amount: minimumAmount })).statusCode).toBe(200)
    expect((await price({ ...sameChain, amount: '50000' })).statusCode).toBe(200)
  })
})

describe('while a pool is not mirrored', () => {
  const answer: PoolQuote = {
    amountIn: 25n * e18,
    amountOut: 99_000_000n,
    sqrtPriceX96After: 2n ** 96n,
    initializedTicksCrossed: 1,
    exhausted: false,
  }

  test('the chain is asked, for that pool only', async () => {
    const asked: (string | undefined)[] = []
    const quoteOnChain: OnChainQuoter = async ({ pool: { address } }) => {
      asked.push(address)
      return address === deepTide.address ? answer : undefined
    }
    const { json } = await price({}, { quoteOnChain, market: market({ poolsOfA: [] }) })
    expect(json.details.currencyOut.amount).toBe(String(99_000_000n - BigInt(json.fees.relayer.amount)))
    expect(asked).toContain(deepTide.address)
    asked.length = 0
    await price({}, { quoteOnChain })
    expect(asked.filter((address) => address === deepTide.address)).toEqual([])
  })

  test('without an answer there is no route', async () => {
    expect((await price({}, { market: market({ poolsOfA: [] }) })).json.errorCode).toBe(
      'NO_SWAP_ROUTES_FOUND',
    )
  })
})

describe('both sides', () => {
  test.each(['EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT'])('%s swaps in and out', async (tradeType) => {
    const amount = tradeType === 'EXACT_INPUT' ? String(25n * e18) : '50000000'
    const { json, statusCode } = await price({ destinationCurrency: usdx, tradeType, amount })
    expect(statusCode).toBe(200)
    expect(json.details.operation).toBe('swap')
    if (tradeType !== 'EXACT_INPUT') expect(json.details.currencyOut.amount).toBe('50000000')
    if (tradeType === 'EXACT_OUTPUT') expect(json.details.currencyOut.minimumAmount).toBe('50000000')
  })
})
