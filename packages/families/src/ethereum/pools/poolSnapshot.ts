import type { Hex, PoolState } from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import { type ContractAnswer, type ContractCall, hasWords } from '../contracts/multicall.ts'
import type { PoolProblem } from './loadTicks.ts'
import { liquidityCall, readLiquidity, readSlot0, slot0Call } from './poolCalls.ts'
import { activeLiquidity, type TickTable } from './tickTable.ts'

/** State of all mirrored pools of a chain as of one block. Never changed in place. */
export type PoolSnapshot = {
  readonly number: bigint
  readonly hash: Hex
  /** Ticks of the pools that are mirrored. */
  readonly tables: ReadonlyMap<Hex, TickTable>
  /** Pools that are not mirrored, and why. */
  readonly problems: ReadonlyMap<Hex, PoolProblem>
  readonly states: readonly PoolState[]
}

/** The part of a state that every swap changes, read anew at each block. */
export type PoolPosition = {
  readonly sqrtPriceX96: bigint
  readonly tick: number
  readonly liquidity: bigint
}

export function positionCalls(pools: readonly PoolConfig[]): readonly ContractCall[] {
  return pools.flatMap(({ address }) => [slot0Call(address), liquidityCall(address)])
}

/** Position of each pool; a contract that is no pool has none. @param answers to `positionCalls` */
export function readPositions(
  pools: readonly PoolConfig[],
  answers: readonly ContractAnswer[],
): ReadonlyMap<Hex, PoolPosition> {
  const positions = new Map<Hex, PoolPosition>()
  pools.forEach(({ address }, index) => {
    const [slot0, liquidity] = [answers[2 * index], answers[2 * index + 1]]
    if (!hasWords(slot0, 2) || !hasWords(liquidity, 1)) return
    positions.set(address, {
      ...readSlot0(slot0.returnData),
      liquidity: readLiquidity(liquidity.returnData),
    })
  })
  return positions
}

/**
 * True if the net liquidity of the ticks up to the current one adds up to the liquidity that the pool itself reports. A
 * liquidity event that was missed or invented makes the sums differ.
 */
export function isConsistent(table: TickTable, { tick, liquidity }: PoolPosition): boolean {
  return activeLiquidity(table, tick) === liquidity
}

export function poolState(
  pool: PoolConfig,
  position: PoolPosition,
  { ticks }: TickTable,
  blockHash: Hex,
): PoolState {
  const { address, token0, token1, feePips, tickSpacing } = pool
  return { address, token0, token1, feePips, tickSpacing, ...position, ticks, blockHash }
}
