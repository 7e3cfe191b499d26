import { isDeepStrictEqual } from 'node:util'
import { type PoolQuote, type PoolState, quoteExactInput, quoteExactOutput } from '@causeway/core'
import type { PoolTestbed } from '../../src/index.ts'
import type { QuotedPool } from './quotedPool.ts'
import { askQuoter, type SwapQuestion } from './quoterBatch.ts'
import type { Random } from './random.ts'

export const hugeAmount = 2n ** 128n

export type Tally = {
  compared: number
  crossing: number
  exhausted: number
  readonly mismatches: unknown[]
}

export function newTally(): Tally {
  return { compared: 0, crossing: 0, exhausted: 0, mismatches: [] }
}

export function quote(state: PoolState, { kind, zeroForOne, amount }: SwapQuestion): PoolQuote {
  return kind === 'exactInput'
    ? quoteExactInput(state, zeroForOne, amount)
    : quoteExactOutput(state, zeroForOne, amount)
}

/** One swap in ten asks too much, half move within the pool's depth, the rest go down to single units. */
export function drawQuestion(state: PoolState, random: Random, direction?: boolean): SwapQuestion {
  const kind = random.unit() < 0.5 ? 'exactInput' : 'exactOutput'
  const zeroForOne = direction ?? random.unit() < 0.5
  const most = quote(state, { kind, zeroForOne, amount: hugeAmount })
  const capacity = kind === 'exactInput' ? most.amountIn : most.amountOut
  const draw = random.unit()
  const amount =
    draw < 0.1
      ? random.magnitude(capacity + 1n, hugeAmount)
      : draw < 0.6
        ? random.between(1n, capacity)
        : random.magnitude(1n, capacity)
  return { kind, zeroForOne, amount }
}

/**
 * Compares our quotes with QuoterV2's and counts into the tally. The quoter answers an exact input that
 * is too large with what the pool gives for a part of it, and reverts on an exact output that is too large.
 */
export async function compareWithQuoter(
  { anvil, uniswap }: PoolTestbed,
  { pool }: QuotedPool,
  state: PoolState,
  questions: readonly SwapQuestion[],
  tally: Tally,
): Promise<void> {
  const answers = await askQuoter({ url: anvil.url, quoterV2: uniswap.quoterV2, pool }, questions)
  questions.forEach((question, index) => {
    const answer = answers[index]
    const ours = quote(state, question)
    tally.compared++
    if (ours.initializedTicksCrossed > 0) tally.crossing++
    if (ours.exhausted) tally.exhausted++
    const expected =
      question.kind === 'exactOutput' && ours.exhausted
        ? { reverted: true, message: 'execution reverted: Unexpected error' }
        : {
            reverted: false,
            amount: question.kind === 'exactInput' ? ours.amountOut : ours.amountIn,
            sqrtPriceX96After: ours.sqrtPriceX96After,
          }
    if (!isDeepStrictEqual(answer, expected)) {
      tally.mismatches.push({ feePips: state.feePips, question, expected, answer })
    }
  })
}
