// Goal: what to move where brings every chain nearer to its share, never below a floor, and makes nothing of nothing.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeInventory, type Holding, planMoves } from './inventoryReport.ts'

const holding = (chain: string, amount: bigint, targetShareBps: number | undefined, floor = 0n): Holding => ({
  ...{ chain, symbol: 'USDC', asset: 'usdc', decimals: 6, amount, floor, targetShareBps },
})

describe('what to move', () => {
  test('goes from where most is too much to where most is missing', () => {
    const holdings = [holding('base', 900n, 5_000), holding('optimism', 100n, 5_000)]
    expect(planMoves(holdings)).toEqual([
      { symbol: 'USDC', decimals: 6, amount: 400n, from: 'base', to: 'optimism' },
    ])
  })

  test.each([
    ['where no share is named', [holding('base', 900n, undefined), holding('optimism', 100n, 5_000)]],
    ['where little is missing', [holding('base', 505n, 5_000), holding('optimism', 495n, 5_000)]],
    ['below a floor', [holding('base', 900n, 5_000, 900n), holding('optimism', 100n, 5_000)]],
    ['of nothing', [holding('base', 0n, 5_000), holding('optimism', 0n, 5_000)]],
  ])('is nothing %s', (_what, holdings) => {
    expect(planMoves(holdings)).toEqual([])
  })

  test('takes no chain below its floor and makes no money', () => {
    const amounts = fc.array(fc.tuple(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 12n)), {
      minLength: 2,
      maxLength: 6,
    })
    fc.assert(
      fc.property(amounts, (list) => {
        const share = Math.floor(10_000 / list.length)
        const holdings = list.map(([amount, floor], index) => holding(`chain${index}`, amount, share, floor))
        const after = new Map(holdings.map(({ chain, amount }) => [chain, amount]))
        for (const { from, to, amount } of planMoves(holdings)) {
          expect(amount).toBeGreaterThan(0n)
          after.set(from, (after.get(from) ?? 0n) - amount)
          after.set(to, (after.get(to) ?? 0n) + amount)
        }
        for (const { chain, amount, floor } of holdings) {
          const left = after.get(chain) ?? 0n
          if (left < amount) expect(left).toBeGreaterThanOrEqual(floor)
        }
      }),
    )
  })

  test('is told beside what is held, and what is below its floor', () => {
    const text = describeInventory([holding('base', 1n, 5_000, 2n)], [], (amount) => String(amount))
    expect(text).toBe('base  USDC  1  floor 2  BELOW ITS FLOOR\n\nNothing needs to be moved.')
  })
})
