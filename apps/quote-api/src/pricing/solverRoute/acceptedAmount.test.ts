// Goal: a refusal names an amount that was priced and accepted, near the bound, after few tries; else none. Method: markets
// that accept a range of amounts, and all amounts that the search prices, in their order.
import { UpstreamUnavailableError } from '@causeway/core'
import { systemClock } from '@causeway/market'
import { describe, expect, test } from 'vitest'
import { chainA, usdc } from '../../../test/fixtures/market.ts'
import { QuoteError, type QuoteErrorCode } from '../errors.ts'
import { priceOrNameAmount, priceOrNameNone } from './acceptedAmount.ts'

/** The refusal of an amount; undefined where it is accepted. */
type Market = (amount: bigint) => QuoteErrorCode | Error | undefined
const from =
  (least: bigint, most = 2n ** 300n): Market =>
  (amount) => {
    if (amount < least) return 'AMOUNT_TOO_LOW'
    return amount > most ? 'INSUFFICIENT_LIQUIDITY' : undefined
  }

const currency = { address: usdc, chainId: chainA }
const amountsOfRefusal = { minimumAmount: '1', maximumAmount: '2', currency: 'another', chainId: 1 }

/** Prices an amount; `msPerReading` passes with every look at the clock. */
function search(
  market: Market,
  amount: bigint,
  { nearAmount, msPerReading = 0 }: { nearAmount?: bigint; msPerReading?: number } = {},
) {
  const tried: bigint[] = []
  let nowMs = 0
  const now = () => {
    nowMs += msPerReading
    return nowMs
  }
  const price = (candidate: bigint) => {
    tried.push(candidate)
    const refusal = market(candidate)
    if (refusal instanceof Error) throw refusal
    if (refusal !== undefined)
      throw new QuoteError(refusal, 'Refused.', {
        data: { ...amountsOfRefusal, limitBps: 7 },
        ...(nearAmount !== undefined && { nearAmount }),
      })
    return candidate
  }
  const clock = { ...systemClock, now }
  try {
    return { accepted: priceOrNameAmount({ amount, currency, clock }, price), tried }
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    return { error, tried: tried.slice(1) }
  }
}

const named = ({ error, tried }: ReturnType<typeof search>) => ({
  least: error?.data['minimumAmount'],
  most: error?.data['maximumAmount'],
  tried: tried.map(Number),
})
const skippedSteps = [201, 805, 6_441, 3_220, 2_012, 1_408, 1_106, 955, 1_030, 992, 1_011]
const down = [50_000, 12_500, 1_562, 97]
const nearThousand = [390, 976, 1_269, 1_122, 1_049, 1_012, 994]
const isLost =
  (least: bigint): Market =>
  (amount) => {
    if (amount < 1_000n) return 'RELAYER_GAS_TOO_HIGH'
    return amount < least ? 'SWAP_IMPACT_TOO_HIGH' : undefined
  }

describe('a refusal of too little', () => {
  test.each<[string, Market, bigint, string | undefined, readonly number[]]>([
    ['names a least amount and a twentieth', from(1_000n), 100n, '1062', [...skippedSteps, 1_062]],
    ['names no more than is accepted', from(1_000n, 1_050n), 100n, '1011', [...skippedSteps, 1_062]],
    ['names none where none is accepted', from(1_000n, 999n), 100n, undefined, skippedSteps],
    [
      'stays above what is refused otherwise',
      isLost(3_001n),
      100n,
      '3183',
      [201, 805, 6_441, 3_220, 2_012, 2_616, 2_918, 3_069, 2_993, 3_031, 3_183],
    ],
    ['is exact for tiny amounts', from(3n), 1n, '4', [3, 2, 4]],
    [
      'ends its search within a fiftieth',
      from(200n),
      2n,
      '210',
      [5, 21, 169, 2_705, 676, 422, 295, 232, 200, 184, 192, 196, 210],
    ],
    ['seeks none that no word holds', from(2n ** 299n), 2n ** 255n - 1n, undefined, [2 ** 256]],
  ])('%s', (_what, market, amount, least, tried) => {
    expect(named(search(market, amount))).toEqual({ least, most: undefined, tried })
  })
})

