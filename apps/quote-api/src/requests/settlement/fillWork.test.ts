// Goal: no deposit is paid more than it is worth, whatever slippage its quote allowed. Method: random orders.
import type { Order } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { paidFor } from './fillWork.ts'

const zero = `0x${'0'.repeat(40)}` as const
const payment = (least: bigint, expected: bigint) => ({
  ...{
    recipient: zero,
    currency: zero,
    minimumAmount: least.toString(),
    expectedAmount: expected.toString(),
  },
})
const orderOf = (input: bigint): Order => ({
  ...{ version: 'v1', solverChainId: 'base', solver: zero, salt: '0x01', fees: [] },
  inputs: [
    { payment: { chainId: 'base', currency: zero, amount: input.toString(), weight: '1' }, refunds: [] },
  ],
  output: { chainId: 'base', payments: [], calls: [], deadline: 1, extraData: '0x' },
})

describe('a deposit', () => {
  test.each([
    ['of the quoted input', 1_000n, 900n],
    ['of more', 5_000n, 900n],
    ['of the least', 500n, 400n],
    ['of half of what lies between', 750n, 650n],
    ['of a unit more than the least, rounded down', 501n, 401n],
  ])('%s: %i is paid %i', (_what, amount, paid) => {
    expect(paidFor(payment(400n, 900n), orderOf(500n), { amount, quotedInput: 1_000n })).toBe(paid)
  })

  test('never gains by being smaller: the solver keeps no less of it than between least and quoted', () => {
    const amounts = fc.bigInt({ min: 1n, max: 2n ** 128n })
    fc.assert(
      fc.property(
        fc.tuple(amounts, amounts),
        fc.tuple(amounts, amounts),
        amounts,
        (inputs, outputs, noise) => {
          const [least, quoted] = inputs[0] < inputs[1] ? inputs : [inputs[1], inputs[0]]
          const [low, high] = outputs[0] < outputs[1] ? outputs : [outputs[1], outputs[0]]
          const amount = least + (noise % (quoted - least + 1n))
          const paid = paidFor(payment(low, high), orderOf(least), { amount, quotedInput: quoted })
          expect(paid).toBeGreaterThanOrEqual(low)
          expect(paid).toBeLessThanOrEqual(high)
          expect((paid - low) * (quoted - least)).toBeLessThanOrEqual((high - low) * (amount - least))
        },
      ),
      { numRuns: 1_000 },
    )
  })
})
