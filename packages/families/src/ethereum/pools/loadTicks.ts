import { type Hex, maxTick, minTick } from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import type { AgreedClient } from '../agreement/agreedTransport.ts'
import { type ContractAnswer, type ContractCall, hasWords } from '../contracts/multicall.ts'
import { type ReadAt, readContracts } from './chunkedReads.ts'
import {
  getPoolCall,
  readPoolAddress,
  readTick,
  readTickBitmap,
  readTickSpacing,
  tickBitmapCall,
  tickCall,
  tickSpacingCall,
} from './poolCalls.ts'
import { type TickTable, tickTable } from './tickTable.ts'

/** Reason for which a pool is not mirrored; it is then priced by the on-chain quoter, or not at all. */
export type PoolProblem =
  /** The factory knows another address, or none, for these tokens and this fee. */
  | 'not_from_factory'
  | 'wrong_tick_spacing'
  | 'too_many_ticks'
  /** It has no price yet. */
  | 'not_initialised'
  /** Its ticks do not add up to its liquidity, even freshly read. */
  | 'inconsistent'
  /** QuoterV2 prices swaps differently than the mirror, even after a fresh reading. */
  | 'quoter_disagrees'

export type LoadedPool = TickTable | { readonly problem: PoolProblem }

/**
 * Reads all ticks of the given pools at one block, and checks that the factory made them.
 *
 * The whole bitmap is read, because liquidity may lie anywhere: 2·887272/spacing/256 words, that is
 * 6,932 for spacing 1, 695 for 10, 117 for 60 and 36 for 200, then each set tick. At 500 reads a call and
 * 4 calls a batch, spacing 1 takes 14 calls in 4 batches before its ticks.
 *
 * @throws UpstreamUnavailableError
 */
export async function loadTicks(
  client: AgreedClient,
  pools: readonly PoolConfig[],
  at: ReadAt & { readonly factory: Hex; readonly ticksMax: number },
): Promise<ReadonlyMap<Hex, LoadedPool>> {
  const loaded = new Map<Hex, LoadedPool>()
  const identities = await readEach(client, pools, (pool) => identityCalls(at.factory, pool), at)
  for (const { item: pool, answers } of identities) {
    const problem = identityProblem(pool, answers)
    if (problem !== undefined) loaded.set(pool.address, { problem })
  }
  const genuine = pools.filter(({ address }) => !loaded.has(address))
  const readable: PoolTicks[] = []
  for (const poolTicks of await readTickIndexes(client, genuine, at)) {
    if (poolTicks.indexes.length <= at.ticksMax) readable.push(poolTicks)
    else loaded.set(poolTicks.pool.address, { problem: 'too_many_ticks' })
  }
  for (const [address, table] of await readTables(client, readable, at)) loaded.set(address, table)
  return loaded
}

type PoolTicks = { readonly pool: PoolConfig; readonly indexes: readonly number[] }

/** Indexes of the initialised ticks of each pool, as its bitmap shows them. */
async function readTickIndexes(
  client: AgreedClient,
  pools: readonly PoolConfig[],
  at: ReadAt,
): Promise<readonly PoolTicks[]> {
  const bitmaps = await readEach(client, pools, bitmapCalls, at)
  return bitmaps.map(({ item: pool, answers }) => ({ pool, indexes: initializedTicks(pool, answers) }))
}

/** Liquidity of the ticks of each pool. */
async function readTables(
  client: AgreedClient,
  poolTicks: readonly PoolTicks[],
  at: ReadAt,
): Promise<readonly (readonly [Hex, TickTable])[]> {
  const tickCalls = ({ pool, indexes }: PoolTicks) => indexes.map((index) => tickCall(pool.address, index))
  const readings = await readEach(client, poolTicks, tickCalls, at)
  return readings.map(({ item: { pool, indexes }, answers }) => {
    const entries = answers.map(
      ({ returnData }, position) => [indexes[position] ?? 0, readTick(returnData)] as const,
    )
    return [pool.address, tickTable(new Map(entries))] as const
  })
}

function identityCalls(factory: Hex, pool: PoolConfig): readonly ContractCall[] {
  return [getPoolCall(factory, pool), tickSpacingCall(pool.address)]
}

function identityProblem(
  { address, tickSpacing }: PoolConfig,
  [poolOfFactory, spacing]: readonly ContractAnswer[],
): PoolProblem | undefined {
  if (!hasWords(poolOfFactory, 1) || readPoolAddress(poolOfFactory.returnData) !== address)
    return 'not_from_factory'
  return hasWords(spacing, 1) && readTickSpacing(spacing.returnData) === tickSpacing
    ? undefined
    : 'wrong_tick_spacing'
}

const ticksPerWord = 256

/** First and last word of the bitmap: each holds 256 ticks, counted in spacings, hence the shift by 8. */
function wordRange(tickSpacing: number): { readonly first: number; readonly last: number } {
  return {
    first: Math.ceil(minTick / tickSpacing) >> 8,
    last: Math.floor(maxTick / tickSpacing) >> 8,
  }
}

function bitmapCalls({ address, tickSpacing }: PoolConfig): readonly ContractCall[] {
  const { first, last } = wordRange(tickSpacing)
  return Array.from({ length: last - first + 1 }, (_, index) => tickBitmapCall(address, first + index))
}

function initializedTicks(
  { tickSpacing }: PoolConfig,
  answers: readonly ContractAnswer[],
): readonly number[] {
  const { first } = wordRange(tickSpacing)
  return answers.flatMap(({ returnData }, index) =>
    setBits(readTickBitmap(returnData)).map((bit) => ((first + index) * ticksPerWord + bit) * tickSpacing),
  )
}

/** Positions of the bits that are 1. */
function setBits(bitmapWord: bigint): readonly number[] {
  const bits: number[] = []
  for (let remaining = bitmapWord, bit = 0; remaining !== 0n; remaining >>= 1n, bit++)
    if (remaining & 1n) bits.push(bit)
  return bits
}

/** Makes the calls of all items together, and returns each item with its own answers. */
async function readEach<Item>(
  client: AgreedClient,
  items: readonly Item[],
  callsOf: (item: Item) => readonly ContractCall[],
  at: ReadAt,
): Promise<readonly { readonly item: Item; readonly answers: readonly ContractAnswer[] }[]> {
  const calls = items.map(callsOf)
  const answers = await readContracts(client, calls.flat(), at)
  let start = 0
  return items.map((item, index) => {
    const end = start + (calls[index]?.length ?? 0)
    const ownAnswers = answers.slice(start, end)
    start = end
    return { item, answers: ownAnswers }
  })
}
