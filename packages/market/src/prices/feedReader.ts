import type { Hex } from '@causeway/core'
import type { ContractAnswer, ContractCall } from '@causeway/families'
import { contractInterface } from '@causeway/families/rules'
import { decodeText } from '../returnData.ts'
import { decodeDecimals, decodeRound, type FeedIdentity, type FeedRound } from './feedRound.ts'
import type { FeedPlan } from './pricePlan.ts'

/** Encodes the calls only; `returnData.ts` decodes the answers. @source Chainlink, AggregatorV3Interface */
const aggregator = contractInterface([
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
  'function description() view returns (string)',
  'function decimals() view returns (uint8)',
])

/** The call for a feed's last round. Uptime feeds of sequencers answer it as well. */
export const latestRoundCall = (target: Hex): ContractCall => callOf(target, 'latestRoundData')

const callOf = (target: Hex, name: 'latestRoundData' | 'description' | 'decimals'): ContractCall => ({
  target,
  callData: aggregator.encode(name, []),
})

/** Answer of one feed. */
export type FeedReading = {
  /** Undefined where the feed did not answer. */
  readonly round: FeedRound | undefined
  /** Undefined until the feed has described itself. */
  readonly identity: FeedIdentity | undefined
}

/** Begins a reading of one chain's feeds. It asks for a feed's identity in each reading until it was answered once. */
export type FeedReader = () => {
  /** Calls for one multicall; its answers go to `read`, in order. */
  readonly calls: readonly ContractCall[]
  /** By feed address. */
  readonly read: (answers: readonly ContractAnswer[]) => ReadonlyMap<Hex, FeedReading>
}

export function createFeedReader(feeds: readonly FeedPlan[]): FeedReader {
  const identities = new Map<FeedPlan, FeedIdentity>()
  return () => {
    const unidentified = feeds.filter((feed) => !identities.has(feed))
    return {
      calls: [
        ...feeds.map(({ address }) => latestRoundCall(address)),
        ...unidentified.flatMap(({ address }) => [
          callOf(address, 'description'),
          callOf(address, 'decimals'),
        ]),
      ],
      read(answers) {
        // After the rounds come two answers for each feed that was unidentified when the reading began.
        const identityAnswers = answers.slice(feeds.length)
        for (const [index, feed] of unidentified.entries()) {
          const identity = readIdentity(identityAnswers[2 * index], identityAnswers[2 * index + 1])
          if (identity !== undefined) identities.set(feed, identity)
        }
        return new Map(
          feeds.map((feed, index) => [
            feed.address,
            { round: decodeAnswer(answers[index], decodeRound), identity: identities.get(feed) },
          ]),
        )
      },
    }
  }
}

function readIdentity(
  descriptionAnswer: ContractAnswer | undefined,
  decimalsAnswer: ContractAnswer | undefined,
): FeedIdentity | undefined {
  const description = decodeAnswer(descriptionAnswer, decodeText)
  const decimals = decodeAnswer(decimalsAnswer, decodeDecimals)
  return description === undefined || decimals === undefined ? undefined : { description, decimals }
}

function decodeAnswer<T>(
  answer: ContractAnswer | undefined,
  decode: (returnData: ContractAnswer['returnData']) => T | undefined,
): T | undefined {
  return answer?.success === true ? decode(answer.returnData) : undefined
}
