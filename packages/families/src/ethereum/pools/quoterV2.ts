import { type Hex, maxSqrtPriceX96, minSqrtPriceX96, type PoolQuote } from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import { type AgreedClient, agreedCall } from '../agreement/agreedTransport.ts'
import { unlessMalformed } from '../contracts/abiReader.ts'
import { contractInterface } from '../rules/contractInterface.ts'

/** A swap in one pool that is to be priced. */
export type SwapQuestion = {
  /** True if token0 is sold for token1. */
  readonly zeroForOne: boolean
  readonly trade: 'exactInput' | 'exactOutput'
  /** Amount in of an exact-input trade, else the amount out; above zero. */
  readonly amount: bigint
}

const quoter = contractInterface([
  'struct Swap { address tokenIn; address tokenOut; uint256 amount; uint24 fee; uint160 sqrtPriceLimitX96; }',
  'function quoteExactInputSingle(Swap swap) returns (uint256 counted, uint160 sqrtPriceX96After, uint32 ticksCrossed)',
  'function quoteExactOutputSingle(Swap swap) returns (uint256 counted, uint160 sqrtPriceX96After, uint32 ticksCrossed)',
])
const functions = { exactInput: 'quoteExactInputSingle', exactOutput: 'quoteExactOutputSingle' } as const
/** Zero: the quoter then stops only beside the lowest or highest price, where a swap has exhausted the pool. */
const noPriceLimit = 0n

export type PoolQuoteRequest = {
  readonly quoterV2: Hex
  readonly pool: Pick<PoolConfig, 'token0' | 'token1' | 'feePips'>
  readonly question: SwapQuestion
  readonly blockHash: Hex
}

/**
 * Prices a swap by the chain's QuoterV2, in one `eth_call`. If the quote is `exhausted`, its `amountIn` is the amount
 * asked, not the part that the pool would take, which the quoter does not return. `initializedTicksCrossed` can differ
 * by one from that of a mirrored pool.
 *
 * @returns undefined when the pool cannot make the swap: no liquidity, or not enough for an exact output
 * @throws UpstreamUnavailableError, UpstreamDisagreementError
 * @source Uniswap V3 periphery, IQuoterV2
 */
export async function quoteOnChain(
  client: AgreedClient,
  request: PoolQuoteRequest,
): Promise<PoolQuote | undefined> {
  const { pool, question, quoterV2, blockHash } = request
  const { zeroForOne, trade, amount } = question
  const [tokenIn, tokenOut] = zeroForOne ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  const swap = { tokenIn, tokenOut, amount, fee: pool.feePips, sqrtPriceLimitX96: noPriceLimit }
  const data = await agreedCall(client, {
    to: quoterV2,
    data: quoter.encode(functions[trade], [swap]),
    blockHash,
  })
  return data === undefined ? undefined : readQuote(question, data)
}

function readQuote({ trade, amount }: SwapQuestion, data: Hex): PoolQuote {
  // The amount that was not asked: the output of an exact input, or the input of an exact output.
  const [otherAmount, sqrtPriceX96After, initializedTicksCrossed] = unlessMalformed('QuoterV2', () =>
    quoter.decode(functions[trade], data),
  )
  return {
    amountIn: trade === 'exactInput' ? amount : otherAmount,
    amountOut: trade === 'exactInput' ? otherAmount : amount,
    sqrtPriceX96After,
    initializedTicksCrossed,
    exhausted: sqrtPriceX96After === minSqrtPriceX96 + 1n || sqrtPriceX96After === maxSqrtPriceX96 - 1n,
  }
}
