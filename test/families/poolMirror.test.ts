// Goal: a mirrored pool is the real pool, whatever happens on the chain and to the endpoint.
// Method: real pools on a real node behind a counting proxy that can lie. After every event the mirror's
// states are compared with a mirror that reads everything anew, and with QuoterV2 at the same block.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex, PoolState } from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import {
  type ChainHead,
  createAgreedClient,
  createPoolMirror,
  judgePools,
  type PoolMirrorOptions,
  readHead,
} from '@causeway/families'
import {
  burnLiquidity,
  createPool,
  mintPositions,
  type Position,
  startAnvil,
  startPoolTestbed,
  swapExactInput,
} from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { parseAbi, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type EvmTestbed, startEvmTestbed } from './evmTestbed.ts'

const factoryAbi = parseAbi([
  'function createPool(address tokenA, address tokenB, uint24 fee) returns (address)',
  'function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)',
])

let testbed: EvmTestbed
let pools: readonly PoolConfig[]
let first: PoolConfig
let second: PoolConfig
const amounts = { amount0: 10n ** 24n, amount1: 10n ** 24n }

beforeAll(async () => {
  testbed = await startEvmTestbed()
  const { bed } = testbed
  const [a, b, c] = [
    await bed.deployToken({ symbol: 'MA', decimals: 18 }),
    await bed.deployToken({ symbol: 'MB', decimals: 18 }),
    await bed.deployToken({ symbol: 'MC', decimals: 18 }),
  ]
  const price = { amountA: 1n, amountB: 1n }
  first = await createPool({ ...bed, tokenA: a, tokenB: b, feePips: 500, price })
  second = await createPool({ ...bed, tokenA: b, tokenB: c, feePips: 3_000, price })
  pools = [first, second]
  await mint(first, [
    [-887_270, 887_270],
    [-1_000, 1_000],
    [-200, 30],
    [500, 4_000],
  ])
  await mint(second, [
    [-60_000, 60_000],
    [-600, 120],
  ])
  // The approvals that go with first swaps would be blocks of their own.
  for (const pool of pools) for (const zeroForOne of [true, false]) await swap(pool, zeroForOne, 1_000n)
})

afterAll(() => testbed?.stop())

beforeEach(async () => {
  await testbed.proxy.set({ kind: 'pass' })
})

const mint = async (pool: PoolConfig, ranges: readonly (readonly [number, number])[]) =>
  mintPositions({
    ...testbed.bed,
    pool,
    positions: ranges.map(([tickLower, tickUpper]): Position => ({ tickLower, tickUpper, ...amounts })),
  })
const swap = (pool: PoolConfig, zeroForOne: boolean, amountIn: bigint) =>
  swapExactInput({ ...testbed.bed, pool, zeroForOne, amountIn })
const mine = (blocks: number) => testbed.node({ method: 'anvil_mine', params: [blocks] })

/** A mirror through the proxy; it judges on demand only, so that calls can be counted. */
function startMirror({ timeoutMs, ...overrides }: Partial<PoolMirrorOptions> & { timeoutMs?: number } = {}) {
  const { bed } = testbed
  const client = testbed.client()
  const agreed = createAgreedClient(client, { timeoutMs })
  const { factory, quoterV2 } = bed.uniswap
  const { multicall3 } = bed
  const mirror = createPoolMirror({
    client: agreed,
    multicall3,
    factory,
    quoterV2,
    pools,
    judgeEveryHeads: 1_000_000,
    ...overrides,
  })
  return { mirror, agreed, head: () => readHead(client) }
}

/** The states that a mirror without history reads; they agree with QuoterV2. */
async function readAnew(head: ChainHead, ofPools = pools): Promise<readonly PoolState[]> {
  const { mirror, agreed } = startMirror({ pools: ofPools })
  const states = await mirror.refresh(head)
  expect(states.length).toBe(ofPools.length)
  expect(await judgePools(agreed, { quoterV2: testbed.bed.uniswap.quoterV2, states })).toEqual([])
  return states
}

