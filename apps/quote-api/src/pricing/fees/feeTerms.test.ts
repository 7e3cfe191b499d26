// Goal: each fee is the sum that the table of fees says, of nothing else and nothing twice. Method: a network that charges
// for each part of a transaction by an amount of its own, so that a part that is left out or counted twice shows.
import { noFees } from '@causeway/core'
import type { CostedTransaction, NetworkFees } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import {
  chainA,
  chainB,
  e18,
  examplePrices,
  native,
  openedRewards,
  recipient,
  testChainMarket,
  testConfig,
  testRegistry,
  testSnapshot,
  tide,
  usdc,
  usdPrice,
  usdx,
  user,
} from '../../../test/fixtures/market.ts'
import { toQuoteRequest } from '../../http/wire/quoteBody.ts'
import { planLegs } from '../legs/planLegs.ts'
import { createInventoryViews } from '../market/inventoryView.ts'
import { noReward } from '../openQuotes/rewardLimit.ts'
import { resolveRoute } from '../routes/route.ts'
import { conversionSpreadBps, type FeeInputs, feeTerms, plainUse } from './feeTerms.ts'

/** Wei that are worth a micro-dollar, at 2,500 USD for an ether. */
const microUsd = 400_000_000n
const cost: Partial<Record<CostedTransaction['kind'], bigint>> = {
  fill: 10_000n,
  'fill-swap': 30_000n,
  'fill-topup': 5_000n,
  'permit-eip3009': 7_000n,
  'sweep-swap': 9_000n,
}
const ofNative = 100n
const fees: NetworkFees = {
  costOf({ kind, isNative, callUnits = 0n, callBytes = 0n, overheadUnits = 0n, lack = {} }) {
    const ofParts = callUnits + 10n * callBytes + overheadUnits + 2n * BigInt(lack.stateBytes ?? 0)
    return ((cost[kind] ?? 0n) + (isNative ? ofNative : 0n) + ofParts) * microUsd
  },
  rentOf: ({ stateBytes = 0 }) => BigInt(stateBytes) * 1_000n * microUsd,
  gasOf: () => undefined,
  leastPayment: () => 0n,
  equals: () => true,
}
const registry = testRegistry({ kappaBps: 20, markupBps: 1_000 })
const prices = {
  ...examplePrices,
  'USDC/USD': usdPrice(e18, { spreadBps: 2n }),
  'ETH/USD': usdPrice(2_500n * e18, { spreadBps: 3n }),
}

/** The terms, with what depends on the input at 100 USDC. */
function termsOf(change: object, more: Partial<FeeInputs> = {}, onA = 2_000_000n) {
  const request = toQuoteRequest({
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    tradeType: 'EXACT_INPUT',
    originCurrency: usdc,
    destinationCurrency: usdc,
    amount: '100000000',
    ...change,
  })
  const route = resolveRoute(registry, request)
  const plan = planLegs(route, 'configured').find(({ feeCurrency }) => feeCurrency.address === usdc)
  if (plan === undefined) throw new Error('the solver receives USDC')
  const inventory = { [native]: 500n * e18, [usdc]: onA * 10n ** 6n }
  const snapshot = testSnapshot({
    prices,
    chains: [
      { ...testChainMarket(chainA, { inventory }), fees },
      { ...testChainMarket(chainB), fees },
    ],
  })
  const { terms, ...rest } = feeTerms({
    request,
    route,
    plan,
    snapshot,
    inventory: createInventoryViews(registry)(snapshot),
    schedule: testConfig().schedule,
    use: plainUse,
    lack: {},
    subsidy: () => () => 0n,
    rewards: openedRewards().limitOf({ hasKey: true, nowSeconds: 0 }),
    external: plan.payoutCurrency.isNative
      ? undefined
      : [{ currency: plan.payoutCurrency, available: 1n, feeBps: 7, readySeconds: 0 }],
    ...more,
  })
  const { skew, subsidy, ...fixed } = terms
  return { ...rest, ...fixed, skew: skew(100_000_000n), subsidized: subsidy(noFees, 100_000_000n) }
}

