import { type Hex, sqrtPriceX96FromAmounts } from '@causeway/core'
import { encodeFunctionData, erc20Abi } from 'viem'
import { wrappedNativeAbi } from '../contracts/abis.generated.ts'
import type { PoolDeployment } from '../contracts/deployment.ts'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import type { UniswapV3Deployment } from '../uniswap/deployUniswapV3.ts'
import { createPool } from '../uniswap/pools.ts'
import { ensurePositions } from '../uniswap/positions.ts'
import type { TokenAddresses } from './fundAccounts.ts'
import { amountWorth, type PooledToken, type PoolPlan, poolPlans, tickRange } from './poolPlan.ts'

/** More than all planned positions take together. */
const wrappedReserveWei = 50_000n * 10n ** 18n

type PoolContext = {
  readonly uniswap: UniswapV3Deployment
  readonly addresses: Readonly<Record<PooledToken, Hex>>
}

/** Creates the planned pools at the feeds' first prices and fills them with the owner's tokens. */
export async function openPools(
  chain: LocalChain,
  owner: LocalAccount,
  args: {
    readonly uniswap: UniswapV3Deployment
    readonly wrappedNative: Hex
    readonly tokens: TokenAddresses
  },
): Promise<readonly PoolDeployment[]> {
  const { uniswap, wrappedNative, tokens } = args
  await wrapReserve(chain, owner, wrappedNative)
  const pools: PoolDeployment[] = []
  // One after the other: all are sent by one account, whose client counts nonces on the node.
  for (const plan of poolPlans) {
    const addresses = { WETH: wrappedNative, ...tokens }
    pools.push(await openPool(chain, owner, plan, { uniswap, addresses }))
  }
  return pools
}

async function openPool(
  chain: LocalChain,
  owner: LocalAccount,
  plan: PoolPlan,
  { uniswap, addresses }: PoolContext,
): Promise<PoolDeployment> {
  const clients = chain.as(owner)
  const { tokenA, tokenB, feePips } = plan
  // Amounts of equal worth: their ratio is the price.
  const price = { amountA: amountWorth(tokenA, 1_000_000n), amountB: amountWorth(tokenB, 1_000_000n) }
  const pool = await createPool({
    ...clients,
    uniswap,
    tokenA: addresses[tokenA],
    tokenB: addresses[tokenB],
    feePips,
    price,
  })
  const isAFirst = pool.token0 === addresses[tokenA]
  const firstTick = isAFirst ? tickOf(price.amountA, price.amountB) : tickOf(price.amountB, price.amountA)
  const positions = plan.positions.map((position) => {
    const [amountA, amountB] = [amountWorth(tokenA, position.usd), amountWorth(tokenB, position.usd)]
    return {
      ...tickRange(position, { firstTick, tickSpacing: pool.tickSpacing }),
      amount0: isAFirst ? amountA : amountB,
      amount1: isAFirst ? amountB : amountA,
    }
  })
  await ensurePositions({ ...clients, uniswap, pool, positions })
  return pool
}

/** Tick of a price, as a float: it decides only in which ticks liquidity lies, and no amount. */
function tickOf(amount0: bigint, amount1: bigint): number {
  const sqrtPrice = Number(sqrtPriceX96FromAmounts({ amount0, amount1 })) / 2 ** 96
  return Math.floor((2 * Math.log(sqrtPrice)) / Math.log(1.0001))
}

/** Wraps the owner's coins, once, for all positions. */
async function wrapReserve(chain: LocalChain, owner: LocalAccount, wrappedNative: Hex): Promise<void> {
  const wrapped = await chain.client.readContract({
    address: wrappedNative,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [owner.address],
  })
  if (wrapped > 0n) return
  const data = encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' })
  await chain.send(owner, [
    { what: 'wrapping native coin', to: wrappedNative, data, valueWei: wrappedReserveWei },
  ])
}