/** Runs a refresh and counts its HTTP requests. */
async function counted(refresh: () => Promise<readonly PoolState[]>) {
  testbed.proxy.resetCounters()
  const states = await refresh()
  return { states, requests: testbed.proxy.counters().requests }
}

describe('a mirror that follows the chain', () => {
  it('reads a pool with its whole bitmap, and again nothing while the head stands', async () => {
    const { mirror, head } = startMirror()
    const at = await head()
    const states = await mirror.refresh(at)
    expect(states.map(({ address, blockHash }) => ({ address, blockHash }))).toEqual(
      pools.map(({ address }) => ({ address, blockHash: at.hash })),
    )
    expect(states[0]?.ticks.map(({ index }) => index)).toEqual([
      -887_270, -1_000, -200, 30, 500, 1_000, 4_000, 887_270,
    ])
    expect(await readAnew(at)).toEqual(states)
    const again = await counted(() => mirror.refresh(at))
    expect(again.requests).toBe(0)
    expect(again.states).toBe(states)
  })

  it('takes one request for a next block, quiet or with swaps, mints and burns', async () => {
    const { mirror, head } = startMirror()
    await mirror.refresh(await head())
    const [position] = await mint(first, [[-50, 70]])
    const minted = await counted(async () => mirror.refresh(await head()))
    expect(minted.states[0]?.ticks.map(({ index }) => index)).toContain(-50)
    const { tokenId, liquidity } = position ?? { tokenId: 0n, liquidity: 0n }
    const events: readonly (() => Promise<unknown>)[] = [
      () => mine(1),
      () => swap(first, true, 10n ** 22n),
      () => swap(second, false, 10n ** 23n),
      () => mint(second, [[-120, 240]]),
      () => burnLiquidity({ ...testbed.bed, tokenId, liquidity: liquidity / 2n }),
      () => burnLiquidity({ ...testbed.bed, tokenId, liquidity: liquidity - liquidity / 2n }),
      () => swap(first, false, 10n ** 24n),
    ]
    for (const event of events) {
      await mirror.refresh(await head())
      await event()
      const at = await head()
      const { states, requests } = await counted(() => mirror.refresh(at))
      expect(requests).toBe(1)
      expect(states).toEqual(await readAnew(at))
    }
    // The burnt position's bounds are initialised no more.
    const [state] = await mirror.refresh(await head())
    expect(state?.ticks.map(({ index }) => index)).not.toContain(-50)
  })

  it('F-121: catches up on many missed blocks by one request of four calls, and reads all anew after too many', async () => {
    const { mirror, head } = startMirror()
    await mirror.refresh(await head())
    await mint(first, [[-90, 40]])
    await mine(40)
    await mint(second, [[-180, 300]])
    await swap(first, true, 10n ** 23n)
    const few = await head()
    const caughtUp = await counted(() => mirror.refresh(few))
    expect(caughtUp.requests).toBe(1)
    expect(testbed.proxy.counters().callsByMethod).toEqual({
      eth_getBlockByNumber: 2,
      eth_call: 1,
      eth_getLogs: 1,
    })
    expect(caughtUp.states).toEqual(await readAnew(few))

    await mint(first, [[-70, 20]])
    await mine(300)
    const many = await head()
    const reloaded = await counted(() => mirror.refresh(many))
    expect(reloaded.requests).toBeGreaterThan(1)
    expect(reloaded.states).toEqual(await readAnew(many))
  })

  it('reads all 6,932 words of a pool with tick spacing 1 in eight requests', async () => {
    const { bed } = testbed
    const finest = await createPool({
      ...bed,
      tokenA: first.token0,
      tokenB: first.token1,
      feePips: 100,
      price: { amountA: 1n, amountB: 1n },
    })
    await mint(finest, [
      [-887_272, 887_272],
      [-257, -1],
      [-1, 256],
    ])
    const { mirror, head } = startMirror({ pools: [finest] })
    const at = await head()
    const { states, requests } = await counted(() => mirror.refresh(at))
    expect(states[0]?.ticks.map(({ index }) => index)).toEqual([-887_272, -257, -1, 256, 887_272])
    // Position, identity, four batches of bitmap words, ticks; and the comparison with QuoterV2.
    expect(requests).toBe(8)
    expect(await readAnew(at, [finest])).toEqual(states)
  })

  it('serves callers that come at the same time with one reading', async () => {
    const { mirror, head } = startMirror()
    await mirror.refresh(await head())
    await mine(1)
    const at = await head()
    const { requests } = await counted(async () => {
      const [one, two] = await Promise.all([mirror.refresh(at), mirror.refresh(at)])
      expect(two).toBe(one)
      return one
    })
    expect(requests).toBe(1)
  })
})

