// Goal: what is measured is what happened, whatever chains say of their clocks.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testRegistry } from '../../../test/fixtures/market.ts'
import { pinWaitMs } from '../../pricing/timeEstimate.ts'
import { measureFill } from './measureFill.ts'

const [origin, destination] = testRegistry({}).chains
if (origin === undefined || destination === undefined) throw new Error('two chains are configured')
const ether = { decimals: 18, usdX18: 2_500n * 10n ** 18n }
const dollar = { decimals: 6, usdX18: 10n ** 18n }
const fill = {
  origin,
  destination,
  valueMicroUsd: 10_000_000n,
  depositSeconds: 1_000n,
  fillSeconds: 1_060n,
  costs: [
    { wei: 4_000_000_000_000n, native: ether },
    { wei: 1_000_000_000_000n, native: ether },
  ],
  outputAmount: 9_900_000n,
  depositAmount: 10_000_001n,
  quoted: {
    seconds: 8,
    gas: 11_000n,
    gasUnit: dollar,
    outputAmount: 9_900_000n,
    depositAmount: 10_000_000n,
  },
}
const chainsMs = pinWaitMs(origin, fill.valueMicroUsd) + destination.config.blockTimeMs

test('gas is in USD on both sides, amounts stay as they are, and chains are taken out of the reaction', () => {
  expect(measureFill(fill)).toEqual({
    elapsedSeconds: 60,
    quotedSeconds: 8,
    reactionMs: 60_000 - chainsMs,
    gasUsdX18: 12_500_000_000_000_000n,
    quotedGasUsdX18: 11_000_000_000_000_000n,
    outputAmount: 9_900_000n,
    quotedOutputAmount: 9_900_000n,
    depositAmount: 10_000_001n,
    quotedDepositAmount: 10_000_000n,
  })
})

test('a cost that is not known is not zero', () => {
  expect(measureFill({ ...fill, costs: undefined }).gasUsdX18).toBeUndefined()
})

test('no time is negative or does not fit its column, whatever blocks say', () => {
  const seconds = fc.bigInt(0n, 2n ** 63n)
  fc.assert(
    fc.property(seconds, seconds, (depositSeconds, fillSeconds) => {
      const { elapsedSeconds, reactionMs } = measureFill({ ...fill, depositSeconds, fillSeconds })
      for (const value of [elapsedSeconds, reactionMs]) {
        expect(Number.isSafeInteger(value)).toBe(true)
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThan(2 ** 31)
      }
    }),
  )
})

test('what the estimate adds for chains and what the reaction leaves out are the same', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000 }), fc.bigInt(0n, 10n ** 12n), (elapsed, valueMicroUsd) => {
      const fillSeconds = fill.depositSeconds + BigInt(elapsed)
      const { reactionMs } = measureFill({ ...fill, fillSeconds, valueMicroUsd })
      const ownMs = pinWaitMs(origin, valueMicroUsd)
      expect(reactionMs).toBe(Math.max(elapsed * 1_000 - ownMs - destination.config.blockTimeMs, 0))
    }),
  )
})
