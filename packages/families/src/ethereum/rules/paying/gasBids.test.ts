import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firstBid, type GasBid, replacementBid } from './gasBids.ts'

const bid = (maxFeePerGasWei: bigint, maxPriorityFeePerGasWei: bigint): GasBid => ({
  maxFeePerGasWei,
  maxPriorityFeePerGasWei,
})

describe('a first offer', () => {
  test.each([
    ['is the price of the market', bid(100n, 10n), 200n, bid(100n, 10n)],
    ['is never above the ceiling', bid(300n, 10n), 200n, bid(200n, 10n)],
    ['has no tip above its fee', bid(300n, 250n), 200n, bid(200n, 200n)],
  ])('%s', (_what, market, ceiling, expected) => {
    expect(firstBid(market, ceiling)).toEqual(expected)
  })
})

describe('a replacement', () => {
  test.each([
    ['is an eighth dearer where the market fell', bid(80n, 8n), bid(1n, 1n), 200n, bid(90n, 9n)],
    ['rounds up', bid(81n, 9n), bid(1n, 1n), 200n, bid(92n, 11n)],
    ['follows the market where it rose', bid(80n, 8n), bid(150n, 20n), 200n, bid(150n, 20n)],
    ['follows it up to the ceiling', bid(80n, 8n), bid(300n, 20n), 200n, bid(200n, 20n)],
    ['has no tip above its fee', bid(80n, 8n), bid(85n, 95n), 200n, bid(90n, 90n)],
    ['may be the ceiling', bid(80n, 8n), bid(1n, 1n), 90n, bid(90n, 9n)],
    ['is not made above it', bid(80n, 8n), bid(300n, 30n), 89n, undefined],
  ])('%s', (_what, last, market, ceiling, expected) => {
    expect(replacementBid(last, market, ceiling)).toEqual(expected)
  })

  test('bids a tenth more of the fee at least, which nodes require', () => {
    const wei = fc.bigInt({ min: 1n, max: 10n ** 15n })
    fc.assert(
      fc.property(wei, wei, (fee, market) => {
        const next = replacementBid(bid(fee, 1n), bid(market, 1n), 10n ** 18n)
        expect((next?.maxFeePerGasWei ?? 0n) * 10n).toBeGreaterThanOrEqual(fee * 11n)
      }),
    )
  })
})