describe('a mirror on a chain that changes its mind', () => {
  it('notices another block at the same height', async () => {
    const { mirror, head } = startMirror()
    await mirror.refresh(await head())
    await mint(first, [[-130, 110]])
    const before = await head()
    const replaced = await mirror.refresh(before)
    expect(replaced[0]?.ticks.map(({ index }) => index)).toContain(-130)
    await testbed.node({ method: 'anvil_reorg', params: [1, []] })
    const after = await head()
    expect(after.number).toBe(before.number)
    expect(after.hash).not.toBe(before.hash)
    const { states, requests } = await counted(() => mirror.refresh(after))
    // Its parent is mirrored, so nothing but the block itself is read.
    expect(requests).toBe(1)
    expect(states[0]?.ticks.map(({ index }) => index)).not.toContain(-130)
    expect(states).toEqual(await readAnew(after))
    expect(await mirror.refresh(before)).toBe(replaced)
  })

  it('follows a reorg of several blocks, to a lower and to a higher head', async () => {
    const { mirror, head } = startMirror()
    await mirror.refresh(await head())
    for (const lower of [-160, -170, -190]) {
      await mint(first, [[lower, 150]])
      await mirror.refresh(await head())
    }
    await testbed.node({ method: 'anvil_rollback', params: [2] })
    const lower = await head()
    expect(await mirror.refresh(lower)).toEqual(await readAnew(lower))

    await mint(first, [[-210, 150]])
    await mine(2)
    await mirror.refresh(await head())
    await testbed.node({ method: 'anvil_reorg', params: [3, []] })
    await mint(second, [[-240, 180]])
    const higher = await head()
    expect(await mirror.refresh(higher)).toEqual(await readAnew(higher))
  })

  it('F-121: takes nothing of a branch that is left while missed blocks are read', async () => {
    const { mirror, head } = startMirror()
    await mirror.refresh(await head())
    await mint(first, [[-140, 160]])
    await mine(2)
    const left = await head()
    await testbed.node({ method: 'anvil_rollback', params: [3] })
    // Outside the active range, where no sum shows that events are of another branch.
    await mint(first, [[20_000, 20_010]])
    await mine(4)
    await expect(mirror.refresh(left)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
    const at = await head()
    expect(await mirror.refresh(at)).toEqual(await readAnew(at))
  })

  it('refuses a head that is canonical no more, and goes on with the one that is', async () => {
    const { mirror, head } = startMirror()
    await mirror.refresh(await head())
    await mine(1)
    const orphan = await head()
    // An empty block in its place at the same second would be the same block.
    await testbed.node({ method: 'anvil_setCoinbase', params: [first.address] })
    await testbed.node({ method: 'anvil_reorg', params: [1, []] })
    await expect(mirror.refresh(orphan)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
    const at = await head()
    expect(await mirror.refresh(at)).toEqual(await readAnew(at))
  })
})

describe('a mirror behind an endpoint that fails', () => {
  it('reads a pool anew when a lost event would change its active liquidity', async () => {
    const { mirror, head } = startMirror()
    await mirror.refresh(await head())
    await mint(first, [[-800_000, 800_000]])
    const at = await head()
    await testbed.proxy.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'eth_getLogs' ? [] : result),
    })
    const { states, requests } = await counted(() => mirror.refresh(at))
    expect(requests).toBeGreaterThan(2)
    expect(states).toEqual(await readAnew(at))
  })

  it('leaves a pool out when QuoterV2 contradicts it, and reads it anew at the next head', async () => {
    const { mirror, head } = startMirror({ judgeEveryHeads: 3 })
    await mirror.refresh(await head())
    // Outside the active range, so that the liquidity still adds up without it.
    const [state] = await mirror.refresh(await head())
    const taken = new Set(state?.ticks.map(({ index }) => index))
    let above = (Math.floor((state?.tick ?? 0) / 10) + 2) * 10
    while (taken.has(above) || taken.has(above + 10)) above += 10
    await mint(first, [[above, above + 10]])
    await testbed.proxy.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'eth_getLogs' ? [] : result),
    })
    const deceived = await mirror.refresh(await head())
    expect(deceived[0]?.ticks.map(({ index }) => index)).not.toContain(above + 10)
    await testbed.proxy.set({ kind: 'pass' })
    await mine(1)
    const judged = await mirror.refresh(await head())
    expect(judged.map(({ address }) => address)).toEqual([second.address])
    await mine(1)
    const at = await head()
    expect(await mirror.refresh(at)).toEqual(await readAnew(at))
    expect(mirror.problems().size).toBe(0)
  })

  it('gives a caller up at its deadline and finishes the reading for the next one', async () => {
    const { mirror, head } = startMirror()
    const at = await head()
    await testbed.proxy.set({ kind: 'latency', delayMs: 150 })
    const late = mirror.refresh(at, AbortSignal.timeout(50))
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' })
    await testbed.proxy.set({ kind: 'pass' })
    expect((await mirror.refresh(at)).length).toBe(2)
    await expect(mirror.refresh(at, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  })

  it.each([
    { kind: 'refuse' },
    { kind: 'garbage' },
    { kind: 'halfJson' },
    { kind: 'repeatedAnswer' },
    { kind: 'nodeError', code: -32_000, message: 'header not found' },
    { kind: 'lie', rewrite: () => '0x' },
  ] as const)(
    'refuses with a typed error while the endpoint answers by $kind, and recovers',
    async (fault) => {
      const { mirror, head } = startMirror({ timeoutMs: 1_000 })
      await mirror.refresh(await head())
      await mine(1)
      const at = await head()
      await testbed.proxy.set(fault)
      await expect(mirror.refresh(at)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
      await testbed.proxy.set({ kind: 'pass' })
      await mirror.refresh(at).catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 20))
      await expect.poll(() => mirror.refresh(at).catch(() => []), { timeout: 10_000 }).toHaveLength(2)
    },
  )
})

