import type { InitializedTick } from '@causeway/core'
import type { TickLiquidity } from './poolCalls.ts'

/** All initialised ticks of one pool at one block. Never changed in place: states share `ticks`. */
export type TickTable = {
  readonly byIndex: ReadonlyMap<number, TickLiquidity>
  /** Initialized ticks in ascending order. */
  readonly ticks: readonly InitializedTick[]
}

/** Liquidity that a mint adds to a position between two ticks; negative for a burn. */
export type LiquidityChange = {
  readonly tickLower: number
  readonly tickUpper: number
  readonly liquidity: bigint
}

export function tickTable(byIndex: ReadonlyMap<number, TickLiquidity>): TickTable {
  const ticks = [...byIndex]
    .map(([index, { net }]) => ({ index, liquidityNet: net }))
    .sort((a, b) => a.index - b.index)
  return { byIndex, ticks }
}

/**
 * The table after the changes, whatever their order. A position adds its liquidity where it begins and
 * takes it away where it ends; a tick without positions is no longer initialised.
 * @returns undefined when a tick would have less than nothing: the table or the changes are wrong
 */
export function withChanges(table: TickTable, changes: readonly LiquidityChange[]): TickTable | undefined {
  if (changes.length === 0) return table
  const byIndex = new Map(table.byIndex)
  const add = (index: number, gross: bigint, net: bigint) => {
    const before = byIndex.get(index) ?? { gross: 0n, net: 0n }
    byIndex.set(index, { gross: before.gross + gross, net: before.net + net })
  }
  for (const { tickLower, tickUpper, liquidity } of changes) {
    add(tickLower, liquidity, liquidity)
    add(tickUpper, liquidity, -liquidity)
  }
  for (const [index, { gross }] of byIndex) {
    if (gross < 0n) return undefined
    if (gross === 0n) byIndex.delete(index)
  }
  return tickTable(byIndex)
}

/** Liquidity that is active at a tick: the sum of net liquidity up to it. The pool reports the same number. */
export function activeLiquidity({ ticks }: TickTable, tick: number): bigint {
  let liquidity = 0n
  for (const { index, liquidityNet } of ticks) {
    if (index > tick) break
    liquidity += liquidityNet
  }
  return liquidity
}
