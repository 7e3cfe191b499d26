import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { activeLiquidity, type LiquidityChange, tickTable, withChanges } from './tickTable.ts'

const position = fc
  .tuple(
    fc.integer({ min: -50, max: 49 }),
    fc.integer({ min: 1, max: 50 }),
    fc.bigInt({ min: 1n, max: 2n ** 100n }),
  )
  .map(
    ([tickLower, width, liquidity]): LiquidityChange => ({
      tickLower,
      tickUpper: tickLower + width,
      liquidity,
    }),
  )
const empty = tickTable(new Map())
const burnt = (change: LiquidityChange): LiquidityChange => ({ ...change, liquidity: -change.liquidity })

describe('a tick table', () => {
  it('has at every tick the liquidity of the positions around it, in ascending ticks', () => {
    fc.assert(
      fc.property(fc.array(position, { maxLength: 12 }), (positions) => {
        const table = withChanges(empty, positions)
        if (table === undefined) throw new Error('positions cannot contradict an empty table')
        const indexes = table.ticks.map(({ index }) => index)
        expect(indexes).toEqual([...new Set(indexes)].sort((a, b) => a - b))
        const ticks = Array.from({ length: 171 }, (_, at) => at - 60)
        expect(ticks.map((tick) => activeLiquidity(table, tick))).toEqual(
          ticks.map((tick) =>
            positions
              .filter(({ tickLower, tickUpper }) => tickLower <= tick && tick < tickUpper)
              .reduce((sum, { liquidity }) => sum + liquidity, 0n),
          ),
        )
      }),
    )
  })

  it('is the same whatever the order of changes, and empty when all is burnt again', () => {
    fc.assert(
      fc.property(fc.array(position, { maxLength: 12 }), (positions) => {
        const table = withChanges(empty, positions)
        expect(withChanges(empty, positions.toReversed())?.ticks).toEqual(table?.ticks)
        if (table === undefined) throw new Error('positions cannot contradict an empty table')
        expect(withChanges(table, positions.map(burnt))?.ticks).toEqual([])
        expect(withChanges(empty, [...positions.map(burnt), ...positions])?.ticks).toEqual([])
      }),
    )
  })

  it('keeps a tick where what begins and what ends cancel out', () => {
    const table = withChanges(empty, [
      { tickLower: -10, tickUpper: 0, liquidity: 5n },
      { tickLower: 0, tickUpper: 10, liquidity: 5n },
    ])
    expect(table?.ticks).toEqual([
      { index: -10, liquidityNet: 5n },
      { index: 0, liquidityNet: 0n },
      { index: 10, liquidityNet: -5n },
    ])
  })

  it('is undefined when more is burnt than was there', () => {
    const table = withChanges(empty, [{ tickLower: 0, tickUpper: 10, liquidity: 5n }])
    if (table === undefined) throw new Error('one position cannot contradict an empty table')
    expect(withChanges(table, [{ tickLower: 0, tickUpper: 10, liquidity: -6n }])).toBeUndefined()
    expect(withChanges(table, [{ tickLower: 0, tickUpper: 20, liquidity: -5n }])).toBeUndefined()
  })

  it('never changes the table it starts from', () => {
    const table = withChanges(empty, [{ tickLower: 0, tickUpper: 10, liquidity: 5n }]) ?? empty
    const before = structuredClone(table)
    withChanges(table, [{ tickLower: 0, tickUpper: 20, liquidity: 7n }])
    expect(table).toEqual(before)
  })
})
