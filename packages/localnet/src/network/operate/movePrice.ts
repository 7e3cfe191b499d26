import { encodeFunctionData } from 'viem'
import { priceFeedAbi } from '../../contracts/abis.generated.ts'
import type { LocalTransaction } from '../../nodes/localChain.ts'
import { poolAbi, swapRouterAbi } from '../../uniswap/abis.ts'
import { type PriceKey, readFeeds } from '../refreshFeeds.ts'
import { neededApprovals, type OperatedChain, provideTokens, type Spending } from './keeperFunds.ts'
import type { OperatedNetwork } from './operatedNetwork.ts'
import {
  type Answers,
  type PoolSides,
  poolsPricedBy,
  pricedTokens,
  targetSqrtPriceX96,
  unitsWorth,
} from './poolTarget.ts'

export type PriceMove = {
  readonly price: PriceKey
  /** USD with 8 decimals. Zero and less are for the feed alone: readers must refuse them. */
  readonly answer: bigint
  /** Leave the pools where they are, so that they contradict the feed. */
  readonly only?: 'feed'
}

/** A swap that moves a pool's price to `limitX96`; `zeroForOne` sells token0, which lowers the price. */
type Swap = PoolSides & { readonly zeroForOne: boolean; readonly limitX96: bigint }

/** Input limit of one swap, in USD: it suffices to move any of the local pools by a factor of ten thousand. */
const spendingUsd = 1_000_000_000n
/** An attempt fails when another transaction of the keeper takes a nonce that was counted here. */
const attemptsMax = 4
const noDeadline = 2n ** 64n

/**
 * Moves a price on both user chains: the feed, and every pool that trades the asset, which lands exactly
 * on the ratio of the feeds. Pools are moved by swaps of the keeper's own tokens.
 * @throws Error when a transaction reverts or a pool did not reach the price
 */
export async function movePrice(network: OperatedNetwork, move: PriceMove): Promise<void> {
  if (move.answer <= 0n && move.only !== 'feed') {
    throw new RangeError('a price of zero or less is possible for the feed alone')
  }
  const { chains, deployment, keys } = network
  await Promise.all(
    (['base', 'optimism'] as const).map((key) =>
      moveOnChain({ chain: chains[key].chain, deployment: deployment[key], keys }, move),
    ),
  )
}

async function moveOnChain(side: OperatedChain, move: PriceMove): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await moveOnce(side, move)
      return
    } catch (error) {
      if (attempt >= attemptsMax || !isNonceConflict(error)) throw error
    }
  }
}

async function moveOnce(side: OperatedChain, { price, answer, only }: PriceMove): Promise<void> {
  const { chain, deployment, keys } = side
  const setAnswer: LocalTransaction = {
    what: `setting of ${price}`,
    to: deployment.feeds[price],
    data: encodeFunctionData({ abi: priceFeedAbi, functionName: 'setAnswer', args: [answer] }),
  }
  if (only === 'feed') return chain.send(keys.keeper, [setAnswer])

  const answers = { ...(await currentAnswers(side)), [price]: answer }
  const swaps = await neededSwaps(side, price, answers)
  const spends = swaps.map((swap) => spendingOf(swap, answers))
  await provideTokens(side, spends)
  const approvals = await neededApprovals(side, spends)
  await chain.send(keys.keeper, [
    ...approvals,
    setAnswer,
    ...swaps.map((swap) => swapTransaction(side, swap, answers)),
  ])
  const unreached = await neededSwaps(side, price, answers)
  if (unreached.length > 0)
    throw new Error(`${unreached.length} pools did not reach ${price} on ${deployment.chainKey}`)
}

async function currentAnswers({ chain, deployment }: OperatedChain): Promise<Answers> {
  const rounds = await readFeeds(chain, deployment)
  // CAST: there is one round per price key.
  return Object.fromEntries(rounds.map(({ key, answer }) => [key, answer])) as Answers
}

/** One swap for each pool whose price differs from the ratio of the feeds' answers. */
async function neededSwaps(
  { chain, deployment }: OperatedChain,
  price: PriceKey,
  answers: Answers,
): Promise<readonly Swap[]> {
  const tokens = pricedTokens(deployment)
  const affected = poolsPricedBy(price, { pools: deployment.uniswapV3.pools, tokens })
  const swaps = await Promise.all(
    affected.map(async (sides) => {
      const [sqrtPriceX96] = await chain.client.readContract({
        address: sides.pool.address,
        abi: poolAbi,
        functionName: 'slot0',
      })
      const limitX96 = targetSqrtPriceX96(sides, answers)
      return { ...sides, limitX96, sqrtPriceX96, zeroForOne: limitX96 < sqrtPriceX96 }
    }),
  )
  return swaps.filter(({ limitX96, sqrtPriceX96 }) => limitX96 !== sqrtPriceX96)
}

function spendingOf({ zeroForOne, token0, token1 }: Swap, answers: Answers): Spending {
  const token = zeroForOne ? token0 : token1
  return { token, amount: unitsWorth(token, spendingUsd, answers) }
}

function swapTransaction(
  { deployment, keys }: OperatedChain,
  swap: Swap,
  answers: Answers,
): LocalTransaction {
  const { pool, zeroForOne, limitX96, token0, token1 } = swap
  const [tokenIn, tokenOut] = zeroForOne ? [token0, token1] : [token1, token0]
  return {
    what: `swap in the pool ${pool.address}`,
    to: deployment.uniswapV3.swapRouter,
    data: encodeFunctionData({
      abi: swapRouterAbi,
      functionName: 'exactInputSingle',
      args: [
        {
          tokenIn: tokenIn.address,
          tokenOut: tokenOut.address,
          fee: pool.feePips,
          recipient: keys.keeper.address,
          deadline: noDeadline,
          amountIn: spendingOf(swap, answers).amount,
          amountOutMinimum: 0n,
          sqrtPriceLimitX96: limitX96,
        },
      ],
    }),
  }
}

function isNonceConflict(error: unknown): boolean {
  return error instanceof Error && /nonce|underpriced|already (known|imported)/i.test(error.message)
}
