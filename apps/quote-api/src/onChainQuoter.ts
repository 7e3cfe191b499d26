import type { JsonRpcClient, RpcAnswer } from '@causeway/chains'
import { addressWord, type PoolQuote, UpstreamUnavailableError, uintWord } from '@causeway/core'
import type { OnChainQuoter } from './quoting/poolLegQuoter.ts'
import type { QuoteRegistry } from './quoting/registry.ts'

/** QuoterV2: `(tokenIn, tokenOut, amount, fee, sqrtPriceLimitX96)` for both. @source Uniswap V3 IQuoterV2 */
const selectors = { exactInput: 'c6a5026a', exactOutput: 'bd21704a' } as const

const timeoutMs = 600
const uint256Limit = 2n ** 256n

/**
 * Asks the chain's QuoterV2 for one pool. A revert means that the pool cannot trade the amount.
 * @throws UpstreamUnavailableError when the chain does not answer in time
 */
export function createOnChainQuoter(
  registry: QuoteRegistry,
  clients: ReadonlyMap<string, JsonRpcClient>,
): OnChainQuoter {
  return async ({ chainId, pool, zeroForOne, trade, amount }) => {
    const chain = registry.chainById.get(chainId)
    const client = chain === undefined ? undefined : clients.get(chain.key)
    const quoter = chain?.config.uniswapV3?.quoterV2
    if (client === undefined || quoter === undefined || amount >= uint256Limit) return undefined
    const [tokenIn, tokenOut] = zeroForOne ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
    const words = [
      addressWord(tokenIn),
      addressWord(tokenOut),
      uintWord(amount),
      uintWord(BigInt(pool.feePips)),
      uintWord(0n),
    ]
    const call = { to: quoter, data: `0x${selectors[trade]}${words.join('')}` }
    const [answer] = await client.batch([{ method: 'eth_call', params: [call, 'latest'] }], { timeoutMs })
    const result = resultWords(answer, chainId)
    return result === undefined ? undefined : toPoolQuote(result, trade, amount)
  }
}

function resultWords(answer: RpcAnswer | undefined, chainId: number): readonly bigint[] | undefined {
  if (answer?.ok === false) return undefined
  const { result } = answer ?? {}
  if (typeof result !== 'string' || !/^0x([0-9a-fA-F]{64}){4}$/.test(result)) {
    throw new UpstreamUnavailableError(`The quoter of chain ${chainId} answered nonsense.`, {
      code: 'RPC_HTTP_ERROR',
    })
  }
  return [0, 1, 2, 3].map((index) => BigInt(`0x${result.slice(2 + index * 64, 66 + index * 64)}`))
}

function toPoolQuote(
  words: readonly bigint[],
  trade: 'exactInput' | 'exactOutput',
  amount: bigint,
): PoolQuote {
  const [other = 0n, sqrtPriceX96After = 0n, crossed = 0n] = words
  const isExactInput = trade === 'exactInput'
  return {
    amountIn: isExactInput ? amount : other,
    amountOut: isExactInput ? other : amount,
    sqrtPriceX96After,
    initializedTicksCrossed: Number(crossed),
    // The quoter takes what it can of an exact input without saying how much: at the end of all prices
    // the answer stands for less than was asked.
    exhausted: sqrtPriceX96After <= lowestPriceX96 || sqrtPriceX96After >= highestPriceX96,
  }
}

const lowestPriceX96 = 4_295_128_740n
const highestPriceX96 = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n
