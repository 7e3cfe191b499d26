import { hexToBytes } from '@causeway/core'
import type { EndpointView, RpcCall } from '@causeway/rpc'
import { MalformedAnswerError, parseBytes, resultOf } from '@causeway/rpc'
import type { BlockRef, PassRange, SettlingPass } from '../../shared/settlingChain.ts'
import { parseHashText, parseHeaderOf } from '../reading/bitcoinView.ts'
import { parseBitcoinBlock } from '../rules/block.ts'

/** Error code of a node for a height that it has not reached. @source Bitcoin Core, `rpc/protocol.h` */
const outOfRange = -8

const hashCall = (height: bigint): RpcCall => ({ method: 'getblockhash', params: [Number(height)] })

/**
 * One node's view of a range of heights: the blocks at both of its ends, and all transactions that pay a depository, in
 * chain order. Each block is read by its hash and must follow the one before it, so that a reorganization between two
 * answers cannot mix two chains. A node that has not reached the range's end returns no last block and reads
 * none. A pass that finds no new block reads none: passes may run every second, and the next block may take
 * an hour.
 * @throws MalformedAnswerError, also where the node has dropped a block of the range
 */
export async function readDepositPass(
  view: EndpointView,
  { depositories, ...range }: PassRange & { readonly depositories: readonly Uint8Array[] },
  signal: AbortSignal,
): Promise<SettlingPass> {
  const transactions: string[] = []
  const ends = await readBlockRange(view, range, signal, (block) => {
    for (const { transactionId, outputs } of block.transactions) {
      const isDeposit = outputs.some(({ script }) =>
        depositories.some((depository) => Buffer.compare(script, depository) === 0),
      )
      if (isDeposit) transactions.push(transactionId)
    }
  })
  return { ...ends, transactions }
}

/**
 * Calls `take` with every block of a range above `known`, in order.
 * @returns the blocks at both of its ends @throws MalformedAnswerError as `readDepositPass`
 */
export async function readBlockRange(
  view: EndpointView,
  { known, from, to }: PassRange,
  signal: AbortSignal,
  take: (block: Block) => void,
): Promise<Pick<SettlingPass, 'known' | 'last'>> {
  const heights = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index))
  const [knownBlock, ...refs] = await readBlockRefs(view, [known, ...heights], signal)
  const last = refs.at(-1)
  if (last === undefined) return { known: knownBlock, last }
  // If blocks between the known one and the range are not read, the first block has nothing to follow.
  let previous = known < from - 1n ? undefined : knownBlock?.hash
  for (const ref of refs) {
    if (ref === undefined) throw new MalformedAnswerError('getblockhash')
    if (ref.number <= known) continue
    const block = await readBlock(view, ref.hash, signal)
    if (previous !== undefined && block.previousHash !== previous) throw new MalformedAnswerError('getblock')
    previous = ref.hash
    take(block)
  }
  return { known: knownBlock, last }
}

type Block = NonNullable<ReturnType<typeof parseBitcoinBlock>>

/** Blocks by height, where the node has reached them. @throws MalformedAnswerError */
export async function readBlockRefs(
  view: EndpointView,
  heights: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly (BlockRef | undefined)[]> {
  const answers = await view.ask(heights.map(hashCall), signal)
  return heights.map((number, index) => {
    const answer = answers[index]
    if (answer?.ok === false && answer.code === outOfRange) return undefined
    return { number, hash: parseHashText(resultOf(answer, 'getblockhash'), 'getblockhash') }
  })
}

/** Unix seconds at which a block was made, by its own header. @throws MalformedAnswerError */
export async function readHeaderSeconds(
  view: EndpointView,
  hash: string,
  signal: AbortSignal,
): Promise<bigint> {
  const requestName = 'getblockheader'
  const isDecoded = false
  const [answer] = await view.ask([{ method: requestName, params: [hash, isDecoded] }], signal)
  return parseHeaderOf(hash, resultOf(answer, requestName), requestName).timeSeconds
}

/** A whole block is asked for alone, so that no other answer waits for its megabytes. */
async function readBlock(view: EndpointView, hash: string, signal: AbortSignal) {
  const requestName = 'getblock'
  const bytesOnly = 0
  const answer = await view.askAlone({ method: requestName, params: [hash, bytesOnly] }, signal)
  const digits = resultOf(answer, requestName)
  const block = parseBitcoinBlock(hexToBytes(parseBytes(`0x${String(digits)}`, requestName)))
  if (block?.header.hash !== hash) throw new MalformedAnswerError(requestName)
  return block
}
