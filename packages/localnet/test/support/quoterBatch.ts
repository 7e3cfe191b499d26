import type { Hex } from '@causeway/core'
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { z } from 'zod'
import type { PoolDeployment } from '../../src/contracts/deployment.ts'
import { quoterV2Abi } from '../../src/uniswap/abis.ts'

export type SwapQuestion = {
  readonly kind: 'exactInput' | 'exactOutput'
  readonly zeroForOne: boolean
  readonly amount: bigint
}

/** The amount that was not asked for and the price afterwards, or what the call reverted with. */
export type QuoterAnswer =
  | { readonly reverted: false; readonly amount: bigint; readonly sqrtPriceX96After: bigint }
  | { readonly reverted: true; readonly message: string }

const batchSchema = z.array(
  z.object({
    id: z.number(),
    result: z.templateLiteral(['0x', z.string()]).optional(),
    error: z.object({ message: z.string() }).optional(),
  }),
)
const callsPerRequest = 500

/** Asks QuoterV2 at the latest block, several hundred questions in one HTTP request. */
export async function askQuoter(
  { url, quoterV2, pool }: { readonly url: string; readonly quoterV2: Hex; readonly pool: PoolDeployment },
  questions: readonly SwapQuestion[],
): Promise<readonly QuoterAnswer[]> {
  const answers: QuoterAnswer[] = []
  for (let first = 0; first < questions.length; first += callsPerRequest) {
    const part = questions.slice(first, first + callsPerRequest)
    const body = part.map((question, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_call',
      params: [{ to: quoterV2, data: encodeQuestion(pool, question) }, 'latest'],
    }))
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const byId = new Map(batchSchema.parse(await response.json()).map((answer) => [answer.id, answer]))
    part.forEach((question, id) => {
      const { result, error } = byId.get(id) ?? {}
      answers.push(
        result === undefined
          ? { reverted: true, message: error?.message ?? 'no answer' }
          : decodeAnswer(question, result),
      )
    })
  }
  return answers
}

export function encodeQuestion(pool: PoolDeployment, { kind, zeroForOne, amount }: SwapQuestion): Hex {
  const [tokenIn, tokenOut] = zeroForOne ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  const common = { tokenIn, tokenOut, fee: pool.feePips, sqrtPriceLimitX96: 0n }
  return kind === 'exactInput'
    ? encodeFunctionData({
        abi: quoterV2Abi,
        functionName: 'quoteExactInputSingle',
        args: [{ ...common, amountIn: amount }],
      })
    : encodeFunctionData({
        abi: quoterV2Abi,
        functionName: 'quoteExactOutputSingle',
        args: [{ ...common, amount }],
      })
}

export function decodeAnswer({ kind }: SwapQuestion, data: Hex): QuoterAnswer {
  const abi = quoterV2Abi
  const [amount, sqrtPriceX96After] =
    kind === 'exactInput'
      ? decodeFunctionResult({ abi, functionName: 'quoteExactInputSingle', data })
      : decodeFunctionResult({ abi, functionName: 'quoteExactOutputSingle', data })
  return { reverted: false, amount, sqrtPriceX96After }
}
