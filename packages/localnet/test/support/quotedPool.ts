import { type PoolState, sqrtPriceX96FromAmounts, tickAtSqrtPriceX96 } from '@causeway/core'
import type { PoolDeployment } from '../../src/contracts/deployment.ts'
import { createPool, mintPositions, type PoolTestbed, type Position } from '../../src/index.ts'
import { poolAbi } from '../../src/uniswap/abis.ts'
import type { Random } from './random.ts'

/** Parameters of a test pool. Amounts of a position are drawn up to `depth` whole tokens. */
export type PoolShape = {
  readonly name: string
  readonly feePips: number
  readonly decimalsA: number
  readonly decimalsB: number
  /** Whole tokens B per whole token A. */
  readonly priceB: bigint
  readonly positions: number
  /** Farthest boundary from the first price, in tick spacings. */
  readonly reach: number
  readonly depth: bigint
}

export type QuotedPool = {
  readonly pool: PoolDeployment
  /** Every tick a position begins or ends at. */
  readonly boundaries: readonly number[]
}

/** Creates a pool and fills it with random ranges, some of which leave gaps without liquidity. */
export async function openQuotedPool(
  bed: PoolTestbed,
  shape: PoolShape,
  random: Random,
): Promise<QuotedPool> {
  const unitA = 10n ** BigInt(shape.decimalsA)
  const unitB = 10n ** BigInt(shape.decimalsB)
  const tokenA = await bed.deployToken({ symbol: `${shape.name}A`, decimals: shape.decimalsA })
  const tokenB = await bed.deployToken({ symbol: `${shape.name}B`, decimals: shape.decimalsB })
  const price = { amountA: unitA, amountB: unitB * shape.priceB }
  const pool = await createPool({ ...bed, tokenA, tokenB, feePips: shape.feePips, price })
  const [amount0, amount1] =
    pool.token0 === tokenA ? [price.amountA, price.amountB] : [price.amountB, price.amountA]
  const centre = Math.floor(
    tickAtSqrtPriceX96(sqrtPriceX96FromAmounts({ amount0, amount1 })) / pool.tickSpacing,
  )

  const positions = Array.from({ length: shape.positions }, (): Position => {
    const lower = random.integer(-shape.reach, shape.reach - 1)
    const upper = Math.min(shape.reach, lower + random.integer(1, Math.ceil(shape.reach / 2)))
    return {
      tickLower: (centre + lower) * pool.tickSpacing,
      tickUpper: (centre + upper) * pool.tickSpacing,
      amount0: random.between(amount0 * shape.depth, amount0 * shape.depth * 10n),
      amount1: random.between(amount1 * shape.depth, amount1 * shape.depth * 10n),
    }
  })
  await mintPositions({ ...bed, pool, positions })
  const boundaries = new Set(positions.flatMap(({ tickLower, tickUpper }) => [tickLower, tickUpper]))
  return { pool, boundaries: [...boundaries].sort((a, b) => a - b) }
}

/** The pool's state, each tick asked for by itself: nothing here is shared with the mirror under test elsewhere. */
export async function readPoolState(bed: PoolTestbed, { pool, boundaries }: QuotedPool): Promise<PoolState> {
  const { address } = pool
  const block = await bed.publicClient.getBlock()
  const at = { address, abi: poolAbi, blockNumber: block.number }
  const [[sqrtPriceX96, tick], liquidity, ...ticks] = await Promise.all([
    bed.publicClient.readContract({ ...at, functionName: 'slot0' }),
    bed.publicClient.readContract({ ...at, functionName: 'liquidity' }),
    ...boundaries.map(async (index) => {
      const [gross, liquidityNet] = await bed.publicClient.readContract({
        ...at,
        functionName: 'ticks',
        args: [index],
      })
      return { index, gross, liquidityNet }
    }),
  ])
  return {
    ...pool,
    sqrtPriceX96,
    tick,
    liquidity,
    ticks: ticks
      .filter(({ gross }) => gross > 0n)
      .map(({ index, liquidityNet }) => ({ index, liquidityNet })),
    blockHash: block.hash,
  }
}
