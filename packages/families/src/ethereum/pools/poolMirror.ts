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
  /** After so many heads all pools are compared with QuoterV2, and excluded ones are tried again. Default 50. */
  readonly judgeEveryHeads?: number
  /**
   * A pool with more initialised ticks is not mirrored, since reading them would take more than a few blocks. Default
   * 20 000.
   */
  readonly ticksMax?: number
}

/** Copies of a chain's Uniswap V3 pools, exact as of one block at a time. */
export interface PoolMirror {
  /**
   * The pools as of `head`, without those that have a problem; the same objects while the head is the same. Calls run
   * one after the other. If a caller aborts, the work goes on for the next one.
   * @throws UpstreamUnavailableError, or the signal's reason
   */
  refresh(head: BlockLink, signal?: AbortSignal): Promise<readonly PoolState[]>
  /** Pools that the last refresh left out. */
  problems(): ReadonlyMap<Hex, PoolProblem>
}

const snapshotsKept = 8
const defaultJudgeEveryHeads = 50
const defaultTicksMax = 20_000

/**
 * Mirrors pools by RPC. Each head takes one batch, even after missed blocks: prices and liquidity at its hash, and the
 * liquidity events since the last mirrored block, which are applied to that block's ticks. Events count only if the
 * same batch shows that the mirrored block is an ancestor of the head. All ticks are read again after a start, if the
 * ancestor is not among the last mirrored blocks (a deep reorg, a long gap), and for a pool whose ticks do not add up
 * to its liquidity. Freshly read pools, and all of them every `judgeEveryHeads`, are compared with QuoterV2; one that
 * differs is left out.
 * @source F-121
 */
export function createPoolMirror(options: PoolMirrorOptions): PoolMirror {
  const { judgeEveryHeads = defaultJudgeEveryHeads } = options
  /** Snapshots by block hash, the oldest first. */
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
    const judgesAll = headsUnjudged + 1 >= judgeEveryHeads
    const snapshot = await readSnapshot(options, { head, last, recent, judgesAll })
    headsUnjudged = judgesAll ? 0 : headsUnjudged + 1
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

/** A head to mirror, and the snapshots that it may continue. */
type SnapshotRequest = {
  readonly head: BlockLink
  /** Snapshot of the last refresh. */
  readonly last: PoolSnapshot | undefined
  /** By block hash; `last` is among them. */
  readonly recent: ReadonlyMap<Hex, PoolSnapshot>
  /** True if all pools are compared with QuoterV2, and those with a problem are tried again. */
  readonly judgesAll: boolean
}

/**
 * The snapshot of a head, continued from an ancestor's where one is known. A pool is in `states` if it has a
 * consistent table and QuoterV2 does not differ. A pool that differs loses its table. If its ticks were read
 * at this very head, it also gets a problem, and waits until all are judged; else its ticks are read again at
 * the next head.
 */
async function readSnapshot(
  options: PoolMirrorOptions,
  { head, last, recent, judgesAll }: SnapshotRequest,
): Promise<PoolSnapshot> {
  const { pools } = options
  const { positions, parent, changes } = await readBlock(options, head, last, recent)
  const tables = continuedTables(pools, parent, changes)
  const problems = new Map(judgesAll ? [] : parent?.problems)
  // A pool may get its first price at any block.
  for (const { address } of pools) if (problems.get(address) === 'not_initialised') problems.delete(address)

  const reloaded = await reload(options, { head, positions, tables, problems })
  const states = pools.flatMap((pool) => {
    const [position, table] = [positions.get(pool.address), tables.get(pool.address)]
    return position === undefined || table === undefined ? [] : [poolState(pool, position, table, head.hash)]
  })
  const toJudge = judgesAll ? states : states.filter(({ address }) => reloaded.has(address))
  const differing = await poolsThatDiffer(options, toJudge)
  for (const address of differing) {
    tables.delete(address)
    if (reloaded.has(address)) problems.set(address, 'quoter_disagrees')
  }
  const { number, hash } = head
  return { number, hash, tables, problems, states: states.filter(({ address }) => !differing.has(address)) }
}

/** The parent's ticks after the changes since then. Without a table, or if changes do not fit, a pool is left out. */
function continuedTables(
  pools: readonly PoolConfig[],
  parent: PoolSnapshot | undefined,
  changes: readonly PoolLiquidityChange[],
): Map<Hex, TickTable> {
  const tables = new Map<Hex, TickTable>()
  for (const { address } of pools) {
    const table = parent?.tables.get(address)
    const changesOfPool = changes.filter(({ pool }) => pool === address)
    const changed = table && withChanges(table, changesOfPool)
    if (changed !== undefined) tables.set(address, changed)
  }
  return tables
}

/**
 * Data of a head from one batch, and the mirrored block that it continues (`parent`; undefined: all ticks are
 * to be read). If blocks were missed, the logs begin behind the last mirrored height, and the block that now
 * stands at that height is the parent, if it is a mirrored one. Else the logs are the head's own, and its
 * parent block counts.
 * @throws UpstreamUnavailableError if the head is no longer on the chain that the logs are from
 */
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
  const [endHeaders, answers, changes] = await Promise.all([
    // Asked in the same batch as the logs: they prove the branch of the logs (see `comparableInBatch`).
    missed && Promise.all([readHeader(client, missed.from - 1n), readHeader(client, missed.to)]),
    readContracts(client, positionCalls(pools), { multicall3, blockHash: head.hash }),
    readLiquidityChanges(client, addresses, missed ?? { blockHash: head.hash }),
  ])
  const positions = readPositions(pools, answers)
  const [blockBelow, newest] = endHeaders ?? []
  if (newest !== undefined && newest.hash !== head.hash)
    throw new UpstreamUnavailableError('A block left its chain while pools were read at it.', {
      code: 'RPC_HTTP_ERROR',
    })
  const parent = recent.get(blockBelow?.hash ?? head.parentHash)
  return { positions, parent, changes: parent === undefined ? [] : changes }
}

