import type { Hex } from '@causeway/core'
import { encodeFunctionData, encodePacked, keccak256, parseEventLogs } from 'viem'
import type { PoolDeployment } from '../contracts/deployment.ts'
import { type LocalClients, poolCallGas, waitUntilMined } from '../nodes/clients.ts'
import { poolAbi, positionManagerAbi } from './abis.ts'
import type { UniswapV3Deployment } from './deployUniswapV3.ts'
import { approveAll } from './pools.ts'

/** A range of ticks (multiples of the pool's spacing) and the most of each token that goes into it. */
export type Position = {
  readonly tickLower: number
  readonly tickUpper: number
  /** The pool's price decides which of the two amounts is the limit. */
  readonly amount0: bigint
  readonly amount1: bigint
}

export type PoolAccess = LocalClients & {
  readonly uniswap: UniswapV3Deployment
  readonly pool: PoolDeployment
}

export type MintedPosition = { readonly tokenId: bigint; readonly liquidity: bigint }

/** Far beyond the clock of any local chain. */
const noDeadline = 2n ** 64n
/** Keeps one transaction under the gas a block allows it. */
const mintsPerTransaction = 20

/** Adds liquidity from the wallet's own tokens. Each call adds; see `ensurePositions`. */
export async function mintPositions(
  args: PoolAccess & { readonly positions: readonly Position[] },
): Promise<readonly MintedPosition[]> {
  const { uniswap, pool, positions, walletClient } = args
  await approveAll({ ...args, token: pool.token0, spender: uniswap.positionManager })
  await approveAll({ ...args, token: pool.token1, spender: uniswap.positionManager })
  const minted: MintedPosition[] = []
  for (let first = 0; first < positions.length; first += mintsPerTransaction) {
    const calls = positions
      .slice(first, first + mintsPerTransaction)
      .map((position) => mintCall(args, position))
    const hash = await walletClient.writeContract({
      address: uniswap.positionManager,
      abi: positionManagerAbi,
      functionName: 'multicall',
      gas: poolCallGas,
      args: [calls],
    })
    const { logs } = await waitUntilMined(args, hash, 'mint')
    for (const { args: added } of parseEventLogs({
      abi: positionManagerAbi,
      logs,
      eventName: 'IncreaseLiquidity',
    })) {
      minted.push({ tokenId: added.tokenId, liquidity: added.liquidity })
    }
  }
  return minted
}

function mintCall({ pool, walletClient }: PoolAccess, position: Position): Hex {
  return encodeFunctionData({
    abi: positionManagerAbi,
    functionName: 'mint',
    args: [
      {
        token0: pool.token0,
        token1: pool.token1,
        fee: pool.feePips,
        tickLower: position.tickLower,
        tickUpper: position.tickUpper,
        amount0Desired: position.amount0,
        amount1Desired: position.amount1,
        amount0Min: 0n,
        amount1Min: 0n,
        recipient: walletClient.account.address,
        deadline: noDeadline,
      },
    ],
  })
}

/** Mints the positions whose range holds no liquidity yet, so that a deployment can run twice. */
export async function ensurePositions(
  args: PoolAccess & { readonly positions: readonly Position[] },
): Promise<void> {
  const held = await Promise.all(args.positions.map((position) => liquidityIn(args, position)))
  const missing = args.positions.filter((_, index) => held[index] === 0n)
  if (missing.length > 0) await mintPositions({ ...args, positions: missing })
}

async function liquidityIn(
  { uniswap, pool, publicClient }: PoolAccess,
  { tickLower, tickUpper }: Position,
): Promise<bigint> {
  const owner = uniswap.positionManager
  const [liquidity] = await publicClient.readContract({
    address: pool.address,
    abi: poolAbi,
    functionName: 'positions',
    args: [keccak256(encodePacked(['address', 'int24', 'int24'], [owner, tickLower, tickUpper]))],
  })
  return liquidity
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
    gas: poolCallGas,
    args: [{ tokenId, liquidity, amount0Min: 0n, amount1Min: 0n, deadline: noDeadline }],
  })
  await waitUntilMined(args, hash, 'burn')
  return hash
}
