// Goal: what the market does not tell refuses a price, and the refusal says why. Method: whole refusals of every reason.
import { expect, test } from 'vitest'
import {
  chainA,
  chainB,
  e18,
  examplePrices,
  testChainMarket,
  testRegistry,
  testSnapshot,
  usdc,
  usdPrice,
} from '../../../test/fixtures/market.ts'
import { QuoteError } from '../errors.ts'
import { assetInventory } from './inventory.ts'
import { requireChain, requireInventory, requirePrice, shownPrice } from './marketAccess.ts'

const currency = testRegistry().chainById.get(chainA)?.currencies.get(usdc)
if (currency === undefined) throw new Error('the test configuration has no USDC')

const refusalOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    const { code, message, data, retryable } = error
    return { code, message, data, retryable }
  }
  throw new Error('nothing was refused')
}

const refused = (reason: 'no_source' | 'second_source_missing') => ({
  ...examplePrices,
  'USDC/USD': { reason },
})

test('a price has the unit and the disagreement of its currency, and is read once in a market', () => {
  const reads: string[] = []
  const snapshot = testSnapshot({ prices: { 'USDC/USD': usdPrice(2n * e18, { spreadBps: 7n }) } })
  const counted = {
    ...snapshot,
    price(key: string) {
      reads.push(key)
      return snapshot.price(key)
    },
  }
  const priced = { decimals: 6, usdX18: 2n * e18, spreadBps: 7n }
  expect([requirePrice(counted, currency), requirePrice(counted, currency), reads]).toEqual([
    priced,
    priced,
    ['USDC/USD'],
  ])
})

test('a refused price names its key and its reason', () => {
  const message = 'There is no usable USDC/USD price at the moment'
  const refusal = (reason: string) => ({
    code: 'PRICE_FETCH_FAILED',
    data: { priceKey: 'USDC/USD', reason },
    retryable: true,
  })
  const of = (reason: 'no_source' | 'second_source_missing') =>
    refusalOf(() => requirePrice(testSnapshot({ prices: refused(reason) }), currency))
  expect(of('no_source')).toEqual({ ...refusal('no_source'), message: `${message}.` })
  expect(of('second_source_missing')).toEqual({
    ...refusal('second_source_missing'),
    message: `${message}: its second source is missing.`,
  })
})

test('a refused price is still shown as it was last, and refused where there was none', () => {
  const prices = refused('no_source')
  const lastPrices = { 'USDC/USD': usdPrice(e18 / 2n, { spreadBps: 3n }) }
  expect(shownPrice(testSnapshot({ prices, lastPrices }), currency)).toEqual({
    decimals: 6,
    usdX18: e18 / 2n,
    spreadBps: 3n,
  })
  expect(refusalOf(() => shownPrice(testSnapshot({ prices }), currency)).code).toBe('PRICE_FETCH_FAILED')
})

test('Q-83: an inventory that is not valued, or not known on the chain, refuses', () => {
  const parameters = { kappaBps: 0n, rewardCapBps: 0n, maxSkewBps: 0n, reserveBps: 0n }
  const known = (chainId: number, balanceUsd: bigint | undefined) =>
    assetInventory(parameters, [{ chainId, balanceUsd, shareBps: 1n }])
  const elsewhere = known(chainB, undefined)
  expect(requireInventory(() => elsewhere, currency)).toBe(elsewhere)
  expect(refusalOf(() => requireInventory(() => undefined, currency))).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    data: {},
    retryable: true,
  })
  expect(refusalOf(() => requireInventory(() => known(chainA, undefined), currency))).toEqual({
    code: 'SERVICE_UNAVAILABLE',
    message: `What the solver holds of USDC on chain ${chainA} cannot be read at the moment.`,
    data: { chainId: chainA, reason: 'inventory_unknown' },
    retryable: true,
  })
})

test.each([
  [
    { reason: 'no_data' },
    'SERVICE_UNAVAILABLE',
    `Chain ${chainA} is starting, or has no endpoint: nothing of it was read since this service started.`,
  ],
  [{ reason: 'stale_head' }, 'SERVICE_UNAVAILABLE', `Chain ${chainA} cannot be priced at the moment.`],
  [
    { reason: 'gas_above_ceiling', charge: 'Gas', cost: 'costs 5 wei', ceiling: '3 wei' },
    'GAS_PRICE_TOO_HIGH',
    `Gas on chain ${chainA} costs 5 wei, above the ceiling of 3 wei.`,
  ],
] as const)('a chain with %o refuses as %s', (refusal, code, message) => {
  const market = testChainMarket(chainB)
  const snapshot = testSnapshot({ chains: [{ chainId: chainA, refusal }, market] })
  expect(requireChain(snapshot, chainB)).toBe(market)
  const data = { chainId: chainA, reason: refusal.reason }
  expect(refusalOf(() => requireChain(snapshot, chainA))).toEqual({ code, message, data, retryable: true })
})