/** Parses the raw header: viem's own formatting does not check that members have their types. */
async function readHeader(client: AgreedClient, height: bigint): Promise<ChainHead> {
  const request = client.request({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] })
  return parseHead(await agreedRead(request))
}

/**
 * Reads all ticks of pools that have no consistent table, and puts them into `tables`, or the reason into `problems`.
 * Pools with a problem are skipped, so that they cost nothing until they are tried again. @returns the pools read
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
  const readOptions = { multicall3, factory, ticksMax, blockHash: head.hash }
  const loaded = await loadTicks(client, stale, readOptions)
  for (const { address } of stale) {
    tables.delete(address)
    const [pool, position] = [loaded.get(address), positions.get(address)]
    // `loadTicks` tells of every pool; the other reason is for the types alone.
    if (pool === undefined || 'problem' in pool) problems.set(address, pool?.problem ?? 'not_from_factory')
    else if (position !== undefined && isConsistent(pool, position)) tables.set(address, pool)
    else problems.set(address, 'inconsistent')
  }
  return new Set(stale.map(({ address }) => address))
}

async function poolsThatDiffer(
  options: PoolMirrorOptions,
  states: readonly PoolState[],
): Promise<ReadonlySet<Hex>> {
  const { client, quoterV2 } = options
  if (states.length === 0) return new Set()
  const mismatches = await judgePools(client, { quoterV2, states })
  return new Set(mismatches.map(({ pool }) => pool))
}

/** A block and its parent. */
type BlockLink = Pick<ChainHead, 'number' | 'hash' | 'parentHash'>

/** More missed blocks than this are not caught up: all ticks are read again instead. */
export const missedBlocksMax = 256n

/**
 * The blocks after the last mirrored one up to a new head, if at least one between them was missed. `undefined` if none
 * was, if the head is not newer, or if more than `missedBlocksMax` were: then only the head's parent can be continued.
 */
export function missedBlocks(
  last: bigint,
  head: bigint,
): { readonly from: bigint; readonly to: bigint } | undefined {
  const missed = head - last - 1n
  return missed > 0n && missed <= missedBlocksMax ? { from: last + 1n, to: head } : undefined
}
