// Goal: a refused price refuses the quotes that need it and no others. Method: every price is refused in turn,
// and every kind of route is asked for over that market.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  e18,
  examplePrices,
  native,
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
} from '../../test/fixtures/market.ts'
import { linkedKey, testSponsor } from '../../test/fixtures/sponsor.ts'
import { createOpenQuotes } from './openQuotes/openQuotes.ts'

const keys = ['ETH/USD', 'USDC/USD', 'USDX/USD', 'TIDE/USD'] as const
type Key = (typeof keys)[number]

/** Gas is paid in ETH, so whatever a solver pays out needs its price. */
const routes: readonly (readonly [name: string, body: object, needs: readonly Key[]])[] = [
  [
    'USDC to USDC',
    { originCurrency: usdc, destinationCurrency: usdc, amount: '100000000' },
    ['USDC/USD', 'ETH/USD'],
  ],
  ['ETH to ETH', { originCurrency: native, destinationCurrency: native, amount: String(e18) }, ['ETH/USD']],
  [
    'ETH to USDC',
    { originCurrency: native, destinationCurrency: usdc, amount: String(e18) },
    ['ETH/USD', 'USDC/USD'],
  ],
  [
    'TIDE to USDC',
    { originCurrency: tide, destinationCurrency: usdc, amount: String(25n * e18) },
    ['TIDE/USD', 'USDC/USD', 'ETH/USD'],
  ],
  [
    'USDC to USDX on one chain',
    { destinationChainId: chainA, originCurrency: usdc, destinationCurrency: usdx, amount: '100000000' },
    ['USDC/USD', 'USDX/USD'],
  ],
  [
    'sending USDC',
    { destinationChainId: chainA, originCurrency: usdc, destinationCurrency: usdc, amount: '100000000' },
    [],
  ],
  [
    'wrapping ETH',
    { destinationChainId: chainA, originCurrency: native, destinationCurrency: weth, amount: String(e18) },
    [],
  ],
  [
    'ETH to ETH, sponsored in USDC',
    { originCurrency: native, destinationCurrency: native, amount: String(e18), subsidizeFees: true },
    ['ETH/USD', 'USDC/USD'],
  ],
]

/** One for all, because making one takes longer than asking it; the market is each test's own. */
const market = { current: testSnapshot({}) }
let app: Awaited<ReturnType<typeof testApp>>
beforeAll(async () => {
  app = await testApp({
    market,
    facts: { allowance: 2n ** 255n },
    fillWallet: `0x${'f1'.repeat(20)}`,
    openQuotes: createOpenQuotes({ perUserBps: 0 }),
    ...testSponsor(10n ** 15n),
  })
})
afterAll(() => app.close())

async function ask(body: object, refused: Key, wasPublished = true) {
  market.current = testSnapshot({
    prices: { ...examplePrices, [refused]: { reason: 'deviation' } },
    lastPrices: wasPublished ? { [refused]: usdPrice(3n * e18) } : {},
    chains: [chainA, chainB].map((chainId) => testChainMarket(chainId, { pools })),
  })
  const defaults = {
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    tradeType: 'EXACT_INPUT',
  }
  const headers = 'subsidizeFees' in body ? { 'x-api-key': linkedKey } : {}
  const response = await app.inject({
    method: 'POST',
    url: '/quote',
    payload: { ...defaults, ...body },
    headers,
  })
  const { errorCode, message, fees } = response.json()
  return { status: response.statusCode, errorCode, message, gasUsd: fees?.gas.amountUsd }
}

describe.each(routes)('%s', (_name, body, needs) => {
  test.each(keys)('Q-177: while %s is refused', async (refused) => {
    const answer = await ask(body, refused)
    if (!needs.includes(refused)) expect(answer.status).toBe(200)
    else {
      expect(answer).toMatchObject({ status: 503, errorCode: 'PRICE_FETCH_FAILED' })
      expect(answer.message).toContain(refused)
    }
  })
})

test('Q-177: what does not depend on a price shows the last one, and never a zero', async () => {
  const send = routes.find(([name]) => name === 'sending USDC')?.[1] ?? {}
  const { status, gasUsd } = await ask(send, 'ETH/USD')
  expect(status).toBe(200)
  expect(Number(gasUsd)).toBeGreaterThan(0)
  expect(await ask(send, 'ETH/USD', false)).toMatchObject({ status: 503, errorCode: 'PRICE_FETCH_FAILED' })
})
