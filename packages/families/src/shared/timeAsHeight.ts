import type { Evidence, InBlock } from '@causeway/core'
import type { ChainClient, RpcAnswer, RpcCall } from '@causeway/rpc'
import { reachedBy, unlessUnreadable, valuesByVoice } from '@causeway/rpc'
import type { BlockRef, SettlingChain } from './settlingChain.ts'

/**
 * A `SettlingChain`'s heights on an exchange without blocks: its own time in milliseconds takes their place. That works
 * because an exchange never reorganises.
 */
export type TimeAsHeight = Pick<SettlingChain, 'head' | 'finalHeight' | 'finalSeconds' | 'blockHashes'> & {
  blockRefAt(timeMs: bigint): BlockRef
  /** Facts whose evidence names the time as the block. */
  withTimeAsBlock<Facts extends { readonly blockTimestampSeconds: bigint; readonly evidence: Evidence }>(
    facts: Facts,
  ): InBlock<Facts>
}

export function createTimeAsHeight(options: {
  readonly client: Pick<ChainClient, 'electorate' | 'poll'>
  /** Call that returns an endpoint's time. */
  readonly call: RpcCall
  /** @throws MalformedAnswerError */
  readonly readMs: (answer: RpcAnswer | undefined) => bigint
  /** Constant in place of a block hash. It is stored in databases, so it must never change. */
  readonly hash: string
}): TimeAsHeight {
  const { client, call, readMs, hash } = options
  /** Time that enough endpoints have reached. @throws UpstreamUnavailableError */
  const head = (signal: AbortSignal) =>
    client.poll<bigint>([call], {
      signal,
      decide(votes, isLast) {
        // Waits for all endpoints, so that those that lag do not decide. If too few answer, the time is -1.
        if (!isLast) return undefined
        const times = valuesByVoice(
          votes.map(({ value, ...voter }) => ({
            ...voter,
            value: value && unlessUnreadable(() => readMs(value[0])),
          })),
        )
        const reachedMs = reachedBy(client.electorate.threshold, times)
        return reachedMs < 0n ? undefined : reachedMs
      },
    })
  return {
    head,
    finalHeight: head,
    finalSeconds: async (signal) => Number((await head(signal)) / 1_000n),
    blockHashes: async (heights) => new Map(heights.map((height) => [height, hash])),
    blockRefAt: (number) => ({ number, hash }),
    withTimeAsBlock(facts) {
      const blockNumber = facts.blockTimestampSeconds * 1_000n
      return { ...facts, evidence: { ...facts.evidence, blockNumber, blockHash: hash } }
    },
  }
}
