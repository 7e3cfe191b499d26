import { encodeFunctionData } from 'viem'
import { priceFeedAbi } from '../contracts/abis.generated.ts'
import { type ChainDeployment, type FeedKey, forEachFeed } from '../contracts/deployment.ts'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'

/** A price that operators can move; every feed has one. */
export type PriceKey = FeedKey

export const priceKeys: readonly PriceKey[] = Object.values(forEachFeed((key) => key))

export type FeedRound = {
  readonly key: PriceKey
  /** USD with 8 decimals. */
  readonly answer: bigint
  readonly updatedAtUnixSeconds: bigint
}

/** The latest round of every feed of one chain. */
export async function readFeeds(
  chain: LocalChain,
  { feeds }: Pick<ChainDeployment, 'feeds'>,
): Promise<readonly FeedRound[]> {
  return Promise.all(
    priceKeys.map(async (key) => {
      const [, answer, , updatedAtUnixSeconds] = await chain.client.readContract({
        address: feeds[key],
        abi: priceFeedAbi,
        functionName: 'latestRoundData',
      })
      return { key, answer, updatedAtUnixSeconds }
    }),
  )
}

/** Feeds whose round is so old that it should be published again. */
export function staleFeeds(
  rounds: readonly FeedRound[],
  { nowUnixSeconds, refreshSeconds }: { readonly nowUnixSeconds: bigint; readonly refreshSeconds: number },
): readonly PriceKey[] {
  return rounds
    .filter(({ updatedAtUnixSeconds }) => nowUnixSeconds - updatedAtUnixSeconds >= BigInt(refreshSeconds))
    .map(({ key }) => key)
}

/** Publishes stale answers again, unchanged; sends nothing when all are fresh. @returns the keys that were published */
export async function refreshFeeds(
  chain: LocalChain,
  deployment: Pick<ChainDeployment, 'feeds'>,
  {
    keeper,
    refreshSeconds,
    now,
  }: { readonly keeper: LocalAccount; readonly refreshSeconds: number; readonly now: () => number },
): Promise<readonly PriceKey[]> {
  const [rounds, head] = await Promise.all([readFeeds(chain, deployment), chain.client.getBlock()])
  // The head is old right after a start, and ahead of the clock when somebody moved the chain's time.
  const clockUnixSeconds = BigInt(Math.floor(now() / 1_000))
  const nowUnixSeconds = head.timestamp > clockUnixSeconds ? head.timestamp : clockUnixSeconds
  const stale = staleFeeds(rounds, { nowUnixSeconds, refreshSeconds })
  const data = encodeFunctionData({ abi: priceFeedAbi, functionName: 'touch' })
  await chain.send(
    keeper,
    stale.map((key) => ({ what: `refresh of ${key}`, to: deployment.feeds[key], data })),
  )
  return stale
}
