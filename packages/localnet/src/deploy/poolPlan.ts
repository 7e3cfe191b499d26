import type { FeedKey } from '../contracts/deployment.ts'
import { initialFeedAnswers } from './funding.ts'

/** A token of a planned pool: what it is worth at the start decides the pool's first price. */
export type PooledToken = 'WETH' | 'USDC' | 'USDX' | 'TIDE'

export type PoolPlan = {
  readonly tokenA: PooledToken
  readonly tokenB: PooledToken
  /** In hundredths of a basis point. */
  readonly feePips: number
  readonly positions: readonly PositionPlan[]
}

/** Liquidity between two distances from the first tick, worth at most `usd` on either side. */
export type PositionPlan = {
  /** Ticks from the first one; `undefined` is the end of the range of ticks. */
  readonly lower: number | undefined
  readonly upper: number | undefined
  readonly usd: bigint
}

const tokenFacts: Readonly<Record<PooledToken, { readonly decimals: number; readonly feed: FeedKey }>> = {
  WETH: { decimals: 18, feed: 'ETH/USD' },
  USDC: { decimals: 6, feed: 'USDC/USD' },
  USDX: { decimals: 6, feed: 'USDX/USD' },
  TIDE: { decimals: 18, feed: 'TIDE/USD' },
}

/** Over the whole range, about ±30 %, about ±6 %, and between 6 % and 12 % on each side. */
const volatilePositions: readonly PositionPlan[] = [
  { lower: undefined, upper: undefined, usd: 2_000_000n },
  { lower: -2_600, upper: 2_600, usd: 3_000_000n },
  { lower: -600, upper: 600, usd: 1_000_000n },
  { lower: -1_200, upper: -600, usd: 500_000n },
  { lower: 600, upper: 1_200, usd: 500_000n },
]

/** Nearly all within half a percent of parity. */
const stablePositions: readonly PositionPlan[] = [
  { lower: undefined, upper: undefined, usd: 1_000_000n },
  { lower: -50, upper: 50, usd: 5_000_000n },
  { lower: -10, upper: 10, usd: 2_000_000n },
  { lower: -30, upper: -10, usd: 500_000n },
  { lower: 10, upper: 30, usd: 500_000n },
]

/** Pools of each user chain. A swap of 10,000 USD moves every one of them by less than 1 %. */
export const poolPlans: readonly PoolPlan[] = [
  { tokenA: 'WETH', tokenB: 'USDC', feePips: 500, positions: volatilePositions },
  { tokenA: 'WETH', tokenB: 'USDC', feePips: 3_000, positions: volatilePositions },
  { tokenA: 'TIDE', tokenB: 'USDC', feePips: 3_000, positions: volatilePositions },
  { tokenA: 'TIDE', tokenB: 'WETH', feePips: 10_000, positions: volatilePositions },
  { tokenA: 'USDX', tokenB: 'USDC', feePips: 100, positions: stablePositions },
]

/** Smallest units worth so many whole USD at the first price, rounded down. */
export function amountWorth(token: PooledToken, usd: bigint): bigint {
  const { decimals, feed } = tokenFacts[token]
  return (usd * 10n ** 8n * 10n ** BigInt(decimals)) / initialFeedAnswers[feed]
}

/** The highest tick of Uniswap v3; the lowest is its negative. */
const lastTick = 887_272

/**
 * Ticks of a position around the first price, on the pool's grid. They come from the plan and not
 * from the pool's present price, so that a later start finds the same positions.
 */
export function tickRange(
  position: PositionPlan,
  around: { readonly firstTick: number; readonly tickSpacing: number },
): { readonly tickLower: number; readonly tickUpper: number } {
  const onGrid = (tick: number) => Math.round(tick / around.tickSpacing) * around.tickSpacing
  const end = Math.floor(lastTick / around.tickSpacing) * around.tickSpacing
  const center = onGrid(around.firstTick)
  return {
    tickLower: position.lower === undefined ? -end : center + onGrid(position.lower),
    tickUpper: position.upper === undefined ? end : center + onGrid(position.upper),
  }
}
