import { type Hex, sqrtPriceX96FromAmounts } from '@causeway/core'
import { erc20Abi, maxUint256, zeroAddress } from 'viem'
import type { PoolDeployment } from '../contracts/deployment.ts'
import { type LocalClients, waitUntilMined } from '../nodes/clients.ts'
import { factoryAbi, poolAbi, positionManagerAbi } from './abis.ts'
import { lowerCase } from './create2.ts'
import type { UniswapV3Deployment } from './deployUniswapV3.ts'

/** `amountA` smallest units of token A are worth `amountB` smallest units of token B. */
export type PriceRatio = { readonly amountA: bigint; readonly amountB: bigint }

/**
 * Creates a pool and sets its first price, or finds the one that exists and leaves its price alone
 * once it has one.
 * The tokens may come in either order. @throws Error on a fee the factory does not know
 */
export async function createPool(
  args: LocalClients & {
    readonly uniswap: UniswapV3Deployment
    readonly tokenA: Hex
    readonly tokenB: Hex
    readonly feePips: number
    readonly price: PriceRatio
  },
): Promise<PoolDeployment> {
  const { uniswap, feePips, price, publicClient } = args
  const [tokenA, tokenB] = [lowerCase(args.tokenA), lowerCase(args.tokenB)]
  const isAFirst = tokenA < tokenB
  const [token0, token1] = isAFirst ? [tokenA, tokenB] : [tokenB, tokenA]
  const tickSpacing = await publicClient.readContract({
    address: uniswap.factory,
    abi: factoryAbi,
    functionName: 'feeAmountTickSpacing',
    args: [feePips],
  })
  if (tickSpacing === 0) throw new Error(`the factory does not know the fee ${feePips}`)

  const readPool = () =>
    publicClient.readContract({
      address: uniswap.factory,
      abi: factoryAbi,
      functionName: 'getPool',
      args: [token0, token1, feePips],
    })
  if (!(await isPriced(args, await readPool()))) {
    const sqrtPriceX96 = isAFirst
      ? sqrtPriceX96FromAmounts({ amount0: price.amountA, amount1: price.amountB })
      : sqrtPriceX96FromAmounts({ amount0: price.amountB, amount1: price.amountA })
    const hash = await args.walletClient.writeContract({
      address: uniswap.positionManager,
      abi: positionManagerAbi,
      functionName: 'createAndInitializePoolIfNecessary',
      args: [token0, token1, feePips, sqrtPriceX96],
    })
    await waitUntilMined(args, hash, 'pool creation')
  }
  return { address: lowerCase(await readPool()), token0, token1, feePips, tickSpacing }
}

async function isPriced({ publicClient }: LocalClients, pool: Hex): Promise<boolean> {
  if (pool === zeroAddress) return false
  const [sqrtPriceX96] = await publicClient.readContract({
    address: pool,
    abi: poolAbi,
    functionName: 'slot0',
  })
  return sqrtPriceX96 > 0n
}

/** Lets `spender` take any amount of a token from the wallet; sends nothing when it already may. */
export async function approveAll(
  args: LocalClients & { readonly token: Hex; readonly spender: Hex },
): Promise<void> {
  const { token, spender, publicClient, walletClient } = args
  const allowance = await publicClient.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'allowance',
    args: [walletClient.account.address, spender],
  })
  // Payments lower the allowance, but never by half of it.
  if (allowance > maxUint256 / 2n) return
  const hash = await walletClient.writeContract({
    address: token,
    abi: erc20Abi,
    functionName: 'approve',
    args: [spender, maxUint256],
  })
  await waitUntilMined(args, hash, 'approval')
}
