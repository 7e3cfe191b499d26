// Goal: an in-process quote equals what the real contracts say, to the last unit, whatever the swap.
// Method: random pools and random swaps on a real node, each compared with QuoterV2's answer; real swaps
// in between move the pools and prove the amounts taken. Shares of hard cases are asserted, so the sample
// cannot go soft. CAUSEWAY_SEED and CAUSEWAY_QUOTE_SAMPLES change the sample.
import {
  maxSqrtPriceX96,
  minSqrtPriceX96,
  type PoolState,
  quoteExactInput,
  sqrtPriceX96AtTick,
} from '@causeway/core'
import { erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintPositions, type PoolTestbed, startPoolTestbed, swapExactInput } from '../src/index.ts'
import { compareWithQuoter, drawQuestion, hugeAmount, newTally, quote } from './support/quoteComparison.ts'
import { openQuotedPool, type PoolShape, type QuotedPool, readPoolState } from './support/quotedPool.ts'
import { askQuoter } from './support/quoterBatch.ts'
import { createRandom, type Random } from './support/random.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const samples = Number(process.env['CAUSEWAY_QUOTE_SAMPLES'] ?? (isLongForm ? 10_000 : 2_000))
const seed = Number(process.env['CAUSEWAY_SEED'] ?? 20_251_121)
const roundsPerPool = 5

const shapes: readonly PoolShape[] = [
  {
    name: 'STABLE',
    feePips: 100,
    decimalsA: 6,
    decimalsB: 6,
    priceB: 1n,
    positions: 40,
    reach: 1_500,
    depth: 10n ** 6n,
  },
  {
    name: 'MAJOR',
    feePips: 500,
    decimalsA: 18,
    decimalsB: 6,
    priceB: 3_000n,
    positions: 45,
    reach: 900,
    depth: 100n,
  },
  {
    name: 'TAIL',
    feePips: 3_000,
    decimalsA: 18,
    decimalsB: 18,
    priceB: 7n,
    positions: 40,
    reach: 500,
    depth: 10n ** 4n,
  },
  {
    name: 'UNEVEN',
    feePips: 10_000,
    decimalsA: 0,
    decimalsB: 24,
    priceB: 2n,
    positions: 40,
    reach: 300,
    depth: 10n ** 5n,
  },
]

let bed: PoolTestbed
let random: Random
let pools: readonly QuotedPool[]

beforeAll(async () => {
  random = createRandom(seed)
  // Running a pool with tick spacing 1 to its end takes more gas than a block usually has.
  bed = await startPoolTestbed({ args: ['--gas-limit', '1000000000'] })
  const opened: QuotedPool[] = []
  for (const shape of shapes) opened.push(await openQuotedPool(bed, shape, random))
  pools = opened
})

afterAll(() => bed?.anvil.stop())

/** Moves the pool by a real swap and checks what it took and gave. */
async function swapForReal(quoted: QuotedPool, state: PoolState, amountIn: bigint, zeroForOne: boolean) {
  const { pool } = quoted
  const owner = bed.walletClient.account.address
  const balance = (address: PoolState['address']) =>
    bed.publicClient.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
  const [tokenIn, tokenOut] = zeroForOne ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  const before = [await balance(tokenIn), await balance(tokenOut)] as const
  await swapExactInput({ ...bed, pool, zeroForOne, amountIn })
  const after = [await balance(tokenIn), await balance(tokenOut)] as const
  const expected = quoteExactInput(state, zeroForOne, amountIn)
  expect({ taken: before[0] - after[0], given: after[1] - before[1] }).toEqual({
    taken: expected.amountIn,
    given: expected.amountOut,
  })
  const moved = await readPoolState(bed, quoted)
  expect(moved.sqrtPriceX96).toBe(expected.sqrtPriceX96After)
  return moved
}

describe('in-process quotes against QuoterV2', () => {
  it(`agree on ${samples} random swaps over four pools (seed ${seed})`, async () => {
    const tally = newTally()
    const perRound = Math.ceil(samples / pools.length / roundsPerPool)
    let mostTicks = 0
    for (const quoted of pools) {
      let state = await readPoolState(bed, quoted)
      mostTicks = Math.max(mostTicks, state.ticks.length)
      for (let round = 0; round < roundsPerPool; round++) {
        await compareWithQuoter(
          bed,
          quoted,
          state,
          Array.from({ length: perRound }, () => drawQuestion(state, random)),
          tally,
        )
        const zeroForOne = random.unit() < 0.5
        const depth = quoteExactInput(state, zeroForOne, hugeAmount).amountIn
        state = await swapForReal(quoted, state, random.between(1n, depth / 3n + 1n), zeroForOne)
      }
    }
    expect(tally.mismatches).toEqual([])
    expect(tally.compared).toBeGreaterThanOrEqual(samples)
    expect(tally.crossing / tally.compared).toBeGreaterThanOrEqual(0.4)
    expect(tally.exhausted / tally.compared).toBeGreaterThanOrEqual(0.05)
    expect(mostTicks).toBeGreaterThanOrEqual(60)
  })
})