describe('a refusal of too much', () => {
  test.each<[string, Market, bigint | undefined, string | undefined, readonly number[]]>([
    ['names a most amount', from(10n, 1_000n), undefined, '994', [...down, ...nearThousand]],
    ['names its guess where that is accepted', from(10n, 1_000n), 900n, '900', [900]],
    [
      'seeks below a guess that is refused',
      from(10n, 1_000n),
      2_000n,
      '1000',
      [2_000, 1_000, 1_500, 1_250, 1_125, 1_062, 1_031, 1_015],
    ],
    ['makes nothing of a guess of 0', from(10n, 1_000n), 0n, '994', [...down, ...nearThousand]],
    ['makes nothing of its own amount', from(10n, 1_000n), 100_000n, '994', [...down, ...nearThousand]],
    ['ends where an amount is too low', from(98n, 1_000n), undefined, undefined, down],
    ['ends at nothing', from(0n, -1n), undefined, undefined, [...down, 3, 0]],
    [
      'is about the loss in pools too',
      (amount) => (amount > 500n && amount < 99_999n ? 'SWAP_IMPACT_TOO_HIGH' : from(10n, 1_000n)(amount)),
      undefined,
      '499',
      [...down, 390, 976, 683, 536, 463, 499, 517, 508],
    ],
  ])('%s', (_what, market, nearAmount, most, tried) => {
    const options = nearAmount === undefined ? {} : { nearAmount }
    expect(named(search(market, 100_000n, options))).toEqual({ least: undefined, most, tried })
  })
})

test('an accepted amount is priced once', () => {
  expect(search(from(1n), 5n)).toEqual({ accepted: 5n, tried: [5n] })
})

test('a refusal is restated in the currency of the amount, with one amount at most', () => {
  const { error } = search(from(1_000n), 100n)
  expect(error).toMatchObject({ code: 'AMOUNT_TOO_LOW', message: 'Refused.', cause: expect.any(QuoteError) })
  expect(error?.data).toEqual({
    limitBps: 7,
    minimumAmount: '1062',
    currency: usdc,
    chainId: chainA,
  })
})

test('the search ends after a second, and names no amount', () => {
  const { error, tried } = search(from(1_000n), 100n, { msPerReading: 500 })
  expect(error?.data).toEqual({ limitBps: 7, currency: usdc, chainId: chainA })
  expect(tried).toEqual([201n, 805n])
})

test('a chain that falls silent ends the search, and a bug is no refusal', () => {
  const silentAbove =
    (most: bigint, error: Error): Market =>
    (amount) =>
      amount > most ? error : 'AMOUNT_TOO_LOW'
  const { error } = search(silentAbove(300n, new UpstreamUnavailableError('Silent.')), 100n)
  expect(error).toMatchObject({ code: 'AMOUNT_TOO_LOW', data: { limitBps: 7, currency: usdc } })
  expect(error?.data).not.toHaveProperty('minimumAmount')
  expect(() => search(silentAbove(300n, new TypeError('a bug')), 100n)).toThrow('a bug')
})

const other = new QuoteError('PRICE_FETCH_FAILED', 'No price.')
const bug = new TypeError('a bug')

test.each([other, bug])('what is not about the amount stays as it is: %s', (error) => {
  const fail = () => {
    throw error
  }
  const requested = { amount: 100n, currency, clock: systemClock }
  for (const price of [() => priceOrNameAmount(requested, fail), () => priceOrNameNone({ currency }, fail)])
    expect(price).toThrow(expect.toSatisfy((thrown) => thrown === error))
})

test.each<QuoteErrorCode>(['AMOUNT_TOO_LOW', 'RELAYER_GAS_TOO_HIGH', 'INSUFFICIENT_LIQUIDITY'])(
  'with calls %s names no amount, in the currency of the amount',
  (code) => {
    const refuse = () => {
      throw new QuoteError(code, 'Refused.', { data: { ...amountsOfRefusal, limitBps: 7 } })
    }
    let data: object | undefined
    try {
      priceOrNameNone({ currency }, refuse)
    } catch (error) {
      data = error instanceof QuoteError && error.code === code ? error.data : undefined
    }
    expect(data).toEqual({ limitBps: 7, currency: usdc, chainId: chainA })
    expect(priceOrNameNone({ currency }, () => 5n)).toBe(5n)
  },
)
