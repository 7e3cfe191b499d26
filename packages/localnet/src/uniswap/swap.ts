import type { Hex } from '@causeway/core'
import type { PoolDeployment } from '../contracts/deployment.ts'
import { type LocalClients, poolCallGas, waitUntilMined } from '../nodes/clients.ts'
import { swapRouterAbi } from './abis.ts'
import type { UniswapV3Deployment } from './deployUniswapV3.ts'
import { approveAll } from './pools.ts'

/** Far beyond the clock of any local chain. */
const noDeadline = 2n ** 64n

/** Swaps the wallet's own tokens through the router. @returns the transaction's hash */
export async function swapExactInput(
  args: LocalClients & {
    readonly uniswap: UniswapV3Deployment
    readonly pool: PoolDeployment
    readonly zeroForOne: boolean
    readonly amountIn: bigint
    /** Price at which the swap stops and leaves the rest of the input; default: no limit. */
    readonly sqrtPriceLimitX96?: bigint
  },
): Promise<Hex> {
  const { uniswap, pool, zeroForOne, amountIn, walletClient } = args
  const [tokenIn, tokenOut] = zeroForOne ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  await approveAll({ ...args, token: tokenIn, spender: uniswap.swapRouter })
  const hash = await walletClient.writeContract({
    address: uniswap.swapRouter,
    abi: swapRouterAbi,
    functionName: 'exactInputSingle',
    gas: poolCallGas,
    args: [
      {
        tokenIn,
        tokenOut,
        fee: pool.feePips,
        recipient: walletClient.account.address,
        deadline: noDeadline,
        amountIn,
        amountOutMinimum: 0n,
        // The router takes 0 for no limit.
        sqrtPriceLimitX96: args.sqrtPriceLimitX96 ?? 0n,
      },
    ],
  })
  await waitUntilMined(args, hash, 'swap')
  return hash
}