describe('a quote at an awkward price', () => {
  const compareAsItStands = async (quoted: QuotedPool, count: number) => {
    const tally = newTally()
    const state = await readPoolState(bed, quoted)
    await compareWithQuoter(
      bed,
      quoted,
      state,
      Array.from({ length: count }, () => drawQuestion(state, random)),
      tally,
    )
    expect(tally.mismatches).toEqual([])
    return { state, tally }
  }
  const driveTo = async (quoted: QuotedPool, tick: number) => {
    const { sqrtPriceX96 } = await readPoolState(bed, quoted)
    const limit = sqrtPriceX96AtTick(tick)
    await swapExactInput({
      ...bed,
      pool: quoted.pool,
      zeroForOne: limit < sqrtPriceX96,
      amountIn: hugeAmount,
      sqrtPriceLimitX96: limit,
    })
  }

  it('agrees where the price stands exactly on an initialised tick, reached from above and from below', async () => {
    for (const quoted of pools) {
      const { boundaries, pool } = quoted
      const [low, middle, high] = [0.3, 0.5, 0.7].map(
        (share) => boundaries[Math.floor(boundaries.length * share)],
      )
      if (low === undefined || middle === undefined || high === undefined) throw new Error('too few ticks')
      for (const [from, below] of [
        [high, -1],
        [low, 0],
      ] as const) {
        await driveTo(quoted, from)
        await driveTo(quoted, middle)
        const { state } = await compareAsItStands(quoted, 100)
        // Crossing downwards leaves the pool one tick below the price it stands on.
        expect(state).toMatchObject({
          sqrtPriceX96: sqrtPriceX96AtTick(middle),
          tick: middle + below,
          feePips: pool.feePips,
        })
      }
    }
  })

  it('agrees in a gap without liquidity and gives nothing past the last tick', async () => {
    const shape: PoolShape = {
      name: 'GAP',
      feePips: 3_000,
      decimalsA: 18,
      decimalsB: 18,
      priceB: 1n,
      positions: 0,
      reach: 1,
      depth: 1n,
    }
    const quoted = await openQuotedPool(bed, shape, random)
    const none = await readPoolState(bed, quoted)
    expect(quoteExactInput(none, true, 1_000n)).toEqual({
      amountIn: 0n,
      amountOut: 0n,
      sqrtPriceX96After: minSqrtPriceX96 + 1n,
      initializedTicksCrossed: 0,
      exhausted: true,
    })
    const amounts = { amount0: 10n ** 24n, amount1: 10n ** 24n }
    const positions = [
      { tickLower: -36_000, tickUpper: -24_000, ...amounts },
      { tickLower: 24_000, tickUpper: 60_000, ...amounts },
    ]
    await mintPositions({ ...bed, pool: quoted.pool, positions })
    const filled = { pool: quoted.pool, boundaries: [-36_000, -24_000, 24_000, 60_000] }
    const { state, tally } = await compareAsItStands(filled, 200)
    expect(state.liquidity).toBe(0n)
    expect(tally.crossing).toBeGreaterThan(100)

    await swapExactInput({ ...bed, pool: quoted.pool, zeroForOne: false, amountIn: hugeAmount })
    const end = await readPoolState(bed, filled)
    expect(end.sqrtPriceX96).toBe(maxSqrtPriceX96 - 1n)
    const { url } = bed.anvil
    const upwards = { kind: 'exactInput', zeroForOne: false, amount: 1n } as const
    const [answer] = await askQuoter({ url, quoterV2: bed.uniswap.quoterV2, pool: quoted.pool }, [upwards])
    expect(answer).toEqual({ reverted: true, message: 'execution reverted: SPL' })
    expect(quote(end, upwards)).toMatchObject({ amountIn: 0n, amountOut: 0n, exhausted: true })
    const back = Array.from({ length: 50 }, () => drawQuestion(end, random, true))
    const backTally = newTally()
    await compareWithQuoter(bed, filled, end, back, backTally)
    expect(backTally.mismatches).toEqual([])
  })
})
