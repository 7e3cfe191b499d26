import { type Hex, type PoolState, UpstreamUnavailableError, whenAborted } from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import { toQuantity } from '@causeway/rpc'
import { type AgreedClient, agreedRead } from '../agreement/agreedTransport.ts'
import { type ChainHead, parseHead } from '../agreement/head.ts'
import { readContracts } from './chunkedReads.ts'
import { judgePools } from './judgePools.ts'
import { type PoolLiquidityChange, readLiquidityChanges } from './liquidityLogs.ts'
import { loadTicks, type PoolProblem } from './loadTicks.ts'
import {
  isConsistent,
  type PoolPosition,
  type PoolSnapshot,
  poolState,
  positionCalls,
  readPositions,
} from './poolSnapshot.ts'
import { type TickTable, withChanges } from './tickTable.ts'

export type PoolMirrorOptions = {
  readonly client: AgreedClient
  readonly multicall3: Hex
  /** Must have made every pool. */
  readonly factory: Hex
  readonly quoterV2: Hex
  /** Addresses in lower case. */
  readonly pools: readonly PoolConfig[]
  /** Every so many heads all pools are compared with QuoterV2, and given-up ones tried again. Default 50. */
  readonly judgeEveryHeads?: number
  /**
   * A pool with more initialised ticks is left to the on-chain quoter: nobody reads that many within a
   * few blocks. Default 20 000.
   */
  readonly ticksMax?: number
}

/** Copies of a chain's Uniswap V3 pools, exact as of one block at a time. */
export interface PoolMirror {
  /**
   * The pools as of `head`, those with a problem left out; the same objects while the head is the same.
   * One call at a time does the work, others wait for it. A caller that aborts stops waiting, and the
   * work goes on for the next caller. @throws UpstreamUnavailableError, or the signal's reason
   */
  refresh(head: BlockLink, signal?: AbortSignal): Promise<readonly PoolState[]>
  /** Pools that the last refresh left out. */
  problems(): ReadonlyMap<Hex, PoolProblem>
}

const snapshotsKept = 8
const defaultJudgeEveryHeads = 50
const defaultTicksMax = 20_000

/**
 * Mirrors pools by RPC. A head costs one batch, however many blocks were missed before it: prices and liquidity read
 * at its hash, and the liquidity events since the last mirrored block applied to the ticks there. They count where one
 * look at the chain shows that block below the head, so not on another branch. All ticks are read again after a start,
 * when that block is none of the last ones mirrored (a deeper reorg, a long gap, another chain), and for a pool whose
 * ticks stop adding up. Freshly read pools, and now and then all, are compared with QuoterV2; a pool that differs is
 * left out.
 * @source F-121
 */
export function createPoolMirror(options: PoolMirrorOptions): PoolMirror {
  const { judgeEveryHeads = defaultJudgeEveryHeads } = options
  const recent = new Map<Hex, PoolSnapshot>()
  let last: PoolSnapshot | undefined
  let headsUnjudged = 0
  let queue: Promise<unknown> = Promise.resolve()

  async function advance(head: BlockLink): Promise<readonly PoolState[]> {
    const cached = recent.get(head.hash)
    if (cached !== undefined) {
      last = cached
      return cached.states
    }
    const judgeAll = headsUnjudged + 1 >= judgeEveryHeads
    const snapshot = await readSnapshot(options, { head, last, recent, judgeAll })
    headsUnjudged = judgeAll ? 0 : headsUnjudged + 1
    last = snapshot
    recent.set(head.hash, snapshot)
    const [oldest] = recent.keys()
    if (recent.size > snapshotsKept && oldest !== undefined) recent.delete(oldest)
    return snapshot.states
  }

  return {
    async refresh(head, signal) {
      signal?.throwIfAborted()
      const work = queue.then(() => advance(head))
      queue = work.catch(() => undefined)
      return signal === undefined ? work : Promise.race([work, whenAborted(signal)])
    },
    problems: () => last?.problems ?? new Map(),
  }
}

type Reading = {
  readonly head: BlockLink
  readonly last: PoolSnapshot | undefined
  readonly recent: ReadonlyMap<Hex, PoolSnapshot>
  readonly judgeAll: boolean
}

async function readSnapshot(
  options: PoolMirrorOptions,
  { head, last, recent, judgeAll }: Reading,
): Promise<PoolSnapshot> {
  const { pools } = options
  const { positions, parent, changes } = await readBlock(options, head, last, recent)
  // Now and then a pool that was given up is tried again.
  const problems = new Map(judgeAll ? [] : parent?.problems)
  const tables = new Map<Hex, TickTable>()
  for (const { address } of pools) {
    const table = parent?.tables.get(address)
    const ofPool = changes.filter(({ pool }) => pool === address)
    const next = table === undefined ? undefined : withChanges(table, ofPool)
    if (next !== undefined) tables.set(address, next)
    if (problems.get(address) === 'not_initialised') problems.delete(address)
  }

  const fresh = await reload(options, { head, positions, tables, problems })
  const states = pools.flatMap((pool) => {
    const [position, table] = [positions.get(pool.address), tables.get(pool.address)]
    return position === undefined || table === undefined ? [] : [poolState(pool, position, table, head.hash)]
  })
  const judged = judgeAll ? states : states.filter(({ address }) => fresh.has(address))
  const wrong = await disagreeing(options, judged)
  for (const address of wrong) {
    tables.delete(address)
    // One that was mirrored for a while is read again at the next head before it is given up.
    if (fresh.has(address)) problems.set(address, 'quoter_disagrees')
  }
  const { number, hash } = head
  return { number, hash, tables, problems, states: states.filter(({ address }) => !wrong.has(address)) }
}

