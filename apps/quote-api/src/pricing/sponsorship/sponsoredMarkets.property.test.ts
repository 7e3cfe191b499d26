// Goal: over random markets, caps and choices of components, a sponsored price satisfies the identity to
// the last unit, debits exactly what it shows and never more than the cap, and leaves no user worse off.
import { DomainError, partsBoughtBy, sponsoredWords } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen } from '../../../test/fixtures/leastSeen.ts'
import {
  attempt,
  checkPriced,
  randomMarket,
  randomRequest,
  toRequest,
} from '../../../test/fixtures/randomMarkets.ts'
import { tradeTypes } from '../request.ts'
import type { SponsorshipTerms } from './sponsorshipTerms.ts'
import { fromMicroUsdDown, sponsorUnit, toMicroUsdUp } from './sponsorUnit.ts'
import { type PricedUsdc, shareOf, subsidyRule } from './subsidyRule.ts'

const usd = 10n ** 18n
const usdcAsset = { id: 'usdc', class: 'stable', priceKey: 'USDC/USD' } as const

const terms: fc.Arbitrary<SponsorshipTerms> = fc.record({
  apiKeyId: fc.constant('key'),
  sponsor: fc.constant(`0x${'5'.repeat(40)}` as const),
  selected: fc
    .subarray([...sponsoredWords], { minLength: 1 })
    .map((chosen) => new Set(chosen.flatMap(partsBoughtBy))),
  // From nothing to more than any fee here, with the small caps that bite.
  capMicroUsd: fc.option(fc.bigInt({ min: 0n, max: 10n ** 7n }), { nil: undefined, freq: 3 }),
  allOrNothing: fc.boolean(),
})

const usdc: fc.Arbitrary<PricedUsdc> = fc.record({
  asset: fc.constant(usdcAsset),
  usdX18: fc.bigInt({ min: usd / 2n, max: 2n * usd }),
})

describe('sponsored prices over random markets', () => {
  test('satisfy the identity, within the cap, for every path, trade type and kind of share', async () => {
    const accepted = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(randomMarket, randomRequest, terms, usdc, async (m, r, t, price) => {
        const asked = toRequest(m, r)
        const priced = await attempt(m, asked, subsidyRule(t, price))
        if (priced instanceof DomainError) return
        checkPriced(priced, asked)
        const { split } = priced
        expect(split.subsidized).toBeGreaterThanOrEqual(0n)
        expect(split.subsidized).toBeLessThanOrEqual(split.relayer + rewardOf(split))
        const { allocation, unit } = shareOf(t, priced, price)
        if (t.allOrNothing && allocation.capHit) return
        expect(split.subsidized).toBe(allocation.total)
        expect(Object.values(allocation.sponsored).reduce((sum, part) => sum + part)).toBe(allocation.total)
        if (t.capMicroUsd !== undefined) {
          expect(toMicroUsdUp(unit, allocation.total)).toBeLessThanOrEqual(t.capMicroUsd)
        }
        const kind = `${r.path} ${r.tradeType}`
        accepted.set(kind, (accepted.get(kind) ?? 0) + 1)
        const share = allocation.total === 0n ? 'nothing' : allocation.capHit ? 'capped' : 'all'
        accepted.set(share, (accepted.get(share) ?? 0) + 1)
      }),
      { numRuns: 3_000, endOnFailure: true },
    )
    for (const share of ['nothing', 'capped', 'all'])
      expect(accepted.get(share) ?? 0, share).toBeGreaterThanOrEqual(leastSeen(50, 3_000))
    for (const path of ['direct', 'swap-in', 'swap-out', 'both']) {
      for (const tradeType of tradeTypes) {
        expect(accepted.get(`${path} ${tradeType}`) ?? 0, `${path} ${tradeType}`).toBeGreaterThanOrEqual(
          leastSeen(15, 3_000),
        )
      }
    }
  })

  test('leave the user no worse off than without a sponsor', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(randomMarket, randomRequest, terms, usdc, async (m, r, t, price) => {
        const asked = toRequest(m, { ...r, path: 'direct' })
        const plain = await attempt(m, asked)
        if (plain instanceof DomainError) return
        const sponsored = await attempt(m, asked, subsidyRule(t, price))
        if (sponsored instanceof DomainError) return
        compared += 1
        expect(sponsored.amountOut).toBeGreaterThanOrEqual(plain.amountOut)
        expect(sponsored.amountIn).toBeLessThanOrEqual(plain.amountIn)
      }),
      { numRuns: 1_000, endOnFailure: true },
    )
    expect(compared).toBeGreaterThanOrEqual(leastSeen(100, 1_000))
  })
})

/** A reward lowers the relayer fee and offsets nothing of what the sponsor pays. */
function rewardOf({ parts }: { parts: { skew: bigint } }): bigint {
  return parts.skew < 0n ? -parts.skew : 0n
}

describe('micro-USDC of a fee', () => {
  const price = fc.bigInt({ min: 10n ** 12n, max: 10n ** 24n })
  const decimals = fc.integer({ min: 0, max: 24 })

  test('a cap in micro-USDC buys an amount that never costs more than it', () => {
    fc.assert(
      fc.property(
        price,
        decimals,
        fc.bigInt({ min: usd / 2n, max: 2n * usd }),
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        (usdX18, places, usdcUsdX18, cap) => {
          const fee = { asset: { id: 'eth' }, decimals: places, usdX18 }
          const unit = sponsorUnit(fee, { asset: usdcAsset, usdX18: usdcUsdX18 })
          const amount = fromMicroUsdDown(unit, cap)
          expect(toMicroUsdUp(unit, amount)).toBeLessThanOrEqual(cap)
          expect(toMicroUsdUp(unit, amount + 1n)).toBeGreaterThan(cap)
        },
      ),
      { endOnFailure: true },
    )
  })

  const oneEth = { asset: { id: 'eth' }, decimals: 18, usdX18: 2_500n * usd }
  test.each([
    ['at par', usd, 2_500_000_000n],
    ['half a percent below par, still noise', (usd * 995n) / 1_000n, 2_500_000_000n],
    ['two percent below par, at market', (usd * 98n) / 100n, 2_551_020_409n],
    ['above par, never less than par', (usd * 110n) / 100n, 2_500_000_000n],
  ])('L-51: one ether at 2,500 USD: %s', (_name, usdX18, microUsd) => {
    const unit = sponsorUnit(oneEth, { asset: usdcAsset, usdX18 })
    expect(toMicroUsdUp(unit, usd)).toBe(microUsd)
  })

  test('L-51: USDC costs its own number, whatever its price and decimals', () => {
    for (const usdX18 of [usd / 2n, (usd * 997n) / 1_000n, 2n * usd]) {
      const priced = { asset: usdcAsset, usdX18 }
      const six = sponsorUnit({ ...priced, decimals: 6 }, priced)
      const eighteen = sponsorUnit({ ...priced, decimals: 18 }, priced)
      expect([toMicroUsdUp(six, 130_000n), toMicroUsdUp(eighteen, 10n ** 12n + 1n)]).toEqual([130_000n, 2n])
    }
  })
})
