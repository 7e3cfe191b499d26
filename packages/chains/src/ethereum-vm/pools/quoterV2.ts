import {
  addressWord,
  type Hex,
  maxSqrtPriceX96,
  minSqrtPriceX96,
  type PoolConfig,
  type PoolQuote,
  uintWord,
} from '@causeway/core'
import type { RpcAnswer, RpcCall, RpcOptions } from '../../rpc/jsonRpc.ts'
import { parseBytes } from '../../rpc/quantity.ts'
import type { BatchClient } from '../agreement/agreedReads.ts'
import { isRevert } from '../agreement/comparableAnswer.ts'
import { readAbi } from '../contracts/abiReader.ts'
import { type BlockReference, blockParameter } from '../contracts/multicall.ts'
import { resultOf } from './chunkedReads.ts'

export type SwapQuestion = {
  readonly zeroForOne: boolean
  readonly trade: 'exactInput' | 'exactOutput'
  /** What goes in, or what is to come out; above zero. */
  readonly amount: bigint
}

/** `quoteExactInputSingle((address,address,uint256,uint24,uint160))` and its exact-output twin. */
const selectors = { exactInput: '0xc6a5026a', exactOutput: '0xbd21704a' } as const
const noPriceLimit = 0n
const what = 'QuoterV2'

export function quoterRequest(args: {
  readonly quoterV2: Hex
  readonly pool: Pick<PoolConfig, 'token0' | 'token1' | 'feePips'>
  readonly question: SwapQuestion
  readonly block: BlockReference
}): RpcCall {
  const { pool, question, quoterV2, block } = args
  const [tokenIn, tokenOut] = question.zeroForOne ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  const words = [
    addressWord(tokenIn),
    addressWord(tokenOut),
    uintWord(question.amount),
    uintWord(BigInt(pool.feePips)),
    uintWord(noPriceLimit),
  ]
  const data = `${selectors[question.trade]}${words.join('')}`
  return { method: 'eth_call', params: [{ to: quoterV2, data }, blockParameter(block)] }
}

/**
 * @returns undefined when the quoter reverted: the pool cannot make this swap
 * @throws UpstreamUnavailableError on any other failure
 */
export function parseQuoterAnswer(
  chainId: string,
  { trade, amount }: SwapQuestion,
  answer: RpcAnswer | undefined,
): PoolQuote | undefined {
  if (answer?.ok === false && isRevert(answer)) return undefined
  const reader = readAbi(parseBytes(resultOf(chainId, answer), what), what)
  const [counted, sqrtPriceX96After] = [reader.uint(0), reader.uint(32)]
  return {
    amountIn: trade === 'exactInput' ? amount : counted,
    amountOut: trade === 'exactInput' ? counted : amount,
    sqrtPriceX96After,
    initializedTicksCrossed: Number(BigInt.asUintN(32, reader.uint(64))),
    exhausted: sqrtPriceX96After === minSqrtPriceX96 + 1n || sqrtPriceX96After === maxSqrtPriceX96 - 1n,
  }
}

/**
 * Asks the chain's own quoter, by one `eth_call`: what a pool is priced by while it is not mirrored.
 * With `exhausted`, `amountIn` is what was asked, not the part that would be taken: the quoter does not
 * say it. Its `initializedTicksCrossed` can differ by one from the mirror's at the ends of a swap.
 *
 * @returns undefined when the pool cannot make the swap: no liquidity, or not enough for an exact output
 * @throws UpstreamUnavailableError
 */
export async function quoteOnChain(
  client: BatchClient,
  args: {
    readonly quoterV2: Hex
    readonly pool: Pick<PoolConfig, 'token0' | 'token1' | 'feePips'>
    readonly question: SwapQuestion
    readonly block: BlockReference
  },
  options?: RpcOptions,
): Promise<PoolQuote | undefined> {
  const [answer] = await client.batch([quoterRequest(args)], options)
  return parseQuoterAnswer(client.chainId, args.question, answer)
}
