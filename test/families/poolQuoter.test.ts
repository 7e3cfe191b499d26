// Goal: the on-chain quoter answers as a mirrored pool does, and the judge tells when they differ.
// Method: one real pool on a real node; states tampered with by hand.
import { type Hex, type PoolState, quoteExactInput, quoteExactOutput } from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import {
  createAgreedClient,
  createPoolMirror,
  judgePools,
  quoteOnChain,
  readHead,
  type SwapQuestion,
  sampleQuestions,
} from '@causeway/families'
import { createPool, mintPositions, swapExactInput } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EvmTestbed, startEvmTestbed } from './evmTestbed.ts'

let testbed: EvmTestbed
let pool: PoolConfig

beforeAll(async () => {
  testbed = await startEvmTestbed()
  const { bed } = testbed
  const [tokenA, tokenB] = [
    await bed.deployToken({ symbol: 'QA', decimals: 18 }),
    await bed.deployToken({ symbol: 'QB', decimals: 18 }),
  ]
  const price = { amountA: 1n, amountB: 1n }
  pool = await createPool({ ...bed, tokenA, tokenB, feePips: 3_000, price })
  const amounts = { amount0: 10n ** 24n, amount1: 10n ** 24n }
  const positions = [
    { tickLower: -12_000, tickUpper: 12_000, ...amounts },
    { tickLower: -120, tickUpper: 60, amount0: 10n ** 22n, amount1: 10n ** 22n },
  ]
  await mintPositions({ ...bed, pool, positions })
})

afterAll(() => testbed?.stop())

async function mirrored(): Promise<PoolState> {
  const client = testbed.client()
  const { multicall3, uniswap } = testbed.bed
  const mirror = createPoolMirror({
    client: createAgreedClient(client),
    multicall3,
    ...uniswap,
    pools: [pool],
  })
  const [state] = await mirror.refresh(await readHead(client))
  if (state === undefined) throw new Error('the pool is not mirrored')
  return state
}

const askAt = (blockHash: Hex, question: SwapQuestion) =>
  quoteOnChain(createAgreedClient(testbed.client()), {
    quoterV2: testbed.bed.uniswap.quoterV2,
    pool,
    question,
    blockHash,
  })
const ask = async (question: SwapQuestion) => askAt((await readHead(testbed.client())).hash, question)

const inProcess = (state: PoolState, { zeroForOne, trade, amount }: SwapQuestion) =>
  trade === 'exactInput'
    ? quoteExactInput(state, zeroForOne, amount)
    : quoteExactOutput(state, zeroForOne, amount)

/** One unit more or less in one 32-byte word of return data. */
function withLastBitFlipped(data: string, word: number): string {
  const at = 2 + 64 * (word + 1) - 1
  return `${data.slice(0, at)}${(Number.parseInt(data.charAt(at), 16) ^ 1).toString(16)}${data.slice(at + 1)}`
}

describe('quoteOnChain', () => {
  it('gives what the mirror gives, by one call', async () => {
    const state = await mirrored()
    for (const question of sampleQuestions(state)) {
      testbed.proxy.resetCounters()
      const { amountIn, amountOut, sqrtPriceX96After, exhausted } = inProcess(state, question)
      expect(await askAt(state.blockHash, question)).toMatchObject({
        amountIn,
        amountOut,
        sqrtPriceX96After,
        exhausted,
      })
      expect(testbed.proxy.counters()).toMatchObject({ requests: 1, callsByMethod: { eth_call: 1 } })
    }
  })

  it('answers as of the block it is asked for', async () => {
    const before = await mirrored()
    const question = { zeroForOne: true, trade: 'exactInput', amount: 10n ** 21n } as const
    const then = await ask(question)
    await swapExactInput({ ...testbed.bed, pool, zeroForOne: true, amountIn: 10n ** 22n })
    expect(await askAt(before.blockHash, question)).toEqual(then)
    expect((await ask(question))?.amountOut).toBeLessThan(then?.amountOut ?? 0n)
  })

  it('says that an input was too large, and undefined for an output that is', async () => {
    const amount = 10n ** 30n
    const state = await mirrored()
    for (const zeroForOne of [true, false]) {
      const { amountOut } = quoteExactInput(state, zeroForOne, amount)
      expect(await ask({ zeroForOne, trade: 'exactInput', amount })).toMatchObject({
        amountOut,
        exhausted: true,
      })
      expect(await ask({ zeroForOne, trade: 'exactOutput', amount })).toBeUndefined()
    }
  })

  it('refuses with a typed error when the node cannot tell', async () => {
    const question = { zeroForOne: true, trade: 'exactInput', amount: 1n } as const
    const unknown = `0x${'ab'.repeat(32)}` as const
    await expect(askAt(unknown, question)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
    const { hash } = await readHead(testbed.client())
    await testbed.proxy.set({ kind: 'lie', rewrite: () => '0x00' })
    await expect(askAt(hash, question)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
    await testbed.proxy.set({ kind: 'pass' })
  })
})

describe('judgePools', () => {
  const judge = (states: readonly PoolState[]) =>
    judgePools(createAgreedClient(testbed.client()), { quoterV2: testbed.bed.uniswap.quoterV2, states })

  it('finds nothing to say about a true state', async () => {
    const state = await mirrored()
    expect(await judge([state, state])).toEqual([])
    expect(await judge([])).toEqual([])
  })

  it('holds each word of an answer against the mirror', async () => {
    const state = await mirrored()
    for (const word of [0, 1]) {
      await testbed.proxy.set({
        kind: 'lie',
        rewrite: (_, result) => withLastBitFlipped(String(result), word),
      })
      expect(await judge([state])).toHaveLength(sampleQuestions(state).length)
    }
    await testbed.proxy.set({ kind: 'pass' })
  })

  it('names the pool and the swap where a state differs, however little', async () => {
    const state = await mirrored()
    const wrong: readonly PoolState[] = [
      { ...state, sqrtPriceX96: state.sqrtPriceX96 + 1n },
      { ...state, liquidity: state.liquidity + 10n ** 12n },
      { ...state, ticks: state.ticks.filter(({ index }) => index !== -120) },
      { ...state, ticks: [] },
    ]
    for (const tampered of wrong) {
      const mismatches = await judge([tampered])
      expect(mismatches.length).toBeGreaterThan(0)
      expect(new Set(mismatches.map((mismatch) => mismatch.pool))).toEqual(new Set([pool.address]))
    }
  })
})
