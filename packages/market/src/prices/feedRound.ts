import { type Hex, pow10 } from '@causeway/core'
import { decodeUint, wordAt, wordCount } from '../returnData.ts'
import { feedGraceMs } from './guards.ts'
import type { SourceFault, SourceValue } from './source.ts'

/** Answer of `latestRoundData()`; `answeredInRound` is deprecated and ignored. */
export type FeedRound = { readonly answer: bigint; readonly updatedAtSeconds: bigint }

/** A feed's own description (e.g. `ETH / USD`) and decimals, which are compared with the configuration. */
export type FeedIdentity = { readonly description: string; readonly decimals: number }

/**
 * Decodes the answer of `latestRoundData()`; undefined when the bytes are not five words.
 * @source AggregatorV3Interface: (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80)
 */
export function decodeRound(returnData: Hex): FeedRound | undefined {
  if (wordCount(returnData) !== 5) return undefined
  return { answer: BigInt.asIntN(256, wordAt(returnData, 1)), updatedAtSeconds: wordAt(returnData, 3) }
}

/** Undefined when the bytes are not one `uint8`. */
export function decodeDecimals(returnData: Hex): number | undefined {
  const value = decodeUint(returnData)
  return value === undefined || value > 255n ? undefined : Number(value)
}

/**
 * A feed's answer as a price. It counts until its heartbeat and a minute of grace are over. An answer with a later time
 * than that of the block it was read at is a fault, because no honest contract gives one.
 * @source docs/decisions/0007-price-guards.md
 */
export function feedValue(args: {
  readonly round: FeedRound
  readonly decimals: number
  readonly heartbeatSeconds: number
  readonly blockTimestampSeconds: number
}): SourceValue | { readonly fault: SourceFault } {
  const { round, decimals, heartbeatSeconds, blockTimestampSeconds } = args
  const usdX18 = decimals <= 18 ? round.answer * pow10(18 - decimals) : round.answer / pow10(decimals - 18)
  if (usdX18 <= 0n) return { fault: 'not_positive' }
  if (round.updatedAtSeconds <= 0n) return { fault: 'no_timestamp' }
  if (round.updatedAtSeconds > BigInt(blockTimestampSeconds)) return { fault: 'from_the_future' }
  const updatedAtMs = Number(round.updatedAtSeconds) * 1_000
  return { usdX18, updatedAtMs, freshUntilMs: updatedAtMs + heartbeatSeconds * 1_000 + feedGraceMs }
}
