import type { LocalChain } from '../nodes/localChain.ts'
import { afterSaving, type ChainProgress, chainChores } from './chainChores.ts'
import { readRequestedBaseFee } from './chainMarker.ts'

/** A chain as the keeper maintains it. */
export type MaintainedChain = {
  readonly chain: LocalChain
  /** Base fee while no operator asks for another one. */
  readonly baseFeeWei: bigint
  save(): Promise<void>
  /** Unix milliseconds. */
  readonly now: () => number
}

/** More new blocks than this are not read one by one: the newest counts as one with a transaction. */
const blocksLookedAtMax = 64n

/** Sets the base fee before the first look. @returns progress in which nothing of the chain is saved yet */
export async function firstProgress({ chain, baseFeeWei, now }: MaintainedChain): Promise<ChainProgress> {
  const [head, requestedBaseFee] = await Promise.all([chain.client.getBlock(), readRequestedBaseFee(chain)])
  const heldWei = requestedBaseFee ?? baseFeeWei
  if (head.baseFeePerGas !== heldWei) {
    await chain.node.setNextBlockBaseFeePerGas({ baseFeePerGas: heldWei })
    await chain.node.mine({ blocks: 1 })
  }
  const headBlock = await chain.client.getBlockNumber({ cacheTime: 0 })
  return { headBlock, lastTransactionBlock: undefined, savedBlock: -1n, savedAtMs: now() }
}

/** One look at one chain: holds its base fee, makes transactions final, saves what is new. */
export async function maintainChain(
  maintained: MaintainedChain,
  before: ChainProgress,
): Promise<ChainProgress> {
  const { chain, now } = maintained
  const [head, requestedBaseFee] = await Promise.all([chain.client.getBlock(), readRequestedBaseFee(chain)])
  const { number: headBlock } = head
  const newTransactionBlock = await newestTransactionBlock(chain, before.headBlock, headBlock)
  const nowMs = now()
  const { mine, save, progress } = chainChores(before, { headBlock, newTransactionBlock, nowMs })
  // An empty block lowers the base fee by an eighth, so it has to be set again for every block. A fee that an
  // operator asked for is set as it is.
  const baseFeePerGas = requestedBaseFee ?? raiseBaseFee(head.baseFeePerGas, maintained.baseFeeWei)
  await chain.node.setNextBlockBaseFeePerGas({ baseFeePerGas })
  if (mine) await chain.node.mine({ blocks: 1 })
  if (!save) return progress
  await maintained.save()
  return afterSaving(progress, nowMs)
}

/**
 * The next base fee on the way up to the held one, in steps that a chain could make in two full blocks. After many blocks
 * without a keeper the fee is low, and after a jump no transaction whose fee cap was quoted meanwhile could be mined.
 */
function raiseBaseFee(headBaseFeeWei: bigint | null, heldWei: bigint): bigint {
  const highestWei = ((headBaseFeeWei ?? heldWei) * 5n) / 4n + 1n
  return heldWei < highestWei ? heldWei : highestWei
}

/** The newest block above `seenBlock` that holds a transaction. */
async function newestTransactionBlock(
  chain: LocalChain,
  seenBlock: bigint,
  headBlock: bigint,
): Promise<bigint | undefined> {
  if (headBlock - seenBlock > blocksLookedAtMax) return headBlock
  const numbers: bigint[] = []
  for (let number = seenBlock + 1n; number <= headBlock; number += 1n) numbers.push(number)
  const blocks = await Promise.all(numbers.map((blockNumber) => chain.client.getBlock({ blockNumber })))
  return blocks.findLast((block) => block.transactions.length > 0)?.number
}
