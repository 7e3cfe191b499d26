// Goal: every deposit has a defined end, and what goes back never exceeds what came.
import type { MissingDepth } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type DepositDecision,
  depositDecision,
  type OtherRefund,
  recheckWhileShallow,
  recheckWhileWaiting,
  refundAmount,
  surplusRefund,
} from './depositDecision.ts'
import type { DepositTerms, SeenDeposit } from './pinDecision.ts'

const terms: DepositTerms = {
  chainId: 8_453,
  currency: '0xc1',
  amountMin: 1_000n,
  deadlineSeconds: 3_600,
  finalitySeconds: 1_800,
}
/** A refund costs 10. */
const refund = { inputAmount: 1_000n, refundMinimum: 990n }
const fit: SeenDeposit = {
  id: '1',
  chainId: 8_453,
  currency: '0xc1',
  amount: 1_000n,
  isDeep: true,
  isCanonical: true,
}
const fresh = { isOver: false, isBound: false, isFilled: false }

function fate(
  deposit: Partial<SeenDeposit>,
  request: Partial<typeof fresh> = {},
  more: { nowSeconds?: number; otherRefund?: OtherRefund } = {},
): DepositDecision {
  const { nowSeconds = 10, otherRefund = { state: 'priced', cost: 30n } } = more
  return depositDecision({
    deposit: { ...fit, ...deposit },
    terms,
    refund,
    request: { ...fresh, ...request },
    otherRefund,
    nowSeconds,
  })
}
const back = (reason: string, amount: bigint) => ({ action: 'refund', reason, amount })

describe('a deposit of an order', () => {
  test.each<[string, DepositDecision, object]>([
    ['in time', fate({}), { action: 'bind' }],
    ['of too much', fate({ amount: 5_000n }), { action: 'bind' }],
    ['not deep enough', fate({ isDeep: false }), { action: 'wait' }],
    ['out of its chain', fate({ isCanonical: false }), { action: 'wait' }],
    ['too short', fate({ amount: 999n }), back('DEPOSITED_AMOUNT_TOO_LOW_TO_FILL', 990n)],
    ['of dust', fate({ amount: 10n }), { action: 'ignore', reason: 'AMOUNT_TOO_LOW_TO_REFUND' }],
    ['at the deadline', fate({}, {}, { nowSeconds: 3_600 }), back('PROTOCOL_DEADLINE_EXPIRED', 990n)],
    ['that is the second', fate({}, { isBound: true }), back('DOUBLE_SPEND', 990n)],
    ['after the end', fate({}, { isOver: true }), back('DOUBLE_SPEND', 990n)],
    ['in another listed currency', fate({ currency: '0xc2' }), back('INCORRECT_DEPOSIT_CURRENCY', 970n)],
    [
      'Q-211: of dust in another listed currency, which would be refunded at a loss',
      fate({ currency: '0xc2', amount: 30n }),
      { action: 'ignore', reason: 'AMOUNT_TOO_LOW_TO_REFUND' },
    ],
    [
      'in another currency while nobody knows its price',
      fate({ currency: '0xc2' }, {}, { otherRefund: { state: 'unknown' } }),
      { action: 'wait' },
    ],
    [
      'in an unknown token',
      fate({ currency: '0xc2' }, {}, { otherRefund: { state: 'unlisted' } }),
      { action: 'ignore', reason: 'UNSUPPORTED_CURRENCY' },
    ],
    [
      'on another chain, of coin that is worth little there and has the same address',
      fate({ chainId: 10 }),
      { action: 'ignore', reason: 'UNSUPPORTED_CURRENCY' },
    ],
    [
      'on another chain after the end, which no solver could refund',
      fate({ chainId: 10 }, { isOver: true }),
      { action: 'ignore', reason: 'UNSUPPORTED_CURRENCY' },
    ],
    [
      'that came back in another block after the fill, however late',
      fate({}, { isFilled: true }, { nowSeconds: 9_999 }),
      { action: 'bind' },
    ],
  ])('L-58: %s', (_name, decided, expected) => {
    expect(decided).toEqual(expected)
  })
})

test('a refund gives back at most the deposit and at least what an oracle asks for', () => {
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 24n })
  fc.assert(
    fc.property(amounts, amounts, fc.bigInt({ min: 0n, max: 500n }), (deposited, inputAmount, gasBps) => {
      const refundMinimum = inputAmount - (inputAmount * gasBps) / 10_000n
      const amount = refundAmount(deposited, { inputAmount, refundMinimum })
      expect(amount).toBeLessThanOrEqual(deposited)
      if (amount > 0n) expect(amount * inputAmount).toBeGreaterThanOrEqual(deposited * refundMinimum)
    }),
    { endOnFailure: true },
  )
})

test('of an overpaid and filled order goes back what the quote did not reckon with, less the gas', () => {
  expect(surplusRefund(1_000n, 1_000n, refund)).toBe(0n)
  expect(surplusRefund(1_010n, 1_000n, refund)).toBe(0n)
  expect(surplusRefund(1_011n, 1_000n, refund)).toBe(1n)
  // An origin swap deposits more than the least, and the output was quoted from that.
  expect(surplusRefund(1_050n, 1_050n, refund)).toBe(0n)
})

describe('a deposit that waits', () => {
  const chain = { blockTimeMs: 2_000 }
  const nothing = { blocks: 0, seconds: 0, isFinalized: false }
  const delayAt = (missing: Partial<MissingDepth>) =>
    recheckWhileShallow({ ...nothing, ...missing }, chain).delayMs

  test('is looked at again well before it can be deep enough, and at once in the block before', () => {
    expect([1, 2, 3].map((blocks) => delayAt({ blocks }))).toEqual([0, 1_000, 2_000])
    expect(delayAt({ blocks: 999 })).toBe(5_000)
  })

  test('F-101: is looked at again when its seconds are over, and seldom while its chain does not call it final', () => {
    expect([0.2, 1.5, 20].map((seconds) => delayAt({ seconds }))).toEqual([200, 1_500, 5_000])
    expect(delayAt({ isFinalized: true })).toBe(5_000)
  })

  test('L-66: for a market goes behind the others, and seldom the longer it waits', () => {
    const looks = [0, 1, 2, 1_000].map((times) => recheckWhileWaiting({ looks: times }))
    expect(looks.map(({ delayMs }) => delayMs)).toEqual([500, 750, 1_125, 5_000])
    expect(looks.every(({ isDeep }) => isDeep)).toBe(true)
    expect(recheckWhileShallow(nothing, chain).isDeep).toBe(false)
  })
})