const use = { callUnits: 1_000n, callBytes: 20n, payeeUnits: 300n, refundUnits: 9_999n }
const appFees = [
  { recipient: user, fee: '50' },
  { recipient: user, fee: '30' },
]

test('Q-9, Q-33, Q-48, Q-49, Q-159: a fill with calls, rent and a top-up, brought by an offer, charges for each', () => {
  const topup = { topupGas: true, topupGasAmount: '2000000' }
  const subsidy: FeeInputs['subsidy'] = ({ symbol }, { decimals }) => {
    expect([symbol, decimals]).toEqual(['USDC', 6])
    return (_parts, amountIn) => amountIn / 4n
  }
  // Fill 11,510 and top-up 5,100, and a tenth of both.
  const fill = 18_271n
  expect(termsOf({ ...topup, appFees }, { use, lack: { stateBytes: 5 }, subsidy })).toEqual({
    topup: {
      currency: registry.chainById.get(chainB)?.native,
      amountWei: 2_000_000n * microUsd,
      valueInFeeCurrency: 2_000_000n,
    },
    gasCharged: (fill + 5_000n) * microUsd,
    gas: fill + 2_000_000n,
    flat: 20_000n,
    platformBps: 7n,
    appFeesBps: [50n, 30n],
    rent: 5_000n,
    slopeBpsMin: 10_000n - 7n - 80n - 200n,
    skew: 10n,
    subsidized: 25_000_000n,
  })
})

test.each([
  // The sources of both prices disagree where assets differ. The permit takes 7,000 and the fill 10,100, with a tenth more.
  ['by a permit', { destinationCurrency: native, usePermit: true }, 7_700n + 11_110n, 6n + 2n + 3n, 11_110n],
  // A swap on both sides moves one asset between its chains.
  [
    'by a deposit address, with swaps on both sides',
    { originCurrency: tide, destinationCurrency: usdx, amount: String(25n * e18), useDepositAddress: true },
    9_900n + 33_000n,
    15n + 7n,
    33_000n,
  ],
  ['of stable coins', { destinationCurrency: usdx }, 33_000n, 1n + 7n, 33_000n],
])('Q-9: a deposit %s has its gas and its class of assets', (_what, change, gas, platformBps, gasCharged) => {
  expect(termsOf({ refundTo: user, ...change })).toMatchObject({
    topup: undefined,
    gasCharged: gasCharged * microUsd,
    gas,
    platformBps,
    rent: 0n,
  })
})

test('a top-up of the output itself is refused', () => {
  expect(() => termsOf({ destinationCurrency: native, topupGas: true })).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', data: { field: 'topupGas' } }),
  )
})

test('Q-34, Q-40: a move that improves the inventory earns what the limit leaves, and nothing beside an offer', () => {
  const external = undefined
  const rewarded = termsOf({}, { external }, 1_000_000n).skew
  expect(rewarded).toBeLessThan(0n)
  expect(termsOf({}, { external, rewards: { rewardOf: (skew) => skew / 2n } }, 1_000_000n).skew).toBe(
    rewarded / 2n,
  )
  expect(termsOf({}, { external, rewards: noReward }, 1_000_000n).skew).toBe(0n)
  expect(termsOf({}, {}, 1_000_000n).skew).toBe(0n)
})

test('one asset has no disagreement of prices with itself', () => {
  const chain = registry.chainById.get(chainA)
  const [from, to] = [chain?.currencies.get(usdc), chain?.native]
  if (from === undefined || to === undefined) throw new Error('the test configuration has no USDC')
  const snapshot = testSnapshot({ prices })
  expect([conversionSpreadBps(snapshot, from, from), conversionSpreadBps(snapshot, from, to)]).toEqual([
    0n,
    5n,
  ])
})