describe('a mirror of a node that restarts', () => {
  it('goes on with the chain it finds again, and serves nothing of one that is gone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-pools-'))
    const args = ['--state', join(folder, 'state.json'), '--preserve-historical-states']
    const bed = await startPoolTestbed({ args })
    let node = bed.anvil
    const direct = createJsonRpcClient({ chainId: 'base', endpoints: [{ url: node.url }] })
    try {
      const { port, chainId } = node
      const tokenA = await bed.deployToken({ symbol: 'RA', decimals: 6 })
      const tokenB = await bed.deployToken({ symbol: 'RB', decimals: 18 })
      const price = { amountA: 1n, amountB: 1n }
      const pool = await createPool({ ...bed, tokenA, tokenB, feePips: 3_000, price })
      await mintPositions({ ...bed, pool, positions: [{ tickLower: -600, tickUpper: 600, ...amounts }] })
      const multicall3Code = await bed.publicClient.getCode({ address: bed.multicall3 })
      const options = {
        ...bed.uniswap,
        multicall3: bed.multicall3,
        client: createAgreedClient(direct),
        pools: [pool],
      }
      const mirror = createPoolMirror(options)
      const before = await readHead(direct)
      expect(await mirror.refresh(before)).toHaveLength(1)

      await node.stop()
      await expect(mirror.refresh({ ...before, hash: before.parentHash })).rejects.toMatchObject({
        kind: 'upstream_unavailable',
      })
      node = await startAnvil({ chainId, port, args })
      await swapExactInput({ ...bed, pool, zeroForOne: true, amountIn: 10n ** 9n })
      const after = await readHead(direct)
      const states = await mirror.refresh(after)
      expect(states).toEqual(await createPoolMirror(options).refresh(after))
      expect(states).toHaveLength(1)

      await node.stop()
      node = await startAnvil({ chainId, port })
      await bed.node.mine({ blocks: 3 })
      // Without Multicall3 on the new chain nothing can be read; with it the pool is a stranger.
      await expect(mirror.refresh(await readHead(direct))).rejects.toMatchObject({
        kind: 'upstream_unavailable',
      })
      await bed.node.setCode({ address: bed.multicall3, bytecode: multicall3Code ?? '0x' })
      expect(await mirror.refresh(await readHead(direct))).toEqual([])
      expect([...mirror.problems().values()]).toEqual(['not_from_factory'])
    } finally {
      await direct.close()
      await node.stop()
      await rm(folder, { recursive: true })
    }
  })
})

