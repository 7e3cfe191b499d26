// Goal: whatever a minority of endpoints says, and however fast, the market is what the honest ones say, to
// the last member, and nothing that they can price is refused. Method: a real node's chain, recorded, told
// by three or five HTTP endpoints of which some lie; the truth is what an honest one alone gives.
// CAUSEWAY_FAULTS=1 runs the long form.

import { DomainError } from '@causeway/core'
import { contractChain, leastBetweenReadsMs } from '@causeway/core/config'
import { createPoolMirror } from '@causeway/families'
import { movePrice, setBaseFee, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainReading } from '../src/chain/chainReading.ts'
import { createChainSource } from '../src/chain/chainSource.ts'
import { type ChainPlan, planMarket } from '../src/plan.ts'
import { readLocalQuoteFile } from './support/liveMarket.ts'
import { type Lie, randomLie } from './support/randomLies.ts'
import { type NodeCall, recordChain } from './support/recordedChain.ts'
import { startTellingEndpoint, type TellingEndpoint } from './support/tellingEndpoint.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const liesPerSetting = isLongForm ? 3_334 : 100
/** Only ends a test that would hang. */
const budgetMs = 30_000
/** A liar that hangs while the honest lie apart is waited for so long; what is then read is nothing new. */
const apartBudgetMs = 500

let network: TestNetwork
let endpoints: readonly TellingEndpoint[]
let plan: ChainPlan
/** Two heights of the chain between which feeds, pools and the base fee move. */
let heights: readonly [bigint, bigint]
let truth: readonly [ChainReading, ChainReading]

beforeAll(async () => {
  network = await startTestNetwork()
  const { chain, url } = network.chains.base
  const recorded = recordChain(url)
  endpoints = await Promise.all([1, 2, 3, 4, 5].map(() => startTellingEndpoint(recorded)))
  const [base] = planMarket(await readLocalQuoteFile(network)).chains
  if (base?.chainKey !== 'base') throw new Error('base is not planned first')
  // A pool of spacing 1 or 10 has thousands of words of ticks, which are read no differently.
  plan = { ...base, pools: base.pools.filter(({ tickSpacing }) => tickSpacing >= 60) }
  const honest = openSource({ count: 1 })
  const first = await chain.client.getBlockNumber({ cacheTime: 0 })
  heights = [first, first]
  // Recorded before the chain moves: this node tells the next base fee as of now.
  const before = await honest.readAt(first)
  await movePrice(network, { price: 'ETH/USD', answer: 2_600n * 10n ** 8n })
  await setBaseFee(chain, 3n * 10n ** 9n)
  heights = [first, await chain.client.getBlockNumber({ cacheTime: 0 })]
  truth = [before, await honest.readAt(heights[1])]
  await honest.close()
})
afterAll(async () => {
  await Promise.all((endpoints ?? []).map((endpoint) => endpoint.close()))
  await network?.stop()
})

type Setting = { readonly count: number; readonly threshold?: number; readonly liars?: number }

type Apart = {
  /** Number of honest endpoints still at `heightBehind`, by default the first of the two heights. */
  readonly behind?: number
  readonly heightBehind?: bigint
  /** Since the reading before; by default enough for the data fees to be due again. */
  readonly passMs?: number
}

/** A market's source of one chain, without a past. */
function openSource({ count, threshold, liars = 0 }: Setting) {
  const asked = endpoints.slice(0, count)
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: asked.map(({ url }) => ({ url })),
    timeoutMs: budgetMs,
    ...(threshold !== undefined && { threshold }),
  })
  const { multicall3, uniswapV3 } = contractChain(plan.config)
  let nowMs = 0
  const source = createChainSource({
    plan,
    client,
    fillWallet: network.keys.fillWallet.address,
    batchTimeoutMs: budgetMs,
    poolsTimeoutMs: budgetMs,
    now: () => nowMs,
    ...(uniswapV3 !== undefined && {
      mirrorOf: (agreed) => createPoolMirror({ ...uniswapV3, client: agreed, multicall3, pools: plan.pools }),
    }),
  })
  return {
    async readAt(
      height: bigint,
      lies: readonly Lie[] = [],
      { behind = 0, heightBehind = heights[0], passMs = 10_000 }: Apart = {},
    ): Promise<ChainReading> {
      const timeoutMs = behind === 0 ? budgetMs : apartBudgetMs
      nowMs += passMs
      for (const [index, endpoint] of asked.entries()) {
        const isLate = index >= liars && index < liars + behind
        const shown = isLate ? heightBehind : height
        // The liars are the fastest, unless their lie is to be late.
        endpoint.tell({ height: shown, lie: lies[index], ...(index >= liars && { delayMs: 1 }) })
      }
      return source.read(AbortSignal.timeout(timeoutMs))
    },
    close: () => client.close(),
  }
}

