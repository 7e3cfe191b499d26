import type { Hex } from '@causeway/core'
import type { PriceFeed } from '@causeway/core/config'
import { multicall, readHead } from '@causeway/families'
import type { JsonRpcClient } from '@causeway/rpc'
import { createFeedReader } from './feedReader.ts'
import { feedValue } from './feedRound.ts'

/** Age of a feed's last answer, for the report of an operator's check. */
export type FeedAge = {
  readonly address: Hex
  /** In seconds, by the clock of its chain; undefined where the feed gives no valid answer. */
  readonly ageSeconds: number | undefined
  /** True if the market would use the answer now. */
  readonly isFresh: boolean
}

/**
 * Reads the ages of feeds on one chain once, judged by the same rule as prices.
 * @throws UpstreamUnavailableError when the chain cannot be read
 */
export async function readFeedAges(
  client: JsonRpcClient,
  { multicall3, feeds }: { readonly multicall3: Hex; readonly feeds: readonly PriceFeed[] },
): Promise<readonly FeedAge[]> {
  const { number, timestampSeconds } = await readHead(client)
  const { calls, read } = createFeedReader(feeds)()
  const readings = read(await multicall(client, { multicall3, calls, block: { number } }))
  return feeds.map(({ address, decimals, heartbeatSeconds }) => {
    const round = readings.get(address)?.round
    if (round === undefined) return { address, ageSeconds: undefined, isFresh: false }
    const value = feedValue({ round, decimals, heartbeatSeconds, blockTimestampSeconds: timestampSeconds })
    if ('fault' in value) return { address, ageSeconds: undefined, isFresh: false }
    return {
      address,
      ageSeconds: timestampSeconds - value.updatedAtMs / 1_000,
      isFresh: value.freshUntilMs >= timestampSeconds * 1_000,
    }
  })
}