describe('a pool that must not be trusted', () => {
  it('is left out with its reason, and the others are served', async () => {
    const { bed } = testbed
    const stranger: PoolConfig = { ...first, address: bed.uniswap.swapRouter }
    const misspaced: PoolConfig = { ...first, tickSpacing: 60 }
    const wrongFee: PoolConfig = { ...first, feePips: 10_000 }
    const cases = [
      [stranger, 'not_from_factory'],
      [wrongFee, 'not_from_factory'],
      [misspaced, 'wrong_tick_spacing'],
    ] as const
    for (const [pool, problem] of cases) {
      const { mirror, head } = startMirror({ pools: [pool, second] })
      const states = await mirror.refresh(await head())
      expect(states.map(({ address }) => address)).toEqual([second.address])
      expect([...mirror.problems()]).toEqual([[pool.address, problem]])
      await mine(1)
      const next = await counted(async () => mirror.refresh(await head()))
      expect(next.states).toHaveLength(1)
      // The head and the refresh: a pool that was given up costs nothing more.
      expect(next.requests).toBe(2)
    }
  })

  it('is left to the on-chain quoter when it has more ticks than the limit', async () => {
    const { head } = startMirror()
    const ticks = (await readAnew(await head()))[0]?.ticks.length ?? 0
    const enough = startMirror({ pools: [first], ticksMax: ticks })
    expect(await enough.mirror.refresh(await head())).toHaveLength(1)
    const tooFew = startMirror({ pools: [first], ticksMax: ticks - 1 })
    expect(await tooFew.mirror.refresh(await head())).toEqual([])
    expect([...tooFew.mirror.problems()]).toEqual([[first.address, 'too_many_ticks']])
  })

  it('is served once it has a first price', async () => {
    const { bed } = testbed
    const { token0, token1 } = first
    const feePips = 10_000
    const { factory } = bed.uniswap
    await bed.walletClient.writeContract({
      address: factory,
      abi: factoryAbi,
      functionName: 'createPool',
      args: [token0, token1, feePips],
    })
    const getPool = { address: factory, abi: factoryAbi, functionName: 'getPool' } as const
    const made = () => bed.publicClient.readContract({ ...getPool, args: [token0, token1, feePips] })
    await expect.poll(made).not.toBe(zeroAddress)
    const address: Hex = `0x${(await made()).slice(2).toLowerCase()}`
    const unpriced: PoolConfig = { address, token0, token1, feePips, tickSpacing: 200 }
    const { mirror, head } = startMirror({ pools: [unpriced] })
    expect(await mirror.refresh(await head())).toEqual([])
    expect([...mirror.problems().values()]).toEqual(['not_initialised'])

    const price = { amountA: 1n, amountB: 1n }
    await createPool({ ...bed, tokenA: token0, tokenB: token1, feePips, price })
    await mint(unpriced, [[-200, 200]])
    const at = await head()
    expect(await mirror.refresh(at)).toEqual(await readAnew(at, [unpriced]))
    expect(mirror.problems().size).toBe(0)
  })

  it('is never served when the quoter belongs to another exchange', async () => {
    const { mirror, head } = startMirror({ quoterV2: testbed.bed.multicall3 })
    expect(await mirror.refresh(await head())).toEqual([])
    expect(new Set(mirror.problems().values())).toEqual(new Set(['quoter_disagrees']))
  })
})
