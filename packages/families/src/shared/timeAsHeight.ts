import type { Evidence, InBlock } from '@causeway/core'
import type { ChainClient, RpcAnswer, RpcCall } from '@causeway/rpc'
import { reachedBy, unlessUnreadable, valuesByVoice } from '@causeway/rpc'
import type { BlockMark, SettlingChain } from './settlingChain.ts'

/** Milliseconds of an exchange's own time stand for heights, where nothing that it shows is ever replaced. */
export type TimeAsHeight = Pick<SettlingChain, 'head' | 'finalHeight' | 'finalSeconds' | 'blockHashes'> & {
  markAt(timeMs: bigint): BlockMark
  /** Facts with the place that their time is. */
  placed<Facts extends { readonly blockTimestampSeconds: bigint; readonly evidence: Evidence }>(
    facts: Facts,
  ): InBlock<Facts>
}

export function createTimeAsHeight(options: {
  readonly client: Pick<ChainClient, 'electorate' | 'poll'>
  /** Asks one endpoint for its time. */
  readonly call: RpcCall
  /** @throws MalformedAnswerError */
  readonly readMs: (answer: RpcAnswer | undefined) => bigint
  /** Stands for the hash of what no other block can replace; it is stored, so it stays what it is. */
  readonly hash: string
}): TimeAsHeight {
  const { client, call, readMs, hash } = options
  /** Time that enough endpoints have reached. @throws UpstreamUnavailableError */
  const head = (signal: AbortSignal) =>
    client.poll<bigint>([call], {
      signal,
      decide(votes, isLast) {
        const times = valuesByVoice(
          votes.map(({ value, ...voter }) => ({
            ...voter,
            value: value && unlessUnreadable(() => readMs(value[0])),
          })),
        )
        const reached = isLast ? reachedBy(client.electorate.threshold, times) : -1n
        return reached < 0n ? undefined : reached
      },
    })
  return {
    head,
    finalHeight: head,
    finalSeconds: async (signal) => Number((await head(signal)) / 1_000n),
    blockHashes: async (heights) => new Map(heights.map((height) => [height, hash])),
    markAt: (number) => ({ number, hash }),
    placed(facts) {
      const blockNumber = facts.blockTimestampSeconds * 1_000n
      return { ...facts, evidence: { ...facts.evidence, blockNumber, blockHash: hash } }
    },
  }
}
