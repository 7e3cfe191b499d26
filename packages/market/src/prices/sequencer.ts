import type { Hex } from '@causeway/core'
import type { ContractAnswer, ContractCall } from '@causeway/families'
import { wordAt, wordCount } from '../returnData.ts'
import { latestRoundCall } from './feedReader.ts'
import type { SourceFault } from './source.ts'

/** Status of a rollup's sequencer by its uptime feed: whether it is up, and since when. */
export type SequencerStatus = { readonly isUp: boolean; readonly sinceSeconds: bigint }

/** Feeds count again this long after the sequencer came back, because their updates must land first. */
const sequencerGraceSeconds = 3_600

/** Reads the uptime feed of one rollup's sequencer. */
export type SequencerReader = {
  /** For one multicall; none where the chain names no uptime feed, or no feed is read there. */
  readonly calls: readonly ContractCall[]
  /** Undefined without a status that can be read. */
  read(answers: readonly ContractAnswer[]): SequencerStatus | undefined
}

export function createSequencerReader(feed: Hex | undefined): SequencerReader {
  return {
    calls: feed === undefined ? [] : [latestRoundCall(feed)],
    read: ([answer]) => (answer?.success === true ? decodeSequencerStatus(answer.returnData) : undefined),
  }
}

/**
 * Undefined when the bytes are not five words, and before the feed's first round.
 * @source Chainlink, L2 Sequencer Uptime Feeds: `answer` is 0 while it is up, `startedAt` the time of the last change
 */
function decodeSequencerStatus(returnData: Hex): SequencerStatus | undefined {
  if (wordCount(returnData) !== 5) return undefined
  const sinceSeconds = wordAt(returnData, 2)
  return sinceSeconds === 0n ? undefined : { isUp: wordAt(returnData, 1) === 0n, sinceSeconds }
}

/**
 * The fault of all feeds of the chain; undefined while they count.
 * @param blockTimestampSeconds of the block that was read
 */
export function sequencerFault(
  status: SequencerStatus | undefined,
  blockTimestampSeconds: number,
): SourceFault | undefined {
  if (status === undefined) return 'sequencer_unknown'
  if (!status.isUp) return 'sequencer_down'
  const upForSeconds = BigInt(blockTimestampSeconds) - status.sinceSeconds
  return upForSeconds < BigInt(sequencerGraceSeconds) ? 'sequencer_recovering' : undefined
}
