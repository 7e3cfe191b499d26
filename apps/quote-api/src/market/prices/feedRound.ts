import { type Hex, pow10 } from '@causeway/core'
import { feedGraceMs } from './guards.ts'
import type { SourceFault, SourceValue } from './source.ts'

/** Answer of `latestRoundData()`; `answeredInRound` is deprecated and ignored. */
export type FeedRound = { readonly answer: bigint; readonly updatedAtSeconds: bigint }

/** What a feed says about itself. */
export type FeedIdentity = { readonly description: string; readonly decimals: number }

const wordDigits = 64

/**
 * Undefined when the bytes are not five words.
 * @source AggregatorV3Interface: (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80)
 */
export function decodeRound(returnData: Hex): FeedRound | undefined {
  if (returnData.length !== 2 + 5 * wordDigits) return undefined
  return { answer: BigInt.asIntN(256, word(returnData, 1)), updatedAtSeconds: word(returnData, 3) }
}

/** Undefined when the bytes are not one `uint8`. */
export function decodeDecimals(returnData: Hex): number | undefined {
  if (returnData.length !== 2 + wordDigits) return undefined
  const value = word(returnData, 0)
  return value < 256n ? Number(value) : undefined
}

/** Undefined when the bytes are not one ABI string of at most 256 bytes. */
export function decodeText(returnData: Hex): string | undefined {
  if (returnData.length < 2 + 2 * wordDigits || word(returnData, 0) !== 32n) return undefined
  const length = word(returnData, 1)
  if (length > 256n) return undefined
  const digits = returnData.slice(2 + 2 * wordDigits, 2 + 2 * wordDigits + 2 * Number(length))
  return digits.length === 2 * Number(length) ? Buffer.from(digits, 'hex').toString('utf8') : undefined
}

function word(data: Hex, index: number): bigint {
  const start = 2 + index * wordDigits
  return BigInt(`0x${data.slice(start, start + wordDigits)}`)
}

/**
 * A feed's answer as a price. It counts until its heartbeat and a minute are over; an answer from
 * after the block it was read at is a fault, because no honest contract gives one.
 * @source pricing-engine.md 2.2
 */
export function feedValue(args: {
  readonly round: FeedRound
  readonly decimals: number
  readonly heartbeatSeconds: number
  readonly blockTimestampSeconds: number
}): SourceValue | { readonly fault: SourceFault } {
  const { round, decimals, heartbeatSeconds, blockTimestampSeconds } = args
  if (round.answer <= 0n) return { fault: 'not_positive' }
  if (round.updatedAtSeconds <= 0n) return { fault: 'no_timestamp' }
  if (round.updatedAtSeconds > BigInt(blockTimestampSeconds)) return { fault: 'from_the_future' }
  const updatedAtMs = Number(round.updatedAtSeconds) * 1_000
  const usdX18 = decimals <= 18 ? round.answer * pow10(18 - decimals) : round.answer / pow10(decimals - 18)
  if (usdX18 === 0n) return { fault: 'not_positive' }
  return { usdX18, updatedAtMs, freshUntilMs: updatedAtMs + heartbeatSeconds * 1_000 + feedGraceMs }
}
