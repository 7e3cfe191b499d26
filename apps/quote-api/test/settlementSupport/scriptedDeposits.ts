import { type DepositFacts, type InBlock, UpstreamUnavailableError } from '@causeway/core'
import { EndpointFailure, NodeError } from '@causeway/rpc'
import type { FindingChain } from '../../src/requests/settlement/finding/listBlocks.ts'
import { orderNamed } from '../orderSupport/orders.ts'

export const chainId = 8_453
/** Each deposit of the chain is for it. */
export const order = orderNamed('watched')
const steps = { rangeBlocks: 100n, rewindBlocks: 64n, lateBlocks: 15n }

type Block = { hash: string; transactions: string[] }

/** A chain that its test mines; what is `hidden` stands in a block and in no list. */
export function scriptedChain({
  blockTimeMs = 2_000,
  ...at
}: {
  lateBlocks?: bigint
  blockTimeMs?: number
} = {}) {
  const blocks: Block[] = Array.from({ length: 201 }, (_, height) => ({
    hash: `a${height}`,
    transactions: [],
  }))
  const hidden = new Set<string>()
  const failures = new Map<string, Error>()
  const empty = new Set<string>()
  const asked: string[] = []
  let passes = 0
  let refusesAbove: { readonly transaction: string; readonly blocks: bigint } | undefined
  let blocksInTime = Number.POSITIVE_INFINITY
  const markAt = (height: bigint) => {
    const block = blocks[Number(height)]
    return block && { number: height, hash: block.hash }
  }
  const heightOf = (id: string) => blocks.findIndex(({ transactions }) => transactions.includes(id))
  const chain: FindingChain = {
    steps: { ...steps, ...at },
    // CAST: only what decides steps is looked at, and this chain names its own.
    chain: { chainId, key: 'base', config: { blockTimeMs } as FindingChain['chain']['config'] },
    finalHeight: async () => BigInt(blocks.length - 1 - 30),
    async depositPass({ known, from, to }) {
      passes += 1
      if (to - from >= blocksInTime) {
        const cause = new AggregateError([new EndpointFailure({ alias: 'a', reason: 'busy' })])
        throw new UpstreamUnavailableError('there is no turn for so many requests', { cause })
      }
      const inRange = blocks.slice(Number(from), Number(to) + 1).flatMap(({ transactions }) => transactions)
      if (refusesAbove && inRange.includes(refusesAbove.transaction) && to - from >= refusesAbove.blocks)
        throw new NodeError({ code: -32_005, message: 'query returned more than 10000 results' })
      const transactions = inRange.filter((id) => !hidden.has(id))
      return { known: markAt(known), last: markAt(to), transactions, paidSwaps: [] }
    },
    async blockTransactions(height) {
      return { last: markAt(height), transactions: blocks[Number(height)]?.transactions ?? [] }
    },
    blockHashes: async (heights) =>
      new Map(heights.flatMap((height) => (markAt(height) ? [[height, markAt(height)?.hash ?? '']] : []))),
    async deposits(transactionId): Promise<InBlock<DepositFacts> | undefined> {
      asked.push(transactionId)
      const failure = failures.get(transactionId)
      if (failure !== undefined) throw failure
      const height = heightOf(transactionId)
      const block = blocks[height]
      if (block === undefined) return undefined
      const deposit = {
        onchainIndex: '0',
        depository: '0xd0',
        depositId: order.orderId ?? order.requestId,
        depositor: '0xaa',
        currency: '0x00',
        amount: 1n,
      }
      return {
        kind: 'deposits',
        transactionId,
        blockTimestampSeconds: 1_800_000_000n,
        deposits: empty.has(transactionId) ? [] : [deposit],
        evidence: {
          chainId: 'base',
          blockHash: block.hash,
          blockNumber: BigInt(height),
          finalityRule: 'any',
          agreeingEndpoints: [],
        },
      }
    },
  }
  return {
    chain,
    asked,
    hidden,
    failures,
    empty,
    passes: () => passes,
    refuse: (transaction: string, above: bigint) => {
      refusesAbove = { transaction, blocks: above }
    },
    /** Its endpoint has turns for so many blocks of one look. */
    limit: (count: number) => {
      blocksInTime = count
    },
    head: () => BigInt(blocks.length - 1),
    mine(...transactions: string[]) {
      blocks.push({ hash: `a${blocks.length}`, transactions })
    },
    grow(count: number) {
      for (let next = 0; next < count; next += 1) this.mine()
    },
    /** Other blocks from a height on, and as many as there were or fewer. */
    replaceFrom(height: bigint, branch: string, length: number) {
      blocks.length = Number(height)
      for (let next = 0; next < length; next += 1)
        blocks.push({ hash: `${branch}${blocks.length}`, transactions: [] })
    },
    put(height: bigint, transaction: string) {
      blocks[Number(height)]?.transactions.push(transaction)
    },
  }
}
