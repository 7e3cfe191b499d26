import type { Hex } from '@causeway/core'
import type { ContractAnswer, ContractCall } from '@causeway/families'
import { contractInterface } from '@causeway/families/rules'
import { decodeText } from '../returnData.ts'
import { decodeDecimals, decodeRound, type FeedIdentity, type FeedRound } from './feedRound.ts'
import type { FeedPlan } from './pricePlan.ts'

/** Its answers are read by whole words, see `returnData.ts`. @source Chainlink, AggregatorV3Interface */
const aggregator = contractInterface([
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
  'function description() view returns (string)',
  'function decimals() view returns (uint8)',
])

/** Uptime feeds of sequencers answer it as well. */
export const latestRoundCall = (target: Hex): ContractCall => callOf(target, 'latestRoundData')

const callOf = (target: Hex, name: 'latestRoundData' | 'description' | 'decimals'): ContractCall => ({
  target,
  callData: aggregator.encode(name, []),
})

/** Answer of one feed: nothing, or a round with the feed's description of itself. */
export type FeedReading = {
  readonly round: FeedRound | undefined
  readonly identity: FeedIdentity | undefined
}

/** Reads feeds; what a feed says about itself is asked until it was answered once. */
export type FeedReader = {
  /** Calls for one multicall; its answers go to `read`, in order. */
  calls(): readonly ContractCall[]
  /** By feed address. */
  read(answers: readonly ContractAnswer[]): ReadonlyMap<Hex, FeedReading>
}

/** @source pricing-engine.md 2.2 */
export function createFeedReader(feeds: readonly FeedPlan[]): FeedReader {
  const identities = new Map<FeedPlan, FeedIdentity>()
  const unknown = () => feeds.filter((feed) => !identities.has(feed))
  return {
    calls: () => [
      ...feeds.map(({ address }) => latestRoundCall(address)),
      ...unknown().flatMap(({ address }) => [callOf(address, 'description'), callOf(address, 'decimals')]),
    ],
    read(answers) {
      const about = answers.slice(feeds.length)
      for (const [index, feed] of unknown().entries()) {
        const identity = readIdentity(about[2 * index], about[2 * index + 1])
        if (identity !== undefined) identities.set(feed, identity)
      }
      return new Map(
        feeds.map((feed, index) => [
          feed.address,
          { round: returned(answers[index], decodeRound), identity: identities.get(feed) },
        ]),
      )
    },
  }
}

function readIdentity(
  descriptionAnswer: ContractAnswer | undefined,
  decimalsAnswer: ContractAnswer | undefined,
): FeedIdentity | undefined {
  const description = returned(descriptionAnswer, decodeText)
  const decimals = returned(decimalsAnswer, decodeDecimals)
  return description === undefined || decimals === undefined ? undefined : { description, decimals }
}

function returned<T>(
  answer: ContractAnswer | undefined,
  decode: (returnData: ContractAnswer['returnData']) => T | undefined,
): T | undefined {
  return answer?.success === true ? decode(answer.returnData) : undefined
}
