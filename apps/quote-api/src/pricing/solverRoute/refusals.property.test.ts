// Goal: a refusal tells the truth about amounts. What it names as the least or the most is accepted when it is sent
// back, in the currency that `amount` counts; and what no liquidity can serve is never called too low. Method:
// random markets and requests over every path and trade type, on two chains and on one; refuse, read, send back.
import { DomainError, usdValueDown } from '@causeway/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen } from '../../../test/fixtures/leastSeen.ts'
import { chainA } from '../../../test/fixtures/market.ts'
import {
  attempt,
  pricingOf,
  randomMarket,
  randomRequest,
  toRequest,
} from '../../../test/fixtures/randomMarkets.ts'
import { findCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'

const runs = 1_000

const anyRequest = fc.record({
  random: randomRequest,
  isOneChain: fc.boolean(),
  overridePriceImpact: fc.boolean(),
  isDust: fc.boolean(),
})

function requestOf(
  market: Parameters<typeof toRequest>[0],
  {
    random,
    isOneChain,
    overridePriceImpact,
    isDust,
  }: typeof anyRequest extends fc.Arbitrary<infer T> ? T : never,
): QuoteRequest {
  const request = toRequest(market, random)
  return {
    ...request,
    overridePriceImpact,
    ...(isOneChain && { destinationChainId: chainA }),
    ...(isDust && { amount: (request.amount % 100_000n) + 1n }),
  }
}

/** The chain and currency that `amount` of a request counts. */
function amountOf(request: QuoteRequest) {
  return request.tradeType === 'EXACT_INPUT'
    ? { chainId: request.originChainId, currency: request.originCurrency }
    : { chainId: request.destinationChainId, currency: request.destinationCurrency }
}

test('the least amount that a refusal names is accepted when it is sent back', async () => {
  const seen = { named: 0, unnamed: 0, generous: 0 }
  await fc.assert(
    fc.asyncProperty(randomMarket, anyRequest, async (market, any) => {
      const request = requestOf(market, any)
      const refused = await attempt(market, request)
      if (!(refused instanceof DomainError)) return
      const { minimumAmount, currency, chainId } = refused.data
      if (typeof minimumAmount !== 'string') {
        if (refused.code === 'AMOUNT_TOO_LOW') seen.unnamed += 1
        return
      }
      seen.named += 1
      expect({ chainId, currency }).toEqual(amountOf(request))
      expect(BigInt(minimumAmount)).toBeGreaterThan(request.amount)
      const again = await attempt(market, { ...request, amount: BigInt(minimumAmount) })
      expect(again instanceof DomainError ? [again.code, again.message, refused.message] : undefined).toBe(
        undefined,
      )
      const lower = (BigInt(minimumAmount) * 9n) / 10n
      if (
        lower > request.amount &&
        !((await attempt(market, { ...request, amount: lower })) instanceof DomainError)
      )
        seen.generous += 1
    }),
    { numRuns: runs, endOnFailure: true },
  )
  expect(seen.named).toBeGreaterThanOrEqual(leastSeen(200, runs))
  // Some markets serve no amount: the stock is worth less than the gas of a fill.
  expect(seen.unnamed).toBeLessThan(seen.named / 2)
  // It is near the least, but where one unit of a currency is a large part of it.
  expect(seen.generous).toBeLessThan(seen.named / 20)
})

test('Q-154: the most that a refusal names is accepted when it is sent back', async () => {
  let named = 0
  await fc.assert(
    fc.asyncProperty(randomMarket, anyRequest, async (market, any) => {
      const request = requestOf(market, any)
      const refused = await attempt(market, request)
      if (!(refused instanceof DomainError) || typeof refused.data['maximumAmount'] !== 'string') return
      named += 1
      const { maximumAmount, currency, chainId } = refused.data
      expect({ chainId, currency }).toEqual(amountOf(request))
      const again = await attempt(market, { ...request, amount: BigInt(maximumAmount) })
      expect(again instanceof DomainError ? [again.code, again.message, refused.message] : undefined).toBe(
        undefined,
      )
    }),
    { numRuns: runs, endOnFailure: true },
  )
  expect(named).toBeGreaterThanOrEqual(leastSeen(50, runs))
})

test('an amount beyond all liquidity is never called anything else', async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(randomMarket, anyRequest, async (market, any) => {
      const asked = requestOf(market, { ...any, isDust: false, isOneChain: false })
      const { registry, snapshot } = pricingOf(market)
      const { chainId, currency: address } = amountOf(asked)
      const chain = registry.chainById.get(chainId)
      const currency = chain && findCurrency(chain, address)
      const price = currency && snapshot().price(currency.asset.priceKey)
      if (currency === undefined || price === undefined || 'reason' in price) throw new Error('it is listed')
      // A hundred times what the solver and every pool hold.
      const amount = (10n ** 15n * 10n ** 18n * 10n ** BigInt(currency.decimals)) / price.usdX18
      expect(usdValueDown(amount, { ...currency, usdX18: price.usdX18 })).toBeGreaterThan(10n ** 32n)
      const refused = await attempt(market, { ...asked, amount, overridePriceImpact: false })
      const code = refused instanceof DomainError ? refused.code : 'accepted'
      const key = `${any.random.path} ${any.random.tradeType} ${code}`
      seen.set(key, (seen.get(key) ?? 0) + 1)
    }),
    { numRuns: runs, endOnFailure: true },
  )
  // Half of an amount lost in pools is beyond their depth; a little less is a matter of impact.
  const others = [...seen.keys()].filter(
    (key) => !/ (INSUFFICIENT_LIQUIDITY|NO_SWAP_ROUTES_FOUND)$/.test(key),
  )
  expect(others).toEqual([])
  expect(seen.size).toBeGreaterThanOrEqual(leastSeen(12, runs))
})