test('the truth moves between the two heights, in prices, pools and gas', () => {
  const [before, after] = truth
  expect(after.fees).not.toEqual(before.fees)
  expect(after.feeds).not.toEqual(before.feeds)
  expect(after.pools.length).toBe(plan.pools.length)
  expect(after.pools.map(({ sqrtPriceX96 }) => sqrtPriceX96)).not.toEqual(
    before.pools.map(({ sqrtPriceX96 }) => sqrtPriceX96),
  )
})

describe.each([
  { name: 'one of three', count: 3, liars: 1 },
  { name: 'one of five', count: 5, liars: 1 },
  { name: 'two of five with threshold three, that tell the same', count: 5, threshold: 3, liars: 2 },
])('$name', ({ name: _, ...setting }) => {
  test('moves nothing and stops nothing by random lies', {
    timeout: 60_000 + liesPerSetting * 2_000,
  }, async () => {
    for (let seed = 0; seed < liesPerSetting; seed += 1) await expectTruth(setting, seed)
  })
})

describe('a liar that shows the newest head and spoils its state', () => {
  const isHead = ({ method }: NodeCall) => method === 'eth_getBlockByNumber'
  const withholds = (answer: Lie['answer']): Lie => ({
    name: 'withholds state',
    delayMs: 0,
    answer: (calls, truth) => (calls.every(isHead) ? truth : answer(calls, truth)),
  })

  test.each([
    ['by errors', withholds((calls) => calls.map(() => ({ error: { code: -32_000, message: 'busy' } })))],
    ['by silence', withholds(() => undefined)],
    // Kind of lie that the long form found: two words of each answer change places, and feeds are disputed.
    ['by a dispute about feeds', withholds(randomLie(1_641).answer)],
  ])('%s stops nothing, while one of the honest is always a block behind', async (_name, lie) => {
    const source = openSource({ count: 3, liars: 1 })
    const read: bigint[] = []
    try {
      const steps = Array.from({ length: 6 }, (_, index) => heights[1] - 6n + BigInt(index))
      for (const height of steps) {
        // Sooner it would be the same as long as two blocks came at once.
        const apart = { behind: 1, heightBehind: height, passMs: leastBetweenReadsMs }
        const reading = await source.readAt(height + 1n, [lie], apart).catch(nothingNew)
        if (reading === undefined) continue
        read.push(reading.head.number - height)
        for (const { round } of reading.feeds.values()) expect(round).toBeDefined()
      }
    } finally {
      await source.close()
    }
    // Every second refresh at the latest, and what it reads is what the one behind shows.
    expect(read).toEqual([0n, 0n, 0n])
  })
})

async function expectTruth(setting: Setting & { readonly liars: number }, seed: number): Promise<void> {
  const { count, liars, threshold = Math.ceil((2 * count) / 3) } = setting
  const lies = Array.from({ length: liars }, () => randomLie(seed))
  const source = openSource(setting)
  const where = `lie ${seed}: ${lies[0]?.name}`
  try {
    expect(await source.readAt(heights[0], lies), where).toEqual(truth[0])
    if (seed % 3 === 0 && count - liars === threshold) {
      // Honest endpoints lie apart, so a liar can keep the newer height from being read; never change it.
      const apart = await source.readAt(heights[1], lies, { behind: 1 }).catch(nothingNew)
      if (apart !== undefined)
        expect(apart, where).toEqual(apart.head.number === heights[0] ? truth[0] : truth[1])
    }
    expect(await source.readAt(heights[1], lies), where).toEqual(truth[1])
  } catch (error) {
    throw new Error(where, { cause: error })
  } finally {
    await source.close()
  }
}

/** The market keeps what it has. */
function nothingNew(error: unknown): undefined {
  if (error instanceof DomainError) return undefined
  throw error
}