/** Data of a head from one batch, and the mirrored block that it continues. */
async function readBlock(
  options: PoolMirrorOptions,
  head: BlockLink,
  last: PoolSnapshot | undefined,
  recent: ReadonlyMap<Hex, PoolSnapshot>,
): Promise<{
  readonly positions: ReadonlyMap<Hex, PoolPosition>
  readonly parent: PoolSnapshot | undefined
  readonly changes: readonly PoolLiquidityChange[]
}> {
  const { client, pools, multicall3 } = options
  const addresses = pools.map(({ address }) => address)
  const missed = last === undefined ? undefined : missedBlocks(last.number, head.number)
  const [ends, answers, changes] = await Promise.all([
    // Before the logs, which count for the chain that has them.
    missed && Promise.all([readHeader(client, missed.from - 1n), readHeader(client, missed.to)]),
    readContracts(client, positionCalls(pools), { multicall3, blockHash: head.hash }),
    readLiquidityChanges(client, addresses, missed ?? { blockHash: head.hash }),
  ])
  const positions = readPositions(pools, answers)
  const [below, newest] = ends ?? []
  if (newest !== undefined && newest.hash !== head.hash)
    throw new UpstreamUnavailableError('A block left its chain while pools were read at it.', {
      code: 'RPC_HTTP_ERROR',
    })
  const parent = recent.get(below?.hash ?? head.parentHash)
  return { positions, parent, changes: parent === undefined ? [] : changes }
}

/** As the node words it: what viem makes of a header is not held to its types. */
async function readHeader(client: AgreedClient, height: bigint): Promise<ChainHead> {
  const request = client.request({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] })
  return parseHead(await agreedRead(request))
}

/**
 * Reads the ticks of pools without a table that fits, into `tables` or `problems`. A pool that was given
 * up stays so while the chain is continuous, so that it costs nothing. @returns those read
 */
async function reload(
  options: PoolMirrorOptions,
  snapshot: {
    readonly head: BlockLink
    readonly positions: ReadonlyMap<Hex, PoolPosition>
    readonly tables: Map<Hex, TickTable>
    readonly problems: Map<Hex, PoolProblem>
  },
): Promise<ReadonlySet<Hex>> {
  const { head, positions, tables, problems } = snapshot
  const { client, multicall3, factory, pools, ticksMax = defaultTicksMax } = options
  const stale = pools.filter(({ address }) => {
    const [position, table] = [positions.get(address), tables.get(address)]
    if (position?.sqrtPriceX96 === 0n) problems.set(address, 'not_initialised')
    if (problems.has(address)) return false
    return table === undefined || position === undefined || !isConsistent(table, position)
  })
  if (stale.length === 0) return new Set()
  const at = { multicall3, factory, ticksMax, blockHash: head.hash }
  const loaded = await loadTicks(client, stale, at)
  for (const { address } of stale) {
    tables.delete(address)
    const [pool, position] = [loaded.get(address), positions.get(address)]
    if (pool === undefined || 'problem' in pool) problems.set(address, pool?.problem ?? 'not_from_factory')
    else if (position !== undefined && isConsistent(pool, position)) tables.set(address, pool)
    else problems.set(address, 'inconsistent')
  }
  return new Set(stale.map(({ address }) => address))
}

async function disagreeing(
  options: PoolMirrorOptions,
  states: readonly PoolState[],
): Promise<ReadonlySet<Hex>> {
  const { client, quoterV2 } = options
  if (states.length === 0) return new Set()
  const mismatches = await judgePools(client, { quoterV2, states })
  return new Set(mismatches.map(({ pool }) => pool))
}

type BlockLink = Pick<ChainHead, 'number' | 'hash' | 'parentHash'>

/** More missed blocks than this are not caught up: all ticks are read again instead. */
export const missedBlocksMax = 256n

/**
 * The blocks after the last mirrored one up to a new head, where some between them were missed. `undefined` when the
 * head is the next block, replaces the last one or is older, and when too many were: it then continues its parent.
 */
export function missedBlocks(
  last: bigint,
  head: bigint,
): { readonly from: bigint; readonly to: bigint } | undefined {
  const missed = head - last - 1n
  return missed > 0n && missed <= missedBlocksMax ? { from: last + 1n, to: head } : undefined
}
