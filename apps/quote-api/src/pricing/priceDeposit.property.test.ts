// Goal: in the market of its quote a deposit buys what was quoted, by every path and trade type; in another one
// it buys what a quote of then would promise, so that what is filled late costs the solver the tolerance at
// most. Method: random markets, one for the quote and one for the deposit.
import { convertDown, DomainError, maxBigint, usdValueDown } from '@causeway/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen } from '../../test/fixtures/leastSeen.ts'
import { openedRewards } from '../../test/fixtures/market.ts'
import {
  attempt,
  pricingOf,
  randomMarket,
  randomRequest,
  toRequest,
} from '../../test/fixtures/randomMarkets.ts'
import { lateStep } from '../requests/settlement/amounts/lateDeposit.ts'
import { plainUse } from './fees/feeTerms.ts'
import { priceDeposit, type QuotedDeposit } from './priceDeposit.ts'
import type { PricedRoute } from './pricedRoute.ts'

const toleranceBps = 30

function depositOf(
  { route, split, feeCurrency, solver }: PricedRoute,
  appFees: QuotedDeposit['appFees'],
): QuotedDeposit {
  return {
    originChainId: route.origin.chainId,
    destinationChainId: route.destination.chainId,
    originCurrency: route.currencyIn.address,
    destinationCurrency: route.currencyOut.address,
    feeCurrency: feeCurrency.address,
    operation: route.operation,
    recipient: route.recipient,
    amount: split.amountIn,
    appFees,
    topupWei: solver?.topup?.amountWei ?? 0n,
    use: plainUse,
    debitMicroUsd: 0n,
    relayedBy: undefined,
  }
}

const nobodyPays = { sponsorAsset: undefined }

test('L-62: in the market of its quote a deposit buys what was quoted', async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(randomMarket, randomRequest, async (market, random) => {
      const request = toRequest(market, random)
      const quoted = await attempt(market, request)
      if (quoted instanceof DomainError) return
      const { amountOut: bought } = await priceDeposit(
        { ...pricingOf(market), ...nobodyPays },
        depositOf(quoted, request.appFees),
        openedRewards().limitOf({ hasKey: true, nowSeconds: 0 }),
      )
      compared += 1
      // A gas top-up is bought in whole micro-dollars.
      const unit = usdValueDown(1n, quoted.prices.currencyOut)
      const slack = random.topupGas ? 10n ** 13n : 0n
      expect((quoted.amountOut - bought) * unit).toBeLessThanOrEqual(slack + 2n * unit)
    }),
    { numRuns: 500, endOnFailure: true },
  )
  expect(compared).toBeGreaterThanOrEqual(leastSeen(50, 500))
})

test('in a later market what is filled as quoted costs the solver the tolerance at most', async () => {
  const seen = { bind: 0, refund: 0 }
  const moves = fc.record({
    heldBps: fc.integer({ min: 9_800, max: 10_200 }),
    nativeBps: fc.integer({ min: 9_800, max: 10_200 }),
  })
  await fc.assert(
    fc.asyncProperty(randomMarket, randomRequest, moves, async (market, random, move) => {
      // One asset in, another out: the price between them is what an option would be on.
      const asked = toRequest(market, {
        ...random,
        path: 'direct',
        topupGas: false,
        tradeType: 'EXACT_INPUT',
      })
      const request = {
        ...asked,
        destinationCurrency:
          pricingOf(market).registry.chainById.get(asked.destinationChainId)?.native.address ?? '',
      }
      const quoted = await attempt(market, request)
      if (quoted instanceof DomainError) return
      const later = {
        ...market,
        heldUsd: (market.heldUsd * BigInt(move.heldBps)) / 10_000n,
        nativeUsd: (market.nativeUsd * BigInt(move.nativeBps)) / 10_000n,
      }
      const now = await attempt(later, request)
      if (now instanceof DomainError) return
      const { amountOut } = await priceDeposit(
        { ...pricingOf(later), ...nobodyPays },
        depositOf(quoted, request.appFees),
        openedRewards().limitOf({ hasKey: true, nowSeconds: 0 }),
      )
      expect(amountOut).toBe(now.amountOut)
      const times = { nowSeconds: 0, waitsUntilSeconds: 0 }
      const step = lateStep({
        promised: quoted.amountOut,
        price: { state: 'priced', amountOut },
        toleranceBps,
        hadReward: false,
        ...times,
      })
      if (step.action === 'wait') throw new Error('a price was there')
      seen[step.action] += 1
      if (step.action === 'refund') return
      // Amount that the solver keeps after its own costs, in the currency that it pays out.
      const kept = convertDown(maxBigint(now.split.net, 0n), now.prices.feeCurrency, now.prices.currencyOut)
      const loss = quoted.amountOut - kept
      expect(loss * 10_000n).toBeLessThanOrEqual(quoted.amountOut * BigInt(toleranceBps) + 10_000n)
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
  expect(seen.bind).toBeGreaterThanOrEqual(leastSeen(20, 2_000))
  expect(seen.refund).toBeGreaterThanOrEqual(leastSeen(20, 2_000))
})
