// Goal: nobody gains by depositing late. Method: the rules as tables, and the loss of the solver over random
// promises and prices.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  blockGraceSeconds,
  isLate,
  type LatePrice,
  type LateStep,
  lateStep,
  sweptGraceSeconds,
} from './lateDeposit.ts'

const expiresAtSeconds = 1_000_000

test('F-133: a sweep that was asked for in time has as long as it may take, where nobody else can move the money', () => {
  const kept = { sweepSeconds: 7_200, isKeptWhileSwept: true }
  const graceOf = (sweepAskedAtSeconds: number | undefined, addresses: typeof kept | undefined = kept) =>
    sweptGraceSeconds({ expiresAtSeconds, sweepAskedAtSeconds, addresses })
  expect(graceOf(expiresAtSeconds)).toBe(7_200)
  // A strict address that is paid later would be an option of two hours.
  expect(graceOf(expiresAtSeconds + 1)).toBe(0)
  expect(graceOf(undefined)).toBe(0)
  // The depositor could withdraw it meanwhile.
  expect(graceOf(expiresAtSeconds, { ...kept, isKeptWhileSwept: false })).toBe(0)
  expect(sweptGraceSeconds({ expiresAtSeconds, sweepAskedAtSeconds: 1, addresses: undefined })).toBe(0)
})

describe('a deposit is late', () => {
  test.each([
    ['in the last second of its price', 0, 2_000, false],
    ['one block of the origin later', 2, 2_000, false],
    ['a second after that', 3, 2_000, true],
    ['within a block that takes part of a second', 1, 250, false],
    ['a second after that block', 2, 250, true],
    ['fifteen seconds later, where blocks take ten minutes', 15, 600_000, false],
    ['sixteen seconds later, where blocks take ten minutes', 16, 600_000, true],
    ['long before', -3_600, 2_000, false],
  ])('L-60: %s: %i s, blocks of %i ms: %s', (_what, after, blockTimeMs, late) => {
    const blockTimeSeconds = expiresAtSeconds + after
    const minedAfterSeconds = undefined
    const graceSeconds = blockGraceSeconds({ blockTimeMs })
    expect(isLate({ blockTimeSeconds, minedAfterSeconds, expiresAtSeconds, graceSeconds })).toBe(late)
  })

  test.each([
    ['not there 32 s after its price, and says it was in time', 32, false],
    ['not there 33 s after its price, and says it was in time', 33, true],
    ['not there an hour before', -3_600, false],
  ])('L-63: %s', (_what, after, late) => {
    const minedAfterSeconds = expiresAtSeconds + after
    const block = { blockTimeSeconds: expiresAtSeconds, minedAfterSeconds, graceSeconds: 2 }
    expect(isLate({ ...block, expiresAtSeconds })).toBe(late)
  })

  test('by the grace that its family is given, whatever its blocks take', () => {
    fc.assert(
      fc.property(fc.nat({ max: 7_200 }), fc.integer({ min: -7_200, max: 7_200 }), (graceSeconds, after) => {
        const blockTimeSeconds = expiresAtSeconds + after
        const block = { blockTimeSeconds, minedAfterSeconds: undefined }
        expect(isLate({ ...block, expiresAtSeconds, graceSeconds })).toBe(after > graceSeconds)
      }),
    )
  })

  test('after a grace that no block time makes longer than fifteen seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_600_000 }), (blockTimeMs) => {
        expect(blockGraceSeconds({ blockTimeMs })).toBeLessThanOrEqual(15)
        expect(blockGraceSeconds({ blockTimeMs })).toBeGreaterThanOrEqual(1)
      }),
    )
  })
})

describe('a late deposit', () => {
  const priced = (amountOut: bigint): LatePrice => ({ state: 'priced', amountOut })
  const refund = (reason: Extract<LateStep, { action: 'refund' }>['reason']): LateStep => ({
    action: 'refund',
    reason,
  })
  test.each<[string, LatePrice, number, LateStep]>([
    ['buys as much', priced(10_000n), 0, { action: 'bind' }],
    ['buys more', priced(20_000n), 0, { action: 'bind' }],
    ['buys less, by all of the tolerance', priced(9_970n), 0, { action: 'bind' }],
    ['buys less, by a unit more', priced(9_969n), 0, refund('QUOTE_EXPIRED_PRICE_MOVED')],
    ['could not be quoted', { state: 'refused' }, 0, refund('QUOTE_EXPIRED_NOT_QUOTABLE')],
    ['while nobody knows', { state: 'unknown' }, 299, { action: 'wait' }],
    ['nobody knew for long', { state: 'unknown' }, 300, refund('QUOTE_EXPIRED_MARKET_UNAVAILABLE')],
    ['is priced at last', priced(10_000n), 300, { action: 'bind' }],
  ])('L-60, L-61: %s', (_what, price, nowSeconds, step) => {
    const fixed = { promised: 10_000n, toleranceBps: 30, hadReward: false, waitsUntilSeconds: 300 }
    expect(lateStep({ ...fixed, price, nowSeconds })).toEqual(step)
  })

  test('P-54: is filled for what its own price charges for gas', () => {
    const fixed = { toleranceBps: 30, hadReward: false, nowSeconds: 0, waitsUntilSeconds: 300 }
    const price = { state: 'priced', amountOut: 10_000n, gasCharged: 7n } as const
    expect(lateStep({ ...fixed, promised: 10_000n, price })).toEqual({ action: 'bind', gasCharged: 7n })
  })

  test('Q-42: of a quote with a reward is filled only if it earns as much again', () => {
    const fixed = { toleranceBps: 30, hadReward: true, nowSeconds: 0, waitsUntilSeconds: 300 }
    const stepOf = (amountOut: bigint) => lateStep({ ...fixed, promised: 10_000n, price: priced(amountOut) })
    expect(stepOf(10_000n)).toEqual({ action: 'bind' })
    expect(stepOf(9_999n)).toEqual(refund('QUOTE_EXPIRED_PRICE_MOVED'))
  })

  test('L-60: that is filled costs the solver the tolerance at most', () => {
    const amounts = fc.bigInt({ min: 1n, max: 2n ** 128n })
    fc.assert(
      fc.property(amounts, amounts, fc.integer({ min: 0, max: 1_000 }), (promised, fair, toleranceBps) => {
        const step = lateStep({
          promised,
          toleranceBps,
          hadReward: false,
          price: priced(fair),
          nowSeconds: 0,
          waitsUntilSeconds: 0,
        })
        const loss = promised - fair
        const most = (promised * BigInt(toleranceBps)) / 10_000n
        expect(step.action).toBe(loss <= most ? 'bind' : 'refund')
      }),
      { numRuns: 2_000 },
    )
  })
})
