import type { Hex } from '@causeway/core'
import { MalformedAnswerError } from '@causeway/rpc'
import type { EvmLog } from '../../ethereum/reading/answers.ts'
import { readTransfer } from '../../ethereum/reading/events.ts'
import type { BlockRef, PassRange, SettlingPass } from '../../shared/settlingChain.ts'
import { parseHeader, parseInfosOf } from '../reading/answers.ts'
import { askNode, type TronView } from '../reading/askNode.ts'
import { blockInfosRequest, headerRequest } from '../reading/requests.ts'

/**
 * One node's view of a range of heights: the blocks at both of its ends, and all transactions that pay a depository, in
 * chain order. Nodes show a block's contents by height only, so the last block is read again afterwards: its id depends
 * on all blocks before it, so an unchanged id proves that none was replaced. A node that has not reached the
 * range's end returns no last block and no transactions.
 * @throws MalformedAnswerError, also where blocks were replaced meanwhile
 */
export async function readDepositPass(
  view: TronView,
  { known, from, to, depositories }: PassRange & { readonly depositories: readonly Hex[] },
  signal: AbortSignal,
): Promise<SettlingPass> {
  const [knownBlock, last] = await readBlockRefs(view, [known, to], signal)
  if (last === undefined) return { known: knownBlock, last, transactions: [] }
  const heights = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index))
  const infos = await Promise.all(
    heights.map(async (number) =>
      parseInfosOf(await askNode(view, blockInfosRequest(number), signal), number),
    ),
  )
  const [lastAgain] = await readBlockRefs(view, [to], signal)
  if (lastAgain?.hash !== last.hash) throw new MalformedAnswerError('getblock')
  const transactions = infos
    .flat()
    .filter(({ succeeded, logs }) => succeeded && pays(logs, depositories))
    .map(({ transactionId }) => transactionId)
  return { known: knownBlock, last, transactions }
}

/** True if logs hold an event of a depository or a token transfer to one. */
const pays = (logs: readonly EvmLog[], depositories: readonly Hex[]): boolean =>
  logs.some((log) => {
    if (depositories.includes(log.address)) return true
    const transfer = readTransfer(log)
    return transfer !== undefined && depositories.includes(transfer.to)
  })

/** Blocks by height, where the node has reached them. @throws MalformedAnswerError */
export function readBlockRefs(
  view: TronView,
  heights: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly (BlockRef | undefined)[]> {
  return Promise.all(
    heights.map(async (number) => {
      const header = parseHeader(await askNode(view, headerRequest(number), signal), number)
      return header && { number, hash: header.hash }
    }),
  )
}
