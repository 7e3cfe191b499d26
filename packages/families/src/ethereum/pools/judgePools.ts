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

/** A swap that the mirrored pool and the chain's quoter price differently. */
export type PoolMismatch = {
  readonly pool: Hex
  readonly question: SwapQuestion
  readonly inProcess: PoolQuote
  /** `undefined`: the quoter reverted. */
  readonly onChain: PoolQuote | undefined
}

const questionsPerBatch = 100

/**
 * Prices a few swaps in each mirrored pool in process and by the chain's QuoterV2, at the states' own block.
 * @returns the swaps whose prices differ; empty if all agree to the last unit
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

/** Swaps in both directions and of both trade types: small ones near the current price, and ones that move it 6 %. */
export function sampleQuestions(state: PoolState): readonly SwapQuestion[] {
  // A shift of 14 moves the price by about 2 · 2^-14 (0.012 %), one of 5 by about 2 · 2^-5 (6 %).
  return [14n, 5n].flatMap((shift) =>
    // The amount is of the token that goes in for an exact input, and of the one that comes out for an exact output.
    [true, false].flatMap((zeroForOne): readonly SwapQuestion[] => [
      { zeroForOne, trade: 'exactInput', amount: amountForPriceMove(state, zeroForOne, shift) },
      { zeroForOne, trade: 'exactOutput', amount: amountForPriceMove(state, !zeroForOne, shift) },
    ]),
  )
}

/** The amount of one token whose swap moves the price's root by about 2^−shift of it, and the price by twice that. */
function amountForPriceMove(
  { sqrtPriceX96, liquidity }: PoolState,
  ofToken0: boolean,
  shift: bigint,
): bigint {
  const virtualReserve = ofToken0
    ? (liquidity << 96n) / maxBigint(sqrtPriceX96, 1n)
    : (liquidity * sqrtPriceX96) >> 96n
  return maxBigint(virtualReserve >> shift, 1n)
}

function quoteInProcess(state: PoolState, { zeroForOne, trade, amount }: SwapQuestion): PoolQuote {
  return trade === 'exactInput'
    ? quoteExactInput(state, zeroForOne, amount)
    : quoteExactOutput(state, zeroForOne, amount)
}

/** True if both agree. The quoter reverts if the pool cannot give an exact output, or nothing at all. */
function agrees({ trade }: SwapQuestion, inProcess: PoolQuote, onChain: PoolQuote | undefined): boolean {
  if (onChain === undefined) return inProcess.exhausted
  if (inProcess.sqrtPriceX96After !== onChain.sqrtPriceX96After) return false
  return trade === 'exactInput'
    ? inProcess.amountOut === onChain.amountOut
    : !inProcess.exhausted && inProcess.amountIn === onChain.amountIn
}
