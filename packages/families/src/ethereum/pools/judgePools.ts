import {
  type Hex,
  maxBigint,
  type PoolQuote,
  type PoolState,
  quoteExactInput,
  quoteExactOutput,
} from '@causeway/core'
import type { AgreedClient } from '../agreement/agreedTransport.ts'
import { chunks } from './chunks.ts'
import { quoteOnChain, type SwapQuestion } from './quoterV2.ts'

export type PoolMismatch = {
  readonly pool: Hex
  readonly question: SwapQuestion
  readonly inProcess: PoolQuote
  /** `undefined`: the quoter reverted. */
  readonly onChain: PoolQuote | undefined
}

const questionsPerBatch = 100

/**
 * Compares the mirrored states with QuoterV2 on a few swaps each, at the states' own block.
 * @returns where they differ; empty when every answer agrees to the last unit
 * @throws UpstreamUnavailableError when a question was not answered: nothing is known then
 */
export async function judgePools(
  client: AgreedClient,
  args: { readonly quoterV2: Hex; readonly states: readonly PoolState[] },
): Promise<readonly PoolMismatch[]> {
  const cases = args.states.flatMap((state) =>
    sampleQuestions(state).map((question) => ({ state, question })),
  )
  const answers: (PoolQuote | undefined)[] = []
  for (const part of chunks(cases, questionsPerBatch)) {
    const quotes = part.map(({ state, question }) =>
      quoteOnChain(client, { quoterV2: args.quoterV2, pool: state, question, blockHash: state.blockHash }),
    )
    answers.push(...(await Promise.all(quotes)))
  }
  return cases.flatMap(({ state, question }, index) => {
    const onChain = answers[index]
    const inProcess = quoteInProcess(state, question)
    return agrees(question, inProcess, onChain) ? [] : [{ pool: state.address, question, inProcess, onChain }]
  })
}

/** Both directions and both trades, once within the current price and once some percent away from it. */
export function sampleQuestions(state: PoolState): readonly SwapQuestion[] {
  return [14n, 5n].flatMap((shift) =>
    [true, false].flatMap((zeroForOne): readonly SwapQuestion[] => [
      { zeroForOne, trade: 'exactInput', amount: depth(state, zeroForOne, shift) },
      { zeroForOne, trade: 'exactOutput', amount: depth(state, !zeroForOne, shift) },
    ]),
  )
}

/** The amount of one token that moves the price by about 2^−shift of itself. */
function depth({ sqrtPriceX96, liquidity }: PoolState, ofToken0: boolean, shift: bigint): bigint {
  const virtual = ofToken0
    ? (liquidity << 96n) / maxBigint(sqrtPriceX96, 1n)
    : (liquidity * sqrtPriceX96) >> 96n
  return maxBigint(virtual >> shift, 1n)
}

function quoteInProcess(state: PoolState, { zeroForOne, trade, amount }: SwapQuestion): PoolQuote {
  return trade === 'exactInput'
    ? quoteExactInput(state, zeroForOne, amount)
    : quoteExactOutput(state, zeroForOne, amount)
}

/** The quoter reverts where an exact output cannot be given, or nothing at all can be. */
function agrees({ trade }: SwapQuestion, inProcess: PoolQuote, onChain: PoolQuote | undefined): boolean {
  if (onChain === undefined) return inProcess.exhausted
  if (inProcess.sqrtPriceX96After !== onChain.sqrtPriceX96After) return false
  return trade === 'exactInput'
    ? inProcess.amountOut === onChain.amountOut
    : !inProcess.exhausted && inProcess.amountIn === onChain.amountIn
}
