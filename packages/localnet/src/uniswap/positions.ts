import type { Hex } from '@causeway/core'
import { encodePacked, keccak256, parseEventLogs } from 'viem'
import type { PoolDeployment } from '../deploy/deployment.ts'
import { poolAbi, positionManagerAbi } from './abis.ts'
import { type LocalClients, mined } from './clients.ts'
import type { UniswapV3Deployment } from './deployUniswapV3.ts'
import { approveAll } from './pools.ts'

export type PositionRange = LocalClients & {
  readonly uniswap: UniswapV3Deployment
  readonly pool: PoolDeployment
  /** Multiples of the pool's tick spacing. */
  readonly tickLower: number
  readonly tickUpper: number
}

export type MintPosition = PositionRange & {
  /** The most that is taken of each token; the pool's price decides which of them is the limit. */
  readonly amount0: bigint
  readonly amount1: bigint
}

export type MintedPosition = { readonly tokenId: bigint; readonly liquidity: bigint }

/** Far beyond the clock of any local chain. */
const noDeadline = 2n ** 64n

/** Adds liquidity from the wallet's own tokens. Each call adds; see `ensurePosition`. */
export async function mintPosition(args: MintPosition): Promise<MintedPosition> {
  const { uniswap, pool, tickLower, tickUpper, amount0, amount1, walletClient } = args
  await approveAll({ ...args, token: pool.token0, spender: uniswap.positionManager })
  await approveAll({ ...args, token: pool.token1, spender: uniswap.positionManager })
  const hash = await walletClient.writeContract({
    address: uniswap.positionManager,
    abi: positionManagerAbi,
    functionName: 'mint',
    args: [
      {
        token0: pool.token0,
        token1: pool.token1,
        fee: pool.feePips,
        tickLower,
        tickUpper,
        amount0Desired: amount0,
        amount1Desired: amount1,
        amount0Min: 0n,
        amount1Min: 0n,
        recipient: walletClient.account.address,
        deadline: noDeadline,
      },
    ],
  })
  const { logs } = await mined(args, hash, 'mint')
  const [added] = parseEventLogs({ abi: positionManagerAbi, logs, eventName: 'IncreaseLiquidity' })
  if (added === undefined) throw new Error('the mint added no liquidity')
  return { tokenId: added.args.tokenId, liquidity: added.args.liquidity }
}

/** Mints unless the range already holds liquidity, so that a deployment can run twice. */
export async function ensurePosition(args: MintPosition): Promise<void> {
  const { uniswap, pool, tickLower, tickUpper, publicClient } = args
  const owner = uniswap.positionManager
  const key = keccak256(encodePacked(['address', 'int24', 'int24'], [owner, tickLower, tickUpper]))
  const [liquidity] = await publicClient.readContract({
    address: pool.address,
    abi: poolAbi,
    functionName: 'positions',
    args: [key],
  })
  if (liquidity === 0n) await mintPosition(args)
}

/** Takes liquidity out of a position; the tokens stay owed to it. */
export async function burnLiquidity(
  args: LocalClients & {
    readonly uniswap: UniswapV3Deployment
    readonly tokenId: bigint
    readonly liquidity: bigint
  },
): Promise<Hex> {
  const { uniswap, tokenId, liquidity } = args
  const hash = await args.walletClient.writeContract({
    address: uniswap.positionManager,
    abi: positionManagerAbi,
    functionName: 'decreaseLiquidity',
    args: [{ tokenId, liquidity, amount0Min: 0n, amount1Min: 0n, deadline: noDeadline }],
  })
  await mined(args, hash, 'burn')
  return hash
}
