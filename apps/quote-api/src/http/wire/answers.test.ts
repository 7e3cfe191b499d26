// Goal: the text of an answer is JSON of exactly what its schema describes, whatever the names in it are.
// Method: a schema drops members that it does not name and refuses a missing one, so an answer that passes
// through it unchanged holds neither more nor less.
import { noFees } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  e18,
  native,
  recipient,
  testRegistry,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'
import { currencyAmountJson, currencyToWire, valuedAmountToWire } from './currencyAmount.ts'
import { feeSponsorshipJson, feeSponsorshipToWire } from './feeSponsorship.ts'
import { priceResponseSchema } from './priceResponse.ts'
import { quoteResponseSchema } from './quoteResponse.ts'

const bridge = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: usdc,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}

async function answer(url: '/price' | '/quote', payload: object, options: TestAppOptions = {}) {
  const app = await testApp(options)
  onTestFinished(() => app.close())
  const response = await app.inject({ method: 'POST', url, payload })
  expect(response.statusCode, response.body).toBe(200)
  return response
}

describe('the text of an answer', () => {
  test.each([
    ['a bridge', bridge],
    ['a swap of stated slippage', { ...bridge, destinationCurrency: native, slippageTolerance: '50' }],
    ['a gas top-up', { ...bridge, topupGas: true }],
    ['what the user executes alone', { ...bridge, destinationChainId: chainA }],
    ['a sponsorship field', { ...bridge, subsidizeFees: false, maxSubsidizationAmount: '0' }],
  ])('holds what its schema describes, for %s', async (_name, payload) => {
    const priced = await answer('/price', payload)
    expect(priceResponseSchema.parse(priced.json())).toEqual(priced.json())
    const quoted = await answer('/quote', payload)
    expect(quoteResponseSchema.parse(quoted.json())).toEqual(quoted.json())
  })

  test.each([0n, 1n, -25n, 10n ** 30n])('tells the amount %s as its object form does', (amount) => {
    const currency = testRegistry().chainById.get(chainA)?.native
    if (currency === undefined) throw new Error('the test chain has a native currency')
    const price = { decimals: 18, usdX18: 2_500n * e18, spreadBps: 0n }
    const text = currencyAmountJson(currency, price, amount, amount / 2n)
    expect(text).toBe(
      JSON.stringify(valuedAmountToWire(currencyToWire(currency), price, amount, amount / 2n)),
    )
  })

  test.each([
    ['all', undefined, undefined],
    ['a part', 5_000n, 'CAP_BELOW_FEES' as const],
  ])('tells the shares of a sponsor who pays %s as their object form does', (_name, capMicroUsd, reason) => {
    const currency = testRegistry().chainById.get(chainA)?.native
    if (currency === undefined) throw new Error('the test chain has a native currency')
    const sponsored = { execution: 3_000n, swap: 2_000n, relay: 0n, rent: 0n }
    const shared = {
      unit: { decimals: 18, usdX18: 2_500n * e18, spreadBps: 0n },
      selected: ['execution', 'swap'] as const,
      capMicroUsd,
      parts: { ...noFees, gas: 3_000n, flat: 1_000n, skew: 2_000n, platform: 7n, app: 11n },
      sponsorable: { execution: 4_000n, swap: 2_000n, relay: 7n, rent: 0n },
      allocation: { sponsored, total: 5_000n, capHit: reason !== undefined, reason },
    }
    expect(feeSponsorshipJson(currency, shared)).toBe(
      JSON.stringify(feeSponsorshipToWire(currencyToWire(currency), shared)),
    )
  })

  test('has its length in bytes and its type in the headers', async () => {
    const { headers, rawPayload } = await answer('/price', bridge)
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(rawPayload.length),
    })
  })

  test('escapes the names that an operator chose', async () => {
    const environment = 'a "quoted" \\ näme\n'
    expect((await answer('/quote', bridge, { environment })).json()).toMatchObject({ environment })
  })
})
