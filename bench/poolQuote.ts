// P4: a pool quote in process against one eth_call to QuoterV2, on the same swaps of the same pool.
import { Agent, request } from 'node:http'
import type { PoolState } from '@causeway/core'
import { startPoolTestbed } from '@causeway/localnet'
import { z } from 'zod'
import { hugeAmount, quote } from '../packages/localnet/test/support/quoteComparison.ts'
import { openQuotedPool, readPoolState } from '../packages/localnet/test/support/quotedPool.ts'
import {
  decodeAnswer,
  encodeQuestion,
  type SwapQuestion,
} from '../packages/localnet/test/support/quoterBatch.ts'
import { createRandom, type Random } from '../packages/localnet/test/support/random.ts'
import type { BenchRow } from './row.ts'

const answerSchema = z.object({ result: z.templateLiteral(['0x', z.string()]) })
const rounds = 5
const questionCount = 200
const quotesPerRound = 20_000
const goal = 0.05
const pool = {
  name: 'BENCH',
  feePips: 3_000,
  decimalsA: 18,
  decimalsB: 6,
  priceB: 3_000n,
  positions: 40,
  reach: 200,
  depth: 1_000n,
} as const

/** Median of alternating rounds on one node. @throws Error when any answer differs: speed alone is nothing */
export async function benchPoolQuote(): Promise<BenchRow> {
  const bed = await startPoolTestbed()
  const agent = new Agent({ keepAlive: true })
  try {
    const random = createRandom(4)
    const quoted = await openQuotedPool(bed, pool, random)
    const state = await readPoolState(bed, quoted)
    const questions = Array.from({ length: questionCount }, () => drawQuestion(state, random))
    const bodies = questions.map((question) =>
      callBody(bed.uniswap.quoterV2, encodeQuestion(quoted.pool, question)),
    )
    const call = (body: string) => post(bed.anvil.url, body, agent)
    await assertExact(state, questions, bodies, call)

    const inProcessUs: number[] = []
    const callUs: number[] = []
    for (let round = 0; round < rounds; round++) {
      inProcessUs.push(measureQuotes(state, questions))
      callUs.push(await measureCalls(bodies, call))
    }
    const [quoteUs, ethCallUs] = [median(inProcessUs), median(callUs)]
    return {
      id: 'P4',
      name: 'in-process pool quote against one eth_call to QuoterV2',
      value: `${quoteUs.toFixed(2)} µs against ${ethCallUs.toFixed(0)} µs, ${state.ticks.length} ticks, answers equal`,
      limit: `≤ ${goal}`,
      ratio: quoteUs / ethCallUs,
      goal,
      atLeast: false,
    }
  } finally {
    agent.destroy()
    await bed.anvil.stop()
  }
}

/** Swaps up to a twentieth of what the pool can take: some stay within a tick, some cross a few. */
function drawQuestion(state: PoolState, random: Random): SwapQuestion {
  const kind = random.unit() < 0.5 ? 'exactInput' : 'exactOutput'
  const zeroForOne = random.unit() < 0.5
  const most = quote(state, { kind, zeroForOne, amount: hugeAmount })
  const capacity = kind === 'exactInput' ? most.amountIn : most.amountOut
  return { kind, zeroForOne, amount: random.between(1n, capacity / 20n) }
}

async function assertExact(
  state: PoolState,
  questions: readonly SwapQuestion[],
  bodies: readonly string[],
  call: (body: string) => Promise<string>,
): Promise<void> {
  for (const [index, question] of questions.entries()) {
    const { result } = answerSchema.parse(JSON.parse(await call(bodies[index] ?? '')))
    const theirs = decodeAnswer(question, result)
    const ours = quote(state, question)
    const counted = question.kind === 'exactInput' ? ours.amountOut : ours.amountIn
    if (theirs.reverted || theirs.amount !== counted || theirs.sqrtPriceX96After !== ours.sqrtPriceX96After) {
      throw new Error(`the quoter and the in-process quote differ on question ${index}`)
    }
  }
}

function measureQuotes(state: PoolState, questions: readonly SwapQuestion[]): number {
  let crossed = 0
  const startedAt = process.hrtime.bigint()
  for (let count = 0; count < quotesPerRound; count++) {
    const question = questions[count % questions.length]
    if (question !== undefined) crossed += quote(state, question).initializedTicksCrossed
  }
  const elapsed = microseconds(startedAt)
  if (crossed === 0) throw new Error('no question crosses a tick')
  return elapsed / quotesPerRound
}

async function measureCalls(
  bodies: readonly string[],
  call: (body: string) => Promise<string>,
): Promise<number> {
  const startedAt = process.hrtime.bigint()
  for (const body of bodies) await call(body)
  return microseconds(startedAt) / bodies.length
}

function microseconds(startedAt: bigint): number {
  return Number(process.hrtime.bigint() - startedAt) / 1_000
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function callBody(to: string, data: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to, data }, 'latest'] })
}

/** One request on a kept connection, without a client library: the cheapest call there is. */
function post(url: string, body: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => resolve(Buffer.concat(chunks).toString()))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
