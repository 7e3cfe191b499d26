import { minBigint, UpstreamDisagreementError } from '@causeway/core'
import { blocksAtPace } from '@causeway/core/config'
import { lateBlocksOf, type PassRange } from '@causeway/families'
import { isOverPace, refusesContent } from '@causeway/rpc'
import { type BlockCursor, heightBelow, type WatchSteps } from '../../../chainReadings/blockCursor.ts'
import type { ReadMemory } from '../../../chainReadings/readMemory.ts'
import type { DepositPass, SettlementChain } from '../chain/settlementChain.ts'
import type { DepositCursor } from '../deposits/depositCursor.ts'

/** The part of a chain that finding deposits needs. */
export type FindingChain = Pick<
  SettlementChain,
  'steps' | 'finalHeight' | 'depositPass' | 'blockTransactions' | 'blockHashes' | 'deposits'
> & { readonly chain: Pick<SettlementChain['chain'], 'chainId' | 'config' | 'key'> }

/** Numbers of blocks in which a chain is read: those of its family, else defaults. */
export function stepsOf({ steps, chain: { config } }: Pick<FindingChain, 'chain' | 'steps'>): WatchSteps {
  // The time of 512 blocks at `paceMs`, in which a chain that is faster makes more blocks.
  const rewindBlocks = blocksAtPace(config, 512n)
  return steps ?? { rangeBlocks: 1_000n, rewindBlocks, lateBlocks: lateBlocksOf(config) }
}

/** The cursor with a `finalTo`, also if an older release stored none. */
export function toBlockCursor(cursor: DepositCursor, steps: WatchSteps): BlockCursor {
  const { scannedTo, finalTo = heightBelow(scannedTo, steps.rewindBlocks) } = cursor
  return { scannedTo, finalTo }
}

/** Lists the first blocks of a range, as many as one question may cover. */
export function listRange(chain: FindingChain, range: PassRange, signal: AbortSignal) {
  const last = range.from + stepsOf(chain).rangeBlocks - 1n
  return listBlocks(chain, { ...range, to: minBigint(range.to, last) }, signal)
}

/** The transactions with deposits in the first blocks of a range. */
export type ListedBlocks = {
  readonly pass: DepositPass
  /** Height of the last listed block. */
  readonly to: bigint
  /** True if `pass` has all transactions of a single block, whatever they contain. */
  readonly isWhole: boolean
}

/**
 * Lists the transactions with deposits in a range. If endpoints refuse the range for its content, disagree
 * because their lists come late, or have no capacity left, only its unread blocks are listed, then half as
 * many, and so on. If they refuse even a single block for its content, all of its transactions are returned;
 * otherwise that block is left for the next look.
 * @source F-65, F-72
 */
export async function listBlocks(
  chain: FindingChain,
  range: PassRange,
  signal: AbortSignal,
): Promise<ListedBlocks> {
  const { lateBlocks } = stepsOf(chain)
  const { known } = range
  let { from, to } = range
  for (;;) {
    try {
      return { pass: await chain.depositPass({ known, from, to }, signal), to, isWhole: false }
    } catch (error) {
      const areListsLate = error instanceof UpstreamDisagreementError && lateBlocks > 0n
      const mayWait = areListsLate || isOverPace(error)
      if (!mayWait && !refusesContent(error)) throw error
      // First the blocks that were read before are left out, then the range is halved.
      if (from <= known && known < to) from = known + 1n
      else if (from < to) to = (from + to) / 2n
      else if (mayWait || chain.blockTransactions === undefined) throw error
      else return { pass: await listWholeBlock(chain, { known, height: to }, signal), to, isWhole: true }
    }
  }
}

/** All transactions of one block, from the block itself; only its refused events would show paid swaps. */
async function listWholeBlock(
  chain: FindingChain,
  { known, height }: { readonly known: bigint; readonly height: bigint },
  signal: AbortSignal,
): Promise<DepositPass> {
  const block = await chain.blockTransactions?.(height, signal)
  const hash = (await chain.blockHashes([known], signal)).get(known)
  const knownMark = hash === undefined ? undefined : { number: known, hash }
  return { last: undefined, transactions: [], ...block, known: knownMark, paidSwaps: [] }
}

/** Time per look for reading single transactions of refused blocks. @source F-77 */
const refusedBlockMs = 1_000

/** Makes a function that returns true until one second after its first call. */
export function createTimeCheck({ now }: Pick<ReadMemory, 'now'>): () => boolean {
  let endMs: number | undefined
  return () => {
    endMs ??= now() + refusedBlockMs
    return now() < endMs
  }
}
